package fix_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/fix"
)

// Where the history has no room for the delays that are asked for, another strategy has, and
// a note says so.
func TestStrategyThatFits(t *testing.T) {
	t.Parallel()
	_, loops := apply(t, machine("", "", "", ""), fix.Options{MaxWait: 60 * time.Hour, MaxDelay: time.Minute, JobRuns: time.Minute})
	require.Empty(t, loops[0].Refused)
	require.Equal(t, compile.RetryTask, loops[0].Strategy)
	require.Contains(t, strings.Join(loops[0].Notes, "\n"), "the strategy is retry-task, not variables: with variables the wait could take ")
	_, loops = apply(t, machine("", "", "", ""), fix.Options{MaxWait: 60 * time.Hour, MaxDelay: time.Minute, Strategy: compile.Variables})
	require.Contains(t, loops[0].Refused, "it fits with a longest delay of 82 s instead of 60; the strategy retry-task fits")
}
