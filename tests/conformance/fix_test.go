package conformance_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/fix"
)

// fixSuites are the poll loops of AWS's samples, by each strategy. A case passes if
// the loop is replaced: the package makes sure that the result is valid, that lint
// finds nothing in it, and that every status of the job leads where it should. The
// cases of the strategy loop are those that JSONPath can say.
var fixSuites = []suite{
	{name: "fix", folder: "aws-samples", cases: 50, run: runFix(compile.Variables), differences: untriedLoops()},
	{name: "fix-retry-task", folder: "aws-samples", cases: 50, run: runFix(compile.RetryTask), differences: untriedLoops()},
	{name: "fix-loop", folder: "aws-samples", cases: 29, run: runFix(compile.Loop), differences: refusedLoops()},
}

// brokenLoops are loops that stay, with the reason.
var brokenLoops = map[string]string{
	collection + "tts-converter/template.yaml#TTSStateMachine GetSpeechSynthesisTask": "the Choice reads a path that the answer does not have",
	collection + "tts-converter/statemachine/statemachine.asl.json GetSpeechSynthesisTask": "the loop looks at a member that the answer " +
		"does not have, so it waits for nothing that is known",
	examples + "demo-fis-stepfunctions/stepfunction/fis.ecs.asl.json GetExperiment": `nothing leads to "Fail" any more: the old loop ` +
		"leads no failure of fis:StartExperiment there, and polls on with stopped, failed, cancelled: repair the loop first, without --replace",
	examples + "app-s3-athena-dataprocessing/statemachines/execute_athena_query.asl.json get_athena_execution_status": untried,
}

// ownLoops are loops on a function or a table of the machine's own that stay, with the reason.
var ownLoops = map[string]string{
	examples + "app-order-management/statemachines/ship-order.asl.json Reserve Product":       ownAnswer,
	collection + "human-task-reminder/statemachine/statemachine.asl.yaml DDB Get Task Status": dropsData,
	collection + "idempotent-workflow-sam/statemachine/statemachine.asl.json " + recordTask:   recordBesides,
	collection + "idempotent-workflow/statemachine/statemachine.asl.json " + recordTask:       recordBesides,
	collection + "vod-transcode-delivery-cdk/typescript/statemachine/transcoding-statemachine.asl.json.asl.json " +
		"Get MediaConvert Transcode Status": ownAnswer,
}

const (
	recordTask    = "Get idempotency record from DynamoDB"
	ownAnswer     = "the Task polls with its own last answer"
	dropsData     = "a Pass in the loop drops data that it does not list"
	recordBesides = "a second member of the record decides where a success leads"
)

// untried is of a loop that no trial run gets to, because a state before it fails: its
// States.Format needs a value of its template.
const untried = "no run gets to the loop, so nothing shows that a new one is right"

// untriedLoops are the broken ones, and two that the strategy loop cannot say. One of them reads
// where its transcript is also of a job that failed.
func untriedLoops() map[string]string {
	all := refusedLoops()
	all[collection+"distributed-data-stream-aggregator/statemachine/statemachine.asl.json Has Job Finish"] = untried
	all[examples+"app-meeting-summarization/statemachines/transcribe_file.asl.yaml Get Transcription Job"] = `nothing leads to ` +
		`"Transcription Failed" any more, as the old loop got there in no trial: repair the loop first, without --replace`
	return all
}

// refusedLoops are the broken ones and those on something of the machine's own.
func refusedLoops() map[string]string {
	all := maps.Clone(brokenLoops)
	maps.Copy(all, ownLoops)
	return all
}

func runFix(strategy compile.Strategy) func(t *testing.T, folder string) result {
	return func(t *testing.T, folder string) result {
		t.Helper()
		return fixSamples(t, folder, strategy)
	}
}

func fixSamples(t *testing.T, folder string, strategy compile.Strategy) result {
	t.Helper()
	out := result{failures: map[string]string{}}
	eachSample(t, folder, func(name string, definition []byte) {
		if _, err := asl.Parse(definition); err != nil {
			return
		}
		text, loops, err := fix.Apply(t.Context(), definition, fix.Options{Strategy: strategy, Models: models.Load})
		require.NoError(t, err, name)
		for _, l := range loops {
			if strategy == compile.Loop && (strings.Contains(l.Refused, "is in JSONata") || strings.Contains(l.Refused, "JSONPath can read only single members")) {
				continue
			}
			out.total++
			if l.Refused != "" {
				out.failures[fmt.Sprintf("%s %s", name, l.Poll)] = l.Refused
			}
		}
		_, err = asl.Parse(text)
		require.NoError(t, err, name)
	})
	return out
}
