package responses_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/tests/responses"
)

const index = `[{"name": "Kiln", "key": "kiln", "entries": [
	{"name": "FiringDone", "kind": "waiter", "waiter": "FiringDone", "operation": "GetFiring"},
	{"name": "Shadowed", "kind": "waiter", "waiter": "Shadowed", "operation": "GetFiring"}
]}]`

const service = `{"name": "Kiln", "key": "kiln",
	"operations": {"GetFiring": {"input": "In", "output": "Out", "errors": [{"shape": "FiringNotFoundFault", "code": "FiringNotFound"}, "Overheated"]}},
	"shapes": {
		"In": {"type": "structure", "members": {"id": "string"}},
		"Out": {"type": "structure", "members": {"state": "State", "pots": "Pots", "id": "string", "at": "timestamp", "self": "Out", "tags": "Tags"}},
		"State": {"type": "string", "enum": ["COLD", "HOT", "DONE"]},
		"Pots": {"type": "list", "element": "Pot"},
		"Pot": {"type": "structure", "members": {"glaze": "string", "heat": "integer", "cracked": "boolean"}},
		"Tags": {"type": "map", "element": "string"}
	},
	"waiters": {
		"FiringDone": {"operation": "GetFiring", "waiter": {"acceptors": [
			{"state": "success", "matcher": {"output": {"path": "state", "expected": "DONE", "comparator": "stringEquals"}}},
			{"state": "failure", "matcher": {"output": {"path": "pots[].glaze", "expected": "RUINED", "comparator": "allStringEquals"}}, "message": "pots[].glaze"},
			{"state": "retry", "matcher": {"output": {"path": "pots[].glaze", "expected": "WET", "comparator": "anyStringEquals"}}},
			{"state": "success", "matcher": {"output": {"path": "length(pots[?heat > ` + "`1200`" + `]) >= ` + "`2`" + `", "expected": "true", "comparator": "booleanEquals"}}},
			{"state": "failure", "matcher": {"inputOutput": {"path": "input.id == output.id", "expected": "false", "comparator": "booleanEquals"}}},
			{"state": "failure", "matcher": {"errorType": "FiringNotFoundFault"}},
			{"state": "retry", "matcher": {"errorType": "kiln#Overheated"}}
		]}},
		"Shadowed": {"operation": "GetFiring", "waiter": {"acceptors": [
			{"state": "success", "matcher": {"success": true}},
			{"state": "failure", "matcher": {"output": {"path": "state", "expected": "HOT", "comparator": "stringEquals"}}},
			{"state": "retry", "matcher": {"success": false}}
		]}}
	}
}`

func firing(t *testing.T, name string) *catalog.Entry {
	t.Helper()
	e, err := catalog.Open(fstest.MapFS{"index.json": {Data: []byte(index)}, "kiln.json": {Data: []byte(service)}}).Lookup("kiln", name)
	require.NoError(t, err)
	return e
}

func maker(t *testing.T, name string) *responses.Maker {
	t.Helper()
	m, err := responses.NewMaker(firing(t, name))
	require.NoError(t, err)
	return m
}

func pots(glazes ...any) map[string]any {
	list := []any{}
	for _, glaze := range glazes {
		list = append(list, map[string]any{"glaze": glaze})
	}
	return map[string]any{"pots": list, "id": "a"}
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	m := maker(t, "FiringDone")
	in := map[string]any{"id": "a"}
	coded := func(code string) error { return &smithy.GenericAPIError{Code: code} }
	hot := map[string]any{"heat": 1300.0}
	tests := []struct {
		name   string
		output any
		err    error
		want   responses.Verdict
	}{
		{"a string", map[string]any{"state": "DONE"}, nil, responses.Verdict{State: pollcore.Success, Acceptor: 0, Seen: "DONE"}},
		{"all", pots("RUINED", "RUINED"), nil, responses.Verdict{State: pollcore.Failure, Acceptor: 1, Seen: []any{"RUINED", "RUINED"}, Message: "RUINED; RUINED"}},
		{"all but one, which is any", pots("RUINED", "WET"), nil, responses.Verdict{State: pollcore.Retry, Acceptor: 2, Seen: []any{"RUINED", "WET"}}},
		{"none of none", pots(), nil, responses.Verdict{State: pollcore.Retry, Acceptor: -1}},
		{"a boolean", map[string]any{"pots": []any{hot, hot}}, nil, responses.Verdict{State: pollcore.Success, Acceptor: 3, Seen: true}},
		{"a path that cannot be evaluated, and the input", map[string]any{"id": "b"}, nil, responses.Verdict{State: pollcore.Failure, Acceptor: 4, Seen: false}},
		{"an error's shape", nil, coded("FiringNotFoundFault"), responses.Verdict{State: pollcore.Failure, Acceptor: 5, Seen: "FiringNotFoundFault"}},
		{"an error's code", nil, coded("FiringNotFound"), responses.Verdict{State: pollcore.Failure, Acceptor: 5, Seen: "FiringNotFoundFault"}},
		{"an error within another", nil, fmt.Errorf("call: %w", coded("x.y#Overheated")), responses.Verdict{State: pollcore.Retry, Acceptor: 6, Seen: "Overheated"}},
		{"another error", map[string]any{"state": "DONE"}, coded("Denied"), responses.Verdict{State: pollcore.Failure, Acceptor: -1}},
		{"an error without a code", nil, errors.New("no network"), responses.Verdict{State: pollcore.Failure, Acceptor: -1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := m.Verdict(responses.Case{Input: in, Output: tt.output, Err: tt.err})
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
}

func TestReach(t *testing.T) {
	t.Parallel()
	tests := []struct {
		waiter string
		want   map[int]bool
	}{
		{"FiringDone", map[int]bool{-1: true, 0: true, 1: true, 2: true, 3: true, 4: true, 5: true, 6: true}},
		{"Shadowed", map[int]bool{-1: false, 0: true, 1: false, 2: true}},
	}
	for _, tt := range tests {
		t.Run(tt.waiter, func(t *testing.T) {
			t.Parallel()
			m := maker(t, tt.waiter)
			got := map[int]bool{}
			for i := range tt.want {
				c, found := m.Reach(i)
				got[i] = found
				if found {
					v, err := m.Verdict(c)
					require.NoError(t, err)
					require.Equal(t, i, v.Acceptor)
					again, _ := maker(t, tt.waiter).Reach(i)
					require.Equal(t, c, again, "the same call every time")
				}
			}
			require.Equal(t, tt.want, got)
		})
	}
}

func TestCases(t *testing.T) {
	t.Parallel()
	m := maker(t, "FiringDone")
	var values, failures []string
	for _, c := range m.Values() {
		values = append(values, c.Name)
	}
	require.Equal(t, []string{"COLD of state", "HOT of state", "DONE of state", "VALUE-OF-TOMORROW of state"}, values)
	for _, c := range m.Errors() {
		failures = append(failures, c.Name)
	}
	require.Len(t, failures, 4*5)
	require.Subset(t, failures, []string{
		"error FiringNotFoundFault", "error kiln#Overheated", "error FiringNotFound with a namespace", "error ErrorOfTomorrow within another",
	})
	require.Len(t, m.Basics(), 2)

	calls := m.Random(200, 1)
	require.Equal(t, calls, m.Random(200, 1))
	require.NotEqual(t, calls, m.Random(200, 2))
	has := func(fits func(out map[string]any) bool) bool {
		return slices.ContainsFunc(calls, func(c responses.Case) bool { return fits(c.Output.(map[string]any)) })
	}
	for name, fits := range map[string]func(out map[string]any) bool{
		"a member left out":      func(out map[string]any) bool { _, there := out["state"]; return !there },
		"a null":                 func(out map[string]any) bool { v, there := out["state"]; return there && v == nil },
		"an unknown value":       func(out map[string]any) bool { return out["state"] == "VALUE-OF-TOMORROW" },
		"an empty list":          func(out map[string]any) bool { list, _ := out["pots"].([]any); return list != nil && len(list) == 0 },
		"a null in a list":       func(out map[string]any) bool { list, _ := out["pots"].([]any); return slices.Contains(list, any(nil)) },
		"a member nobody reads":  func(out map[string]any) bool { return out["at"] != nil },
		"a structure in its own": func(out map[string]any) bool { return out["self"] != nil },
		"a map":                  func(out map[string]any) bool { return out["tags"] != nil },
	} {
		require.True(t, has(fits), name)
	}
}
