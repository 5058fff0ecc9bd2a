package asl_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// States share a history that can run in one execution.
func TestHistoriesShare(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse([]byte(`{"StartAt": "Which?", "States": {
		"Which?": {"Type": "Choice", "Choices": [{"Variable": "$.one", "BooleanEquals": true, "Next": "One"}], "Default": "Other"},
		"One": {"Type": "Pass", "Next": "Both"},
		"Other": {"Type": "Pass", "Next": "Far"},
		"Both": {"Type": "Parallel", "End": true, "Branches": [
			{"StartAt": "Left", "States": {"Left": {"Type": "Pass", "End": true}}},
			{"StartAt": "Right", "States": {"Right": {"Type": "Map", "End": true,
				"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "Alone",
				"States": {"Alone": {"Type": "Pass", "Next": "Next"}, "Next": {"Type": "Pass", "End": true}}}}}}]},
		"Far": {"Type": "Map", "End": true, "ItemProcessor": {"StartAt": "Item", "States": {"Item": {"Type": "Pass", "End": true}}}}
	}}`))
	require.NoError(t, err)
	for name, x := range map[string]struct {
		a, b string
		want bool
	}{
		"one behind the other":        {"Which?", "One", true},
		"on two ways":                 {"One", "Other", false},
		"before a Parallel":           {"One", "Left", true},
		"in two branches":             {"Left", "Right", true},
		"behind another way":          {"Other", "Left", false},
		"in a Map":                    {"Other", "Item", true},
		"in a Distributed Map":        {"One", "Alone", false},
		"beside a Distributed Map":    {"Left", "Alone", false},
		"both in one Distributed Map": {"Alone", "Next", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, x.want, m.Histories().Share(stateOf(m, x.a), stateOf(m, x.b)))
			require.Equal(t, x.want, m.Histories().Share(stateOf(m, x.b), stateOf(m, x.a)))
		})
	}
}

// The items of a Map run in the history of the machine, those of a Distributed Map do not.
func TestHistoriesForItems(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse([]byte(`{"StartAt": "Each", "States": {
		"Each": {"Type": "Map", "Next": "Far", "ItemProcessor": {"StartAt": "Item", "States": {"Item": {"Type": "Pass", "End": true}}}},
		"Far": {"Type": "Map", "End": true, "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "Alone",
			"States": {"Alone": {"Type": "Pass", "Next": "Inner"}, "Inner": {"Type": "Map", "End": true,
				"ItemProcessor": {"StartAt": "Deep", "States": {"Deep": {"Type": "Pass", "End": true}}}}}}}
	}}`))
	require.NoError(t, err)
	for name, want := range map[string]bool{"Item": true, "Alone": false, "Deep": true} {
		require.Equal(t, want, m.Histories().ForItems(stateOf(m, name)), name)
	}
}

func stateOf(m *asl.StateMachine, name string) *asl.State {
	for s := range m.All {
		if s.Name == name {
			return s
		}
	}
	return nil
}
