package history_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/history"
)

// A Map that fails is the one entered last that has not ended, wherever in it the
// event before is.
func TestFailureOfNestedMaps(t *testing.T) {
	t.Parallel()
	var events []string
	for i, event := range [][2]string{
		{"ExecutionStarted", `{}`},
		{"MapStateEntered", `{"name": "Outer"}`},
		{"MapStateStarted", `{"length": 1}`},
		{"MapIterationStarted", `{"name": "Outer", "index": 0}`},
		{"ParallelStateEntered", `{"name": "Both"}`},
		{"ParallelStateStarted", `{}`},
		{"MapStateEntered", `{"name": "Inner"}`},
		{"MapStateStarted", `{"length": 1}`},
		{"MapIterationStarted", `{"name": "Inner", "index": 0}`},
		{"PassStateEntered", `{"name": "Copy"}`},
		{"MapStateFailed", `{"error": "Inner.Error"}`},
		{"MapStateExited", `{"name": "Inner"}`},
		{"PassStateEntered", `{"name": "Behind"}`},
		{"MapStateFailed", `{"error": "Outer.Error"}`},
		{"ParallelStateFailed", `{"error": "Both.Error"}`},
	} {
		events = append(events, fmt.Sprintf(`{"id": %d, "previousEventId": %d, "timestamp": %d, "type": %q, "anyEventDetails": %s}`, i+1, i, i, event[0], event[1]))
	}
	e, err := history.Read([]byte(`{"events": [` + strings.Join(events, ",") + `]}`))
	require.NoError(t, err)
	failures := map[string]string{}
	for _, v := range e.FindVisits().All {
		failures[v.State] = v.Error
	}
	require.Equal(t, map[string]string{"Outer": "Outer.Error", "Both": "Both.Error", "Inner": "Inner.Error", "Copy": "", "Behind": ""}, failures)
}
