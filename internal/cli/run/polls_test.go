package run

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

// longLoop polls 2,777 times, for its loop does not end for CANCELLED.
var longLoop = []string{
	"run", "../../../docs/example/athena/loop.asl.json", "--simulate", "12m", "--ends", "CANCELLED", "--virtual",
	"--input", "../../../docs/example/athena/input.json",
}

// A poll in virtual time is cheap: it once took 265 allocations, and progress that nobody
// saw took a quarter of the time.
func TestPollsInVirtualTimeAreCheap(t *testing.T) { //nolint:paralleltest // it counts the allocations of the process
	const polls, most = 2777, 115
	var stdout bytes.Buffer
	allocations := testing.AllocsPerRun(1, func() {
		stdout.Reset()
		runCommand(t.Context(), longLoop, &stdout, io.Discard)
	})
	require.Contains(t, stdout.String(), "CANCELLED at 12m")
	require.LessOrEqual(t, allocations/polls, float64(most), "allocations a poll")
}
