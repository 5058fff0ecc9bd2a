package fix_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/fix"
)

// A loop stays where the history has no room for the delays that are asked for: a loop of
// states became the Retry of one Task. The reason names the delay and the strategy that fit.
func TestStrategyThatFits(t *testing.T) {
	t.Parallel()
	for _, strategy := range []compile.Strategy{"", compile.Variables} {
		_, loops := apply(t, machine("", "", "", ""), fix.Options{MaxWait: 60 * time.Hour, MaxDelay: time.Minute, Strategy: strategy})
		require.Contains(t, loops[0].Refused, "it fits with a longest delay of 82 s instead of 60; the strategy retry-task fits")
	}
	_, loops := apply(t, machine("", "", "", ""), fix.Options{MaxWait: 60 * time.Hour, MaxDelay: time.Minute, Strategy: compile.RetryTask, JobRuns: time.Minute})
	require.Empty(t, loops[0].Refused)
	require.Equal(t, compile.RetryTask, loops[0].Strategy)
}
