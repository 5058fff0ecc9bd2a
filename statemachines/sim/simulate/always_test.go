package simulate_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
)

// Members that a service always sends are in its answers, also in bare ones and where the machine reads none.
// A machine that passed on the id of a command ended with an error of Step Functions.
func TestAnswersHaveWhatIsAlwaysSent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		resource, arguments, member string
		want                        any
	}{
		{"sqs:sendMessage", `{"QueueUrl": "q", "MessageBody": "b"}`, "MessageId", "MessageId"},
		{"sns:publish", `{"TopicArn": "t", "Message": "m"}`, "MessageId", "MessageId"},
		{"eventbridge:putEvents", `{"Entries": [{}]}`, "FailedEntryCount", 0},
		{"ssm:sendCommand", `{"DocumentName": "d", "InstanceIds": ["i-1", "i-2"]}`, "Command.InstanceIds", []any{"i-1", "i-2"}},
		{"ssm:sendCommand", `{"DocumentName": "d", "InstanceIds": ["i-1"]}`, "Command.CommandId", "CommandId000000000000000000000000000"},
		{"ssm:getCommandInvocation", `{"CommandId": "c", "InstanceId": "i-1"}`, "InstanceId", "i-1"},
		{"transcribe:getTranscriptionJob", `{"TranscriptionJobName": "n"}`, "TranscriptionJob.Transcript.TranscriptFileUri", "TranscriptFileUri"},
	} {
		for _, reads := range []bool{true, false} {
			t.Run(fmt.Sprint(c.resource, c.member, reads), func(t *testing.T) {
				t.Parallel()
				selector := ""
				if reads {
					selector = fmt.Sprintf(`, "ResultSelector": {"x.$": "$.%s"}`, c.member)
				}
				m, err := asl.Parse(fmt.Appendf(nil, `{"StartAt": "A", "States": {"A": {"Type": "Task",
					"Resource": "arn:aws:states:::aws-sdk:%s", "Parameters": %s%s, "End": true}}}`, c.resource, c.arguments, selector))
				require.NoError(t, err)
				r := simulated(t, m, nil, simulate.Options{Models: models.Load, Specs: []simulate.Spec{{Spread: mock.Exactly(time.Minute), Bare: reads}}})
				require.Equal(t, sim.StatusSucceeded, r.Status, "%s: %s", r.Error, r.Cause)
				var output any
				require.NoError(t, json.Unmarshal([]byte(asText(t, r.Output)), &output))
				if reads {
					output = output.(map[string]any)["x"]
				} else {
					output = at(output, c.member)
				}
				require.EqualValues(t, c.want, output)
			})
		}
	}
}

// asText is a value as JSON.
func asText(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	return string(text)
}
