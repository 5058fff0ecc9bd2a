package clients_test

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/source"
)

// A machine that the CDK has synthesized is served from cdk.out, and by
// CreateStateMachine with the definition of its template.
func TestCDKMachine(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	out, err := exec.CommandContext(t.Context(), "make", "-C", "../..", "synth", "CDK_OUT="+folder, "CONTEXT=-c jobs=dynamodb-export-variables").CombinedOutput()
	require.NoError(t, err, "%s", out)
	s := startServe(t, "--watch", folder, "--simulate", "12m", "--time", "virtual")
	c := &sdk{Client: newClient(t, s.endpoint)}
	require.Eventually(t, func() bool {
		machines, err := c.ListStateMachines(t.Context(), &sfn.ListStateMachinesInput{})
		require.NoError(t, err)
		for _, m := range machines.StateMachines {
			c.machine = *m.StateMachineArn
		}
		return c.machine != ""
	}, patience, 10*time.Millisecond, "the machine of the template is not loaded")
	const input = `{"TableArn": "arn:aws:dynamodb:us-east-1:123456789012:table/Orders", "S3Bucket": "exports"}`
	require.Equal(t, types.ExecutionStatusSucceeded, c.end(t, c.start(t, input)).Status)

	definitions, err := source.Load(t.Context(), []string{folder}, source.Options{})
	require.NoError(t, err)
	require.Len(t, definitions, 1)
	text := strings.ReplaceAll(string(definitions[0].Text), "${AWS::Partition}", "aws")
	created, err := c.CreateStateMachine(t.Context(), &sfn.CreateStateMachineInput{Name: aws.String("export"), Definition: &text, RoleArn: aws.String(role)})
	require.NoError(t, err)
	c.machine = *created.StateMachineArn
	ended := c.end(t, c.start(t, input))
	require.Equal(t, types.ExecutionStatusSucceeded, ended.Status)
	require.GreaterOrEqual(t, ended.StopDate.Sub(*ended.StartDate).Minutes(), 12.0, "the job's time is in the history")
	say("suite clients: the CDK's machine runs from cdk.out and by CreateStateMachine")
}
