package stepfunctions_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/stepfunctions"
)

// eventsOf are events in the form of the API, from the first ID to the last, in either
// direction.
func eventsOf(first, last int) []any {
	step := 1
	if first > last {
		step = -1
	}
	var all []any
	for id := first; id != last+step; id += step {
		all = append(all, map[string]any{
			"id": json.Number(strconv.Itoa(id)), "previousEventId": json.Number("0"), "timestamp": "2026-11-20T09:30:14Z",
			"type": "TaskStateEntered", "stateEnteredEventDetails": map[string]any{"name": "Poll"},
		})
	}
	return all
}

// A history whose pages do not end is refused, as one with more events than a history
// can have.
func TestHistoryWithoutEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		page  func(call int) (events []any, token string)
		calls int
		want  string
	}{
		"one token": {
			func(int) ([]any, string) { return eventsOf(1000, 1), "A" }, 2,
			"states:GetExecutionHistory: the answer is not one of Step Functions: its pages repeat themselves",
		},
		"tokens in a circle": {
			func(call int) ([]any, string) {
				return eventsOf(10*(call%3)+10, 10*(call%3)+1), strconv.Itoa(call % 3)
			}, 4,
			"states:GetExecutionHistory: the answer is not one of Step Functions: its pages repeat themselves",
		},
		"events without end": {
			func(call int) ([]any, string) { return eventsOf(1000*call, 1000*call-999), strconv.Itoa(call) }, 26,
			"states:GetExecutionHistory: the answer is not one of Step Functions: the history has more than 25000 events",
		},
		"events without IDs": {
			func(int) ([]any, string) { return []any{map[string]any{"type": "TaskStateEntered"}}, "A" }, 2,
			"states:GetExecutionHistory: the answer is not one of Step Functions: its pages repeat themselves",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := 0
			r := clientOf(t, func(map[string]any) any {
				if calls++; calls > c.calls {
					require.FailNow(t, "the calls have no end")
				}
				events, token := c.page(calls)
				return map[string]any{"events": events, "nextToken": token}
			}).Record("arn")
			_, err := r.Update(t.Context())
			require.EqualError(t, err, c.want)
			require.ErrorIs(t, err, stepfunctions.ErrAnswer)
			require.Equal(t, c.calls, calls)
		})
	}
}

// pageOf is the page of a history at a token.
func pageOf(t *testing.T, all []any, size int, token any) map[string]any {
	t.Helper()
	first := 0
	if token != nil {
		_, err := fmt.Sscan(token.(string), &first)
		require.NoError(t, err)
	}
	end := min(first+size, len(all))
	page := map[string]any{"events": all[first:end]}
	if end < len(all) {
		page["nextToken"] = strconv.Itoa(end)
	}
	return page
}

// The events that are new are found in whatever order the pages are: emulators give the
// oldest first.
func TestHistoryInEitherOrder(t *testing.T) {
	t.Parallel()
	for _, oldestFirst := range []bool{false, true} {
		for _, size := range []int{1000, 7} {
			t.Run(fmt.Sprint(oldestFirst, size), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					now := 20
					r := clientOf(t, func(input map[string]any) any {
						all := eventsOf(now, 1)
						if oldestFirst {
							slices.Reverse(all)
						}
						return pageOf(t, all, size, input["nextToken"])
					}).Record("arn")
					for _, want := range []int{20, 21, 60} {
						now = want
						fresh, err := r.Update(t.Context())
						require.NoError(t, err)
						require.True(t, fresh)
						e, err := r.Execution()
						require.NoError(t, err)
						require.Len(t, e.Events, want)
						for i, event := range e.Events {
							require.EqualValues(t, i+1, event.ID)
						}
						fresh, err = r.Update(t.Context())
						require.NoError(t, err)
						require.False(t, fresh)
					}
				})
			})
		}
	}
}
