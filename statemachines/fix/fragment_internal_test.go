package fix

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

// A reason names the status that leads to a state at once, and where the table leads that.
func TestSuccessOfAnExit(t *testing.T) {
	t.Parallel()
	success := func(status, exit string, later bool) seen {
		return seen{status: status, verdict: pollcore.Success, exit: exit, later: later}
	}
	f := &fragment{loop: &loop{}, observed: &observed{seen: []seen{
		{status: "FAILED", verdict: pollcore.Failure, exit: "Good"}, success("PARTLY", "Other", false), success("LATER", "Good", true), success("DONE", "Good", false),
	}}}
	require.Equal(t, "DONE", f.succeedsBy("Good"))
	require.Equal(t, "PARTLY", f.succeedsBy("Other"))
	require.Empty(t, f.succeedsBy("Bad"))
	f.rows = []lint.Row{{Values: []string{"PARTLY", "DONE"}, Routes: []string{"Good", "Other"}}}
	require.Equal(t, []string{"Good", "Other"}, f.routesOf("DONE"))
	require.Empty(t, f.routesOf("LATER"))
}
