package show

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/cli/clitest"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
)

// A job that ends is seen in the same way by wait and, from wait's output, by
// check.
func TestCheckAgreesWithWait(t *testing.T) {
	t.Parallel()
	for _, status := range []string{"CREATING", "ACTIVE", "DELETING", "FAILED", "UPDATING", "PENDING", "SOMETHING_NEW"} {
		t.Run(status, func(t *testing.T) {
			t.Parallel()
			var stdout, stderr bytes.Buffer
			code := runCommand(t.Context(), clitest.ClusterWait(t, `200 {"cluster": {"status": "`+status+`"}}`, "--max-attempts", "1", "-o", "json"), &stdout, &stderr)
			var waited struct {
				Output   any    `json:"output"`
				Reason   string `json:"reason"`
				Acceptor int    `json:"acceptor"`
				Seen     any    `json:"seen"`
			}
			require.NoError(t, json.Unmarshal(stdout.Bytes(), &waited), "%s", &stderr)

			output, err := json.Marshal(waited.Output)
			require.NoError(t, err)
			file := clitest.WriteFile(t, "value.json", string(output))
			stdout.Reset()
			require.Equal(t, code, runCommand(t.Context(), []string{"check", "eks", "ClusterActive", "--response", file, "-o", "json"}, &stdout, &stderr))
			var judgement struct {
				Reason   string `json:"reason"`
				Acceptor int    `json:"acceptor"`
				Seen     any    `json:"seen"`
			}
			require.NoError(t, json.Unmarshal(stdout.Bytes(), &judgement))
			require.Equal(t, waited.Reason, judgement.Reason)
			require.Equal(t, waited.Acceptor, judgement.Acceptor)
			require.Equal(t, waited.Seen, judgement.Seen)
		})
	}
}

// A job that has failed says why, in the words of the service.
func TestFailedCheckSaysWhy(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	answer := clitest.WriteFile(t, "value.json", `{"Stacks": [{"StackStatus": "ROLLBACK_COMPLETE", "StackStatusReason": "bad role"}]}`)
	require.Equal(t, kit.ExitFailed, runCommand(t.Context(), []string{"check", "cloudformation", "StackCreateComplete", "--response", answer}, &stdout, &stderr))
	require.Equal(t, `failure: any of Stacks[].StackStatus == "ROLLBACK_COMPLETE" (acceptor 14 of 15): bad role`+"\n", stdout.String())
}
