//go:build e2e

package cli

import (
	"bufio"
	"encoding/json"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type sampleJobResult struct {
	WorkedSeconds int `json:"workedSeconds"`
}

// A run that is killed leaves its start record and its sample job: the same command
// goes on with both.
func TestE2ESameCommandGoesOnAfterAKill(t *testing.T) {
	t.Parallel()
	for _, flags := range [][]string{nil, {"--processes"}} {
		t.Run(strings.Join(flags, ""), func(t *testing.T) {
			t.Parallel()
			args := append([]string{"--data", t.TempDir(), "--name", "nightly", "--job-seconds", "5", "-o", "jsonl"}, flags...)
			first := startRun(t, args...)
			lines := bufio.NewScanner(first.stdout)
			for lines.Scan() {
				if strings.Contains(lines.Text(), `"CheckStatus"`) {
					break
				}
			}
			require.NoError(t, lines.Err())
			require.NoError(t, syscall.Kill(first.pid, syscall.SIGKILL))
			require.Error(t, first.process.Wait())

			args[7] = "json"
			began := time.Now()
			second := startRun(t, args...)
			result := second.wait(t)
			require.Equal(t, "SUCCEEDED", result.Status, second.stderr.String())
			require.Contains(t, second.stderr.String(), "continues the execution with its start record")
			var output struct {
				Output struct {
					Result sampleJobResult `json:"Result"`
				} `json:"output"`
				StartedAt      time.Time `json:"startedAt"`
				ElapsedSeconds int       `json:"elapsedSeconds"`
			}
			require.NoError(t, json.Unmarshal(result.Output, &output))
			require.Equal(t, 5, output.Output.Result.WorkedSeconds)
			require.True(t, output.StartedAt.Before(began), "the record's start time")
			require.GreaterOrEqual(t, output.ElapsedSeconds, 5, "since the first run")
		})
	}
}
