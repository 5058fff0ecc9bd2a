package lint_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

func TestPollLoops(t *testing.T) {
	t.Parallel()
	m := readMachine(t, "testdata/cases/loops/in-maps-and-parallels.asl.json")
	var turns []lint.Turn
	for _, l := range lint.Loops(m, lint.Options{}) {
		turns = append(turns, l.Turn)
	}
	require.Equal(t, []lint.Turn{
		// Wait 2, Map 4 with an iteration of 2 + 2 + 5 + 2 + 2, Parallel 4 with 6 and 1, distributed Map 6, Choice 2
		{States: []string{"Wait", "Items", "Both", "Far", "Choose"}, Events: 38, Transitions: 1 + 5 + 3 + 1 + 1},
		{States: []string{"P", "C", "W"}, Events: 9, Transitions: 3, Wait: 10 * time.Second},
		{States: []string{"P2", "C2", "W2"}, Events: 9, Transitions: 3, Wait: 10 * time.Second},
	}, turns)
	require.Zero(t, turns[0].Lasts())
	require.Zero(t, turns[0].DollarsPerDay())
	require.Equal(t, 2775, turns[1].Turns())
	require.Equal(t, 27_750*time.Second, turns[1].Lasts())
	require.InDelta(t, 0.648, turns[1].DollarsPerDay(), 1e-9)
	require.Positive(t, lint.Turn{Events: 2, Wait: asl.MaxSeconds * time.Second}.Lasts())
}
