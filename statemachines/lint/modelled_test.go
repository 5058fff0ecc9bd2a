package lint_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// A Default that polls on is no finding where a model lists the statuses and the rules take all that look like
// an end.
func TestDefaultBehindAllEndsOfAModel(t *testing.T) {
	t.Parallel()
	const status = `{"Variable": "$.run.Statement.State", "`
	for rules, want := range map[string]bool{
		status + `StringMatches": "*LED", "Next": "Done"}, ` + status + `StringMatches": "E*R", "Next": "Done"}`: false,
		`{"Or": [` + status + `StringEquals": "ERROR"}, ` + status + `StringEquals": "AVAILABLE"}, ` +
			status + `StringEquals": "CANCELLED"}], "Next": "Done"}`: false,
		status + `StringEquals": "AVAILABLE", "Next": "Done"}`:                                                                       true,
		`{"Not": ` + status + `StringMatches": "*L*E*"}, "Next": "Wait"}, ` + status + `StringEquals": "AVAILABLE", "Next": "Done"}`: true,
	} {
		m, err := asl.Parse([]byte(`{"StartAt": "Wait", "States": {
			"Wait": {"Type": "Wait", "Seconds": 60, "Next": "Poll"},
			"Poll": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:getStatement", "Parameters": {"SessionId.$": "$.session", "Id.$": "$.id"},
				"ResultPath": "$.run", "Next": "Choose"},
			"Choose": {"Type": "Choice", "Choices": [` + rules + `], "Default": "Wait"},
			"Done": {"Type": "Succeed"}}}`))
		require.NoError(t, err)
		types, err := typecheck.New(m, typecheck.Options{Models: models.Load})
		require.NoError(t, err)
		found := false
		for _, f := range lint.Check(m, lint.Options{Types: types}) {
			found = found || f.Rule == lint.LoopingDefault
		}
		require.Equal(t, want, found, rules)
	}
}
