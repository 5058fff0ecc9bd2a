package lint_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/lint"
)

// A row says what a status means, and what happens where that is something else.
func TestDescribeRow(t *testing.T) {
	t.Parallel()
	for want, row := range map[string]lint.Row{
		"success":                      {Meaning: lint.MeansSuccess, Ends: lint.EndsSuccess},
		"running":                      {Meaning: lint.MeansRunning, Ends: lint.PollsOn},
		"failure, starts again":        {Meaning: lint.MeansFailure, Ends: lint.StartsAgain, Routes: []string{"Go"}},
		"failure, may start again":     {Meaning: lint.MeansFailure, Ends: lint.StartsAgain, Routes: []string{"Bad", "Go"}},
		"ending, but starts again":     {Meaning: lint.MeansEnding, Ends: lint.StartsAgain, Routes: []string{"Go"}, Rule: lint.RepeatedStart},
		"starts again":                 {Meaning: lint.MeansUnknown, Ends: lint.StartsAgain, Routes: []string{"Go"}},
		"running, but fails":           {Meaning: lint.MeansRunning, Ends: lint.EndsFailure},
		"running, but leaves the loop": {Meaning: lint.MeansRunning, Ends: lint.GoesOn},
		"failure, but may poll on":     {Meaning: lint.MeansFailure, Ends: lint.EndsUnknown},
		"failure, but polls on":        {Meaning: lint.MeansFailure, Ends: lint.PollsOn, Rule: lint.StatusPollsOn},
		"succeeds":                     {Meaning: lint.MeansUnknown, Ends: lint.EndsSuccess},
		"waiters differ (failure, running), polls on": {Meaning: lint.MeansUnknown, Either: []lint.Meaning{lint.MeansFailure, lint.MeansRunning}, Ends: lint.PollsOn},
	} {
		require.Equal(t, want, row.Describe())
	}
}
