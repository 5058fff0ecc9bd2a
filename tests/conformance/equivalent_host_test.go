package conformance_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// form is what is run of a compiled waiter.
type form string

const (
	whole      form = "whole"
	inJSONPath form = "fragment in JSONPath"
	inJSONata  form = "fragment in JSONata"
)

// forms are those that a strategy has. A machine in JSONata cannot have states in
// JSONPath.
func (s strategy) forms() []form {
	if s.name == compile.Loop {
		return []form{whole, inJSONPath}
	}
	return []form{whole, inJSONPath, inJSONata}
}

// exits are the states of the host to which a fragment leads.
var exits = map[pollcore.Status]string{pollcore.Succeeded: "Done", pollcore.Failed: "Broken", pollcore.TimedOut: "Late"}

// A host has a state before the fragment, which is as much as it adds to the
// fragment's report: there the exits are counted.
const (
	hostTransitions = 1
	hostEvents      = 2
)

// host merges a fragment into a machine that goes on with its result, as a user
// does: by the names of the states alone.
func host(t *testing.T, fragment *compile.Compiled, f form) *asl.StateMachine {
	t.Helper()
	language := map[form]string{inJSONPath: "JSONPath", inJSONata: "JSONata"}[f]
	var m struct {
		States map[string]json.RawMessage `json:"States"`
	}
	require.NoError(t, json.Unmarshal(asl.Print(fragment.Machine), &m))
	put := func(name string, state map[string]any) {
		text, err := json.Marshal(state)
		require.NoError(t, err)
		m.States[name] = text
	}
	require.NotContains(t, m.States, "Before")
	put("Before", map[string]any{"Type": "Pass", "Next": fragment.StartAt})
	for _, exit := range exits {
		require.Contains(t, m.States, exit)
		put(exit, map[string]any{"Type": "Pass", "End": true})
	}
	text, err := json.Marshal(map[string]any{"QueryLanguage": language, "StartAt": "Before", "States": m.States})
	require.NoError(t, err)
	machine, err := asl.Parse(text)
	require.NoError(t, err)
	return machine
}
