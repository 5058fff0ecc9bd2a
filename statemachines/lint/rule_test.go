package lint_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// A rule is listed once, and each that is found is listed.
func TestRules(t *testing.T) {
	t.Parallel()
	var names []string
	for _, r := range lint.Rules() {
		require.NotEmpty(t, r.About)
		require.NotContains(t, names, r.Name)
		names = append(names, r.Name)
	}
	require.ElementsMatch(t, names, []string{
		lint.UnboundedLoop, lint.UnretriedTask, lint.LoopingDefault, lint.EventBudget, lint.EarlyBound, lint.BoundFirst, lint.HotLoop,
		lint.ShortInterval, lint.RepeatedStart, lint.IdleRetrier, lint.HiddenFailure, lint.FailingBranch,
		lint.StatusPollsOn, lint.StatusMisread, lint.StatusUnhandled, lint.StatusUnclear, lint.StartRace, lint.PollNeedless, lint.LargeAnswer, lint.CallbackTimeout, lint.RedriveRestarts,
		typecheck.UnknownOperation, typecheck.UnknownArgument, typecheck.MissingArgument, typecheck.ArgumentType, typecheck.EnumValue,
		typecheck.UnknownMember, typecheck.NeverHolds, typecheck.UnreachableRule, typecheck.AbsentMember, typecheck.UnsetVariable,
	})
}
