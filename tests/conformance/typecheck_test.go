package conformance_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// typecheckSuites are definitions that AWS ran or publishes. A case passes if the
// types find nothing in it.
var typecheckSuites = []suite{
	{name: "typecheck-recordings", folder: "asl-recordings/execution", cases: 724, run: runRecordedTypes, differences: map[string]string{
		"scenarios.base_scenarios--invalid_jsonpath--INVALID_JSONPATH_IN_ERRORPATH unknown-member /States/fail/ErrorPath $ has no member \"ErrorX\"": "true: the recorded execution failed for it",
	}},
	{name: "typecheck-samples", folder: "aws-samples", cases: 168, run: runSampleTypes, differences: sampleMistakes},
}

// sampleMistakes are the findings in AWS's samples, each judged by hand. All are true.
var sampleMistakes = map[string]string{
	`aws-stepfunctions-examples/sam/demo-fis-stepfunctions/stepfunction/fis.ecs.asl.json unreachable-rule /States/Choice/Choices/1 rule 1 takes every value that rule 2 is for: it never applies; put rule 2 before rule 1, or remove it`:                             `true: "not completed" waits, also after "failed"`,
	`step-functions-workflows-collection/distributed-data-stream-aggregator/statemachine/data-extraction-child.asl.json unknown-member /States/Iterate states/ItemProcessor/States/Data count/Choices/0/Condition DescribeExecutionOutput has no member "csvContent"`: `true: the result is that of DescribeExecution, and what the child gives is in its Output`,
	`step-functions-workflows-collection/distributed-data-stream-aggregator/statemachine/data-extraction-child.asl.json unknown-member /States/Iterate states/ItemProcessor/States/Get Data/Assign/offset DescribeExecutionOutput has no member "offset"`:             `true: the result is that of DescribeExecution, and what the child gives is in its Output`,
	`step-functions-workflows-collection/distributed-data-stream-aggregator/statemachine/data-extraction-child.asl.json unknown-member /States/Iterate states/ItemProcessor/States/Get Data/Assign/resultCount DescribeExecutionOutput has no member "resultCount"`:   `true: the result is that of DescribeExecution, and what the child gives is in its Output`,
	`step-functions-workflows-collection/sfn-cfn-stacksets-workflow-cdk/statemachine/statemachine.asl.json unknown-member /States/CreateStackSetFailed/CausePath $ (StackSetOperation) has no member "cause"`:                                                         `true: the state is entered with an operation of a stack set, which has neither`,
	`step-functions-workflows-collection/sfn-cfn-stacksets-workflow-cdk/statemachine/statemachine.asl.json unknown-member /States/CreateStackSetFailed/ErrorPath $ (StackSetOperation) has no member "error"`:                                                         `true: the state is entered with an operation of a stack set, which has neither`,
	`step-functions-workflows-collection/tts-converter/statemachine/statemachine.asl.json unknown-member /States/SpeechSynthesisTaskStatus/Choices/0/Variable $ (GetSpeechSynthesisTaskOutput) has no member "TaskStatus"`:                                            `true: the status is in SynthesisTask`,
	`step-functions-workflows-collection/tts-converter/template.yaml#TTSStateMachine unknown-member /States/SpeechSynthesisTaskStatus/Choices/0/Variable $ (GetSpeechSynthesisTaskOutput) has no member "TaskStatus"`:                                                 `true: the status is in SynthesisTask`,
	`step-functions-workflows-collection/tts-converter/statemachine/statemachine.asl.json unknown-member /States/SpeechSynthesisTaskStatus/Choices/1/Variable $ (GetSpeechSynthesisTaskOutput) has no member "TaskStatus"`:                                            `true: the status is in SynthesisTask`,
	`step-functions-workflows-collection/tts-converter/template.yaml#TTSStateMachine unknown-member /States/SpeechSynthesisTaskStatus/Choices/1/Variable $ (GetSpeechSynthesisTaskOutput) has no member "TaskStatus"`:                                                 `true: the status is in SynthesisTask`,
}

// typeFindings are what the types find in a definition; none if AWS would refuse it.
func typeFindings(t *testing.T, definition []byte) (lines []string, read bool) {
	t.Helper()
	m, err := asl.Parse(definition)
	if err != nil {
		return nil, false
	}
	c, err := typecheck.New(m, typecheck.Options{Models: models.Load})
	require.NoError(t, err)
	for _, f := range c.Findings() {
		lines = append(lines, fmt.Sprintf("%s %s %s", f.Rule, f.Pointer, f.Message))
	}
	return lines, true
}

func runRecordedTypes(t *testing.T, folder string) result {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	require.NoError(t, err)
	out := result{failures: map[string]string{}}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var r recording
		require.NoError(t, json.Unmarshal(text, &r), file)
		out.total++
		lines, _ := typeFindings(t, r.Definition)
		for _, line := range lines {
			out.failures[r.Name+" "+line] = "found"
		}
	}
	return out
}

func runSampleTypes(t *testing.T, folder string) result {
	t.Helper()
	out := result{failures: map[string]string{}}
	for _, definitions := range sampleDefinitions(t, folder) {
		for _, d := range definitions {
			if d.Text == nil || d.Template != "" {
				continue // the file has it by itself
			}
			lines, read := typeFindings(t, d.Text)
			if read {
				out.total++
			}
			for _, line := range lines {
				out.failures[d.Name+" "+line] = "found"
			}
		}
	}
	return out
}
