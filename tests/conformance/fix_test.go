package conformance_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/fix"
)

// fixSuites are the poll loops of AWS's samples. A case passes if the loop is
// replaced: the package makes sure that the result is valid, that lint finds nothing
// in it, and that every status of the job leads where it should.
var fixSuites = []suite{{name: "fix", folder: "aws-samples", cases: 41, run: runFix, differences: fixDifferences}}

// fixDifferences are loops that stay, with the reason.
var fixDifferences = map[string]string{
	"aws-stepfunctions-examples/sam/demo-video-transcription/template.yml#StateMachineProcessVideoFile CheckIfTranscriptionDone": "the Wait has an OutputPath, " +
		"which the first turn and the others apply to different data",
	"step-functions-workflows-collection/distributed-data-stream-aggregator/statemachine/statemachine.asl.json Has Job Finish": "the Choice has an Output, " +
		"which makes the input of the next turn",
	"step-functions-workflows-collection/tts-converter/template.yaml#TTSStateMachine GetSpeechSynthesisTask": "the Choice reads a path that the answer does not have",
	"step-functions-workflows-collection/tts-converter/statemachine/statemachine.asl.json GetSpeechSynthesisTask": "the loop looks at a member that the answer " +
		"does not have, so it waits for nothing that is known",
}

func runFix(t *testing.T, folder string) result {
	t.Helper()
	out := result{failures: map[string]string{}}
	eachSample(t, folder, func(name string, definition []byte) {
		if _, err := asl.Parse(definition); err != nil {
			return
		}
		text, loops, err := fix.Apply(t.Context(), definition, fix.Options{Models: models.Load})
		require.NoError(t, err, name)
		for _, l := range loops {
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
