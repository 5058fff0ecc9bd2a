package lint

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/lint"
)

// The JSON of a row and a bound has what the table says of them.
func TestJSONOfRows(t *testing.T) {
	t.Parallel()
	for want, row := range map[string]lint.Row{
		`"held":true`:      {Held: true},
		`"meanwhile":true`: {Meanwhile: true},
		`"split":true`:     {Split: true},
		`"restarts":true`:  {Restarts: true},
		`"kind":"JobType SCHEDULED","otherKind":true`: {Kind: "JobType SCHEDULED", OtherKind: true},
		`"forks":[{"route":"Bad","ends":"failure"},{"route":"Good","ends":"success"}]`: {
			Forks: []lint.Fork{{Route: "Bad", Ends: lint.EndsFailure}, {Route: "Good", Ends: lint.EndsSuccess}},
		},
	} {
		text, err := json.Marshal(newLoopRow(&row))
		require.NoError(t, err)
		require.Contains(t, string(text), want)
	}
	text, err := json.Marshal(newLoopBound(&lint.Bound{Kind: lint.ByTime, Deadline: time.Hour, After: time.Hour + time.Minute}))
	require.NoError(t, err)
	require.Contains(t, string(text), `"seconds":3660,"deadlineSeconds":3600`)
}
