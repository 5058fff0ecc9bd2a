package answers

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// A message about a function that no Task invokes says what there is instead, and of what.
func TestFunctionsThatNoTaskInvokes(t *testing.T) {
	t.Parallel()
	functions, err := ReadFunctions([]string{"enrich=./program"})
	require.NoError(t, err)
	read := func(task string) *source.Machine {
		m, err := asl.Parse([]byte(`{"StartAt": "A", "States": {"A": {"End": true, ` + task + `}}}`))
		require.NoError(t, err)
		return &source.Machine{StateMachine: m, Definition: &source.Definition{File: "m.json"}}
	}
	none := read(`"Type": "Pass"`)
	other := read(`"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:123456789012:function:enrih"`)
	const unused = "--lambda enrich: no Task invokes enrich"
	require.Equal(t, []string{unused + "; the definition invokes no function"}, functions.FindUnused(none))
	require.Equal(t, []string{unused + "; the definitions invoke no function"}, functions.FindUnused(none, none))
	require.Equal(t, []string{unused + ` (did you mean "enrih"?); there are enrih`}, functions.FindUnused(none, other))
	require.EqualError(t, functions.CheckUsed(none), "m.json: "+unused+"; the definition invokes no function")
	require.Empty(t, functions.FindUnused(other, read(`"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:123456789012:function:enrich:live"`)))
	computed := read(`"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName.$": "$.f"}`)
	require.Empty(t, functions.FindUnused(other, computed), "any may be the one")
}
