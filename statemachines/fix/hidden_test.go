package fix_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/fix"
)

// A variable hides the function of its name from the expressions of the new loop.
func TestVariableThatHidesAFunction(t *testing.T) {
	t.Parallel()
	text := queryInJSONata("", "", "")
	for name, c := range map[string]struct{ old, changed, hidden string }{
		"in front of the loop":            {`"Output": {"id": "q"}`, `"Output": {"id": "q"}, "Assign": {"round": 1}`, "round"},
		"behind it, inside a Map":         {`"Report": {"Type": "Succeed"}`, `"Report": {"Type": "Map", "Items": [1], "ItemProcessor": {"StartAt": "One", "States": {"One": {"Type": "Pass", "Assign": {"min": 0}, "End": true}}}, "End": true}`, "min"},
		"of a function that it needs not": {`"Output": {"id": "q"}`, `"Output": {"id": "q"}, "Assign": {"sum": 1}`, ""},
	} {
		machine := strings.Replace(text, c.old, c.changed, 1)
		require.NotEqual(t, text, machine, name)
		_, loops := apply(t, machine, fix.Options{})
		require.Len(t, loops, 1, name)
		if c.hidden == "" {
			require.Empty(t, loops[0].Refused, name)
			continue
		}
		require.Equal(t, `the machine has a variable "`+c.hidden+`", which hides the function $`+c.hidden+` that the new loop calls: give the variable another name`, loops[0].Refused, name)
	}
}
