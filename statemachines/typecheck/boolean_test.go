package typecheck_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// A Condition must be a boolean. One that is never a boolean fails the execution; one that
// may be a boolean is left alone.
func TestConditionsAreBooleans(t *testing.T) {
	t.Parallel()
	for condition, found := range map[string]string{
		`$match($states.input.text, /x/)`:               "an object or an array",
		`$states.input.text`:                            "a string",
		`$count($states.input.list)`:                    "a number",
		`{'a': true}`:                                   "an object",
		`[true]`:                                        "an array",
		`$states.input.flag ? 'yes' : 'no'`:             "a string",
		`$contains($states.input.text, /x/)`:            "",
		`$boolean($match($states.input.text, /x/))`:     "",
		`$exists($states.input.text)`:                   "",
		`$states.input.text and true`:                   "",
		`$states.input.flag`:                            "",
		`$states.input.number > 0`:                      "",
		`$lookup($states.context.Execution.Input, 'x')`: "",
	} {
		t.Run(condition, func(t *testing.T) {
			t.Parallel()
			got := findings(t, fmt.Sprintf(`{"QueryLanguage": "JSONata", "StartAt": "P", "States": {
				"P": {"Type": "Pass", "Output": {"text": "{%% $uuid() %%}", "number": "{%% $random() %%}", "list": [1], "flag": "{%% $random() > 0.5 %%}"}, "Next": "S"},
				"S": {"Type": "Choice", "Choices": [{"Condition": %q, "Next": "End"}], "Default": "End"}, "End": {"Type": "Succeed"}}}`, "{% "+condition+" %}"))
			if found == "" {
				require.Empty(t, got)
				return
			}
			require.Len(t, got, 1)
			require.Contains(t, got[0], `/States/S/Choices/0/Condition: "Condition" must be a boolean, found `+found)
		})
	}
}
