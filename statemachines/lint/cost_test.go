package lint_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/lint"
)

func TestPollLoops(t *testing.T) {
	t.Parallel()
	m := readMachine(t, "testdata/cases/loops/in-maps-and-parallels.asl.json")
	loops := lint.Loops(m, lint.Options{})
	var turns []lint.Turn
	for _, l := range loops {
		turns = append(turns, l.Turn)
	}
	require.Equal(t, []lint.Turn{
		// Wait 2, Map 4 with an iteration of 2 + 2 + 5 + 2 + 2, Parallel 4 with 6 and 1, distributed Map 6, Choice 2
		{States: []string{"Wait", "Items", "Both", "Far", "Choose"}, Events: 38, Transitions: 1 + 5 + 3 + 1 + 1},
		{States: []string{"P", "C", "W"}, Events: 9, Transitions: 3, Wait: 10 * time.Second},
		{States: []string{"P2", "C2", "W2"}, Events: 9, Transitions: 3, Wait: 10 * time.Second},
	}, turns)
	require.Zero(t, loops[0].Lasts)
	require.Zero(t, turns[0].DollarsPerDay())
	require.Equal(t, 2777, loops[1].Turns)
	require.Equal(t, 27_770*time.Second, loops[1].Lasts)
	require.InDelta(t, 0.648, turns[1].DollarsPerDay(), 1e-9)
}
