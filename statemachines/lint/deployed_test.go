package lint_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// What AWS has holds no placeholders: a "${Done}" in a rule is a word like any other there,
// which no status is.
func TestTextsOfDeployedDefinitions(t *testing.T) {
	t.Parallel()
	const jsonPath = `{"StartAt": "Get", "States": {
		"Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:getJobRun", "Parameters": {"JobName": "nightly", "RunId": "r-1"}, "Next": "Done?"},
		"Done?": {"Type": "Choice", "Choices": [{"Variable": "$.JobRun.JobRunState", %s, "Next": "End"}], "Default": "Wait"},
		"Wait": {"Type": "Wait", "Seconds": 30, "Next": "Get"}, "End": {"Type": "Succeed"}}}`
	const jsonata = `{"QueryLanguage": "JSONata", "StartAt": "Get", "States": {
		"Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:getJobRun", "Arguments": {"JobName": "nightly", "RunId": "r-1"}, "Next": "Done?"},
		"Done?": {"Type": "Choice", "Choices": [{"Condition": "{%% $states.input.JobRun.JobRunState %s %%}", "Next": "End"}], "Default": "Wait"},
		"Wait": {"Type": "Wait", "Seconds": 30, "Next": "Get"}, "End": {"Type": "Succeed"}}}`
	placeholder := regexp.MustCompile(`\$\{(\w+)\}`)
	dangers := func(m *asl.StateMachine) (all []string) {
		types, err := typecheck.New(m, typecheck.Options{Models: models.Load})
		require.NoError(t, err)
		for _, f := range lint.Check(m, lint.Options{Types: types}) {
			if f.Severity == diag.Danger {
				all = append(all, f.Rule)
			}
		}
		return all
	}
	for _, c := range []struct{ form, rule string }{
		{jsonPath, `"StringEquals": "${Done}"`},
		{jsonPath, `"StringMatches": "${Prefix}_*"`},
		{jsonata, `= '${Done}'`},
		{jsonata, `in ['${Done}']`},
	} {
		t.Run(c.rule, func(t *testing.T) {
			t.Parallel()
			text := fmt.Sprintf(c.form, c.rule)
			deployed, err := asl.ParseDeployed([]byte(text))
			require.NoError(t, err)
			require.Empty(t, deployed.Placeholders)
			require.Empty(t, asl.ValidateDeployed([]byte(text), asl.Standard))
			word, err := asl.Parse(placeholder.ReplaceAll([]byte(text), []byte("$1")))
			require.NoError(t, err)
			require.Subset(t, dangers(word), []string{typecheck.EnumValue, "status-polls-on"})
			require.Equal(t, dangers(word), dangers(deployed))
			template, err := asl.Parse([]byte(text))
			require.NoError(t, err)
			require.NotContains(t, dangers(template), typecheck.EnumValue)
		})
	}
}
