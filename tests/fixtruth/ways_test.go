package fixtruth_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/tests/fixtruth"
)

// Two loops in sequence have ways of their own: with a status that no rule names, the second polls on, whether the
// first fails or succeeds.
func TestWaysAreOfOneLoop(t *testing.T) {
	t.Parallel()
	tried := map[string]bool{}
	for s := uint64(0); len(tried) < 2; s++ {
		require.Less(t, s, uint64(20_000))
		d := fixtruth.Draw(s)
		for choices, first := range map[string]fixtruth.Way{"Default fails": fixtruth.Fails, "Default succeeds": fixtruth.Succeeds} {
			if !has(d.Forms, "a loop behind the loop,"+choices) || len(d.Faults) > 0 || tried[choices] {
				continue
			}
			tried[choices] = true
			for task, want := range map[string]fixtruth.Way{"Look": first, "Look at second": fixtruth.PollsOn} {
				ways, err := d.Ways(t.Context(), task)
				require.NoError(t, err)
				require.Equal(t, want, ways[fixtruth.Any], "seed %d: %s", s, task)
			}
		}
	}
}
