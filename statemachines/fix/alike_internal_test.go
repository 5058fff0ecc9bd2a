package fix

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/trial"
)

// A row has the statuses of the job, and of made-up texts those alone that change in a way of their own.
func TestDropAlike(t *testing.T) {
	t.Parallel()
	change := func(value, after string) Change {
		return Change{Kind: trial.Kind{Task: "Look", Sort: trial.Status, Value: value}, Before: "fails Job", After: after}
	}
	kept := dropAlike([]Change{
		change("DELETED", "polls on"), change(trial.UnknownValue, "polls on"), change("", "polls on"), change("xROLLBACKx", "polls on"),
		change("InProgress", "polls on"), change("x_COMPLETE", "succeeds"),
	}, func(value string) bool { return value == "DELETED" })
	require.Equal(t, []Change{
		change("DELETED", "polls on"), change(trial.UnknownValue, "polls on"), change("", "polls on"), change("x_COMPLETE", "succeeds"),
	}, kept)
}
