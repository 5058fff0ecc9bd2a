package typecheck_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// That something is not what it is never is no mistake: the machine works. That it is, is
// one, and the message has the values that there are.
func TestRedundantNegationIsNoMistake(t *testing.T) {
	t.Parallel()
	const state = "$.r.QueryExecution.Status.State"
	is := func(value string) string { return `{"Variable": "` + state + `", "StringEquals": "` + value + `"}` }
	for second, want := range map[string]string{
		`"And": [{"Not": ` + is("RUNNING") + `}, ` + is("SUCCEEDED") + `], `:         "",
		`"Not": ` + is("RUNNING") + `, `:                                             "",
		`"Not": {"Not": ` + is("RUNNING") + `}, `:                                    `is never "RUNNING" here`,
		`"Variable": "` + state + `", "StringEquals": "RUNNING", `:                   `is never "RUNNING" here`,
		`"Variable": "` + state + `", "StringMatches": "COMPL*", `:                   `matches "COMPL*": its values are FAILED, SUCCEEDED`,
		`"And": [` + is("SUCCEEDED") + `, {"Variable": "$.r", "IsPresent": true}], `: "",
		`"Variable": "` + state + `", "StringEquals": "SUCCEEEDED", `:                `is never "SUCCEEEDED"`,
	} {
		m, err := asl.Parse([]byte(`{"StartAt": "Get", "States": {
			"Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId": "q"}, "ResultPath": "$.r", "Next": "First"},
			"First": {"Type": "Choice", "Choices": [{"Or": [` + is("SUCCEEDED") + `, ` + is("FAILED") + `], "Next": "Second"}], "Default": "End"},
			"Second": {"Type": "Choice", "Choices": [{` + second + `"Next": "End"}], "Default": "Bad"},
			"End": {"Type": "Succeed"}, "Bad": {"Type": "Fail"}}}`))
		require.NoError(t, err, second)
		c, err := typecheck.New(m, typecheck.Options{Models: models.Load})
		require.NoError(t, err)
		found := c.Findings()
		if want == "" {
			require.Empty(t, found, second)
			continue
		}
		require.Len(t, found, 1, second)
		require.Contains(t, found[0].Message, want)
	}
}

// A rule with a pattern takes each value of the model that fits: a later rule for one of
// them never applies, by whatever operator it asks. What no model lists may be on either side.
func TestPatternsTakeValues(t *testing.T) {
	t.Parallel()
	const state = `"Variable": "$.r.QueryExecution.Status.State"`
	for second, hidden := range map[string]bool{
		`{"Or": [{` + state + `, "StringEquals": "FAILED"}, {` + state + `, "StringEquals": "CANCELLED"}], "Next": "Bad"}`: true,
		`{` + state + `, "StringEquals": "QUEUED", "Next": "Bad"}`:                                                         true,
		`{"Not": {"Not": {` + state + `, "StringEquals": "FAILED"}}, "Next": "Bad"}`:                                       true,
		`{` + state + `, "StringEquals": "RUNNING", "Next": "Bad"}`:                                                        false,
		`{` + state + `, "StringMatches": "*ING", "Next": "Bad"}`:                                                          false,
		`{` + state + `, "StringMatches": "*FAIL*", "Next": "Bad"}`:                                                        false,
	} {
		m, err := asl.Parse([]byte(`{"StartAt": "Get", "States": {
			"Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId": "q"}, "ResultPath": "$.r", "Next": "Done?"},
			"Done?": {"Type": "Choice", "Choices": [{` + state + `, "StringMatches": "*ED", "Next": "End"}, ` + second + `], "Default": "Bad"},
			"End": {"Type": "Succeed"}, "Bad": {"Type": "Fail"}}}`))
		require.NoError(t, err, second)
		c, err := typecheck.New(m, typecheck.Options{Models: models.Load})
		require.NoError(t, err)
		found := c.Findings()
		if !hidden {
			require.Empty(t, found, second)
			continue
		}
		require.Len(t, found, 1, second)
		require.Equal(t, typecheck.UnreachableRule, found[0].Rule, second)
	}
}

// A rule with a pattern takes what fits a narrower one, though no model lists all values that a
// service may answer.
func TestPatternsTakeNarrowerOnes(t *testing.T) {
	t.Parallel()
	const status = `"Variable": "$.r.Stacks[0].StackStatus"`
	for _, tt := range []struct {
		first, second string
		hidden        bool
	}{
		{`"StringMatches": "*_FAILED"`, `"StringMatches": "*ROLLBACK_FAILED"`, true},
		{`"StringMatches": "UPDATE_*"`, `"StringMatches": "UPDATE_*_COMPLETE"`, true},
		{`"StringMatches": "*ROLLBACK_FAILED"`, `"StringMatches": "*_FAILED"`, false},
		{`"StringMatches": "*_FAILED"`, `"StringMatches": "*_FAILED*"`, false},
		{`"StringMatches": "UPDATE_*_FAILED"`, `"StringMatches": "UPDATE_*"`, false},
	} {
		m, err := asl.Parse([]byte(`{"StartAt": "Get", "States": {
			"Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:cloudformation:describeStacks", "Parameters": {"StackName": "s"}, "ResultPath": "$.r", "Next": "Done?"},
			"Done?": {"Type": "Choice", "Choices": [{` + status + `, ` + tt.first + `, "Next": "End"}, {` + status + `, ` + tt.second + `, "Next": "Bad"}], "Default": "Bad"},
			"End": {"Type": "Succeed"}, "Bad": {"Type": "Fail"}}}`))
		require.NoError(t, err, tt.second)
		c, err := typecheck.New(m, typecheck.Options{Models: models.Load})
		require.NoError(t, err)
		if found := c.Findings(); tt.hidden {
			require.Len(t, found, 1, tt.second)
			require.Equal(t, typecheck.UnreachableRule, found[0].Rule, tt.second)
		} else {
			require.Empty(t, found, tt.second)
		}
	}
}
