package fix_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A loop whose deadline the definition does not show stays, with or without the machine's own.
func TestDeadlineThatTheDefinitionDoesNotShow(t *testing.T) {
	t.Parallel()
	now := `{"Variable": "$$.State.EnteredTime", "TimestampGreaterThanPath": "$.until", "Next": "Done"}`
	for name, c := range map[string]struct{ rule, with string }{
		"of the input":                {now, "$.until"},
		"of the input, the other way": {`{"Variable": "$.until", "TimestampLessThanEqualsPath": "$$.State.EnteredTime", "Next": "Done"}`, "$.until"},
		"of the context":              {strings.Replace(now, "$.until", "$$.Execution.Input.until", 1), "$$.Execution.Input.until"},
		"by the start, which stays":   {strings.Replace(now, "$$.State.EnteredTime", "$$.Execution.StartTime", 1), "$.until"},
		"in a Not":                    {`{"And": [{"Variable": "$.b.is", "StringEquals": "IN_PROGRESS"}, {"Not": {"Variable": "$$.State.EnteredTime", "TimestampLessThanPath": "$.until"}}], "Next": "Done"}`, "$.until"},
		"a fixed time":                {strings.Replace(now, `ThanPath": "$.until"`, `Than": "2030-01-01T00:00:00Z"`, 1), "the fixed time"},
		"in JSONata":                  {`{"Condition": "{% $millis() > $toMillis($states.context.Execution.Input.until) %}", "Next": "Done"}`, "$states.context.Execution.Input.until"},
	} {
		for _, limit := range []string{"", `"TimeoutSeconds": 20000, `} {
			t.Run(name+limit, func(t *testing.T) {
				t.Parallel()
				rules := isDone + "," + isBroken + "," + c.rule
				text := strings.NewReplacer("RULES", rules, "OTHERWISE", "Pause", "BEHIND", "").Replace(jobLoop)
				if strings.Contains(c.rule, "Condition") {
					text = choiceInJSONata.Replace(text)
				}
				text = strings.Replace(text, `{"StartAt"`, `{`+limit+`"StartAt"`, 1)
				loops := loopsOf(t, text)
				require.Len(t, loops, 1)
				require.Contains(t, loops[0].Refused, `the rule of "Which" for "Done" compares the time with `+c.with)
			})
		}
	}
}

// choiceInJSONata writes the Choice of jobLoop in JSONata.
var choiceInJSONata = strings.NewReplacer(
	`"Which": {"Type"`, `"Which": {"QueryLanguage": "JSONata", "Type"`,
	`"Variable": "$.b.is", "StringEquals": "SUCCEEDED"`, `"Condition": "{% $states.input.b.is = 'SUCCEEDED' %}"`,
	`"Or": [{"Variable": "$.b.is", "StringEquals": "FAILED"}, {"Variable": "$.b.is", "StringEquals": "FAULT"}]`, `"Condition": "{% $states.input.b.is in ['FAILED', 'FAULT'] %}"`,
)
