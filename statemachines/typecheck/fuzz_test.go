package typecheck_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// No definition makes the types panic or go on for ever, and each finding has a rule,
// a message and a place.
func FuzzNew(f *testing.F) {
	for _, name := range statemachines.Names() {
		text, err := statemachines.Definition(name)
		require.NoError(f, err)
		f.Add(string(text))
	}
	f.Add(sevenMistakes)
	f.Add(athenaLoop)
	for _, open := range []string{"$states.input", "$states.input.a", "$states.input[0]", "$$", "[$states.input]", "{'a': $states.input}"} {
		for _, form := range []string{
			"(@) ~> |$|{'a': 1}, 'b'|", "(@) ~> |a.b.a|{'a': b}|", "(@) ~> |a[b = 1]|$states.input|", "$sift((@), function($v) { $v })",
			"$each((@), function($v, $k) { $v })", "(@){a: $count($)}", "(@)^(a)", "$sort((@))", "(@).$substring(0, a)", "$map((@), function($v) { $v ~> |$|{}| })",
		} {
			expression := strings.ReplaceAll(form, "@", open)
			f.Add(`{"QueryLanguage": "JSONata", "StartAt": "P", "States": {"P": {"Type": "Pass", "Output": "{% ` + expression + ` %}", "End": true}}}`)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := asl.Parse([]byte(text))
		if err != nil {
			return
		}
		c, err := typecheck.New(m, typecheck.Options{Models: models.Load})
		require.NoError(t, err)
		for _, finding := range c.Findings() {
			require.NotEmpty(t, finding.Rule)
			require.NotEmpty(t, finding.Message)
			require.Positive(t, finding.Line)
		}
	})
}
