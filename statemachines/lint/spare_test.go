package lint_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// A word that no answer has is a NOTE where a right value beside it leads the same way, and a DANGER where it stands
// alone or may hide a value that no rule names.
func TestSpareWords(t *testing.T) {
	t.Parallel()
	const (
		state    = `$states.input.JobRun.JobRunState`
		failures = `{"Condition": "{% ` + state + ` in ['FAILED', 'STOPPED', 'TIMEOUT', 'ERROR', 'EXPIRED'] %}", "Next": "Bad"}`
		done     = `", "Next": "Done"}, ` + failures
	)
	for name, c := range map[string]struct {
		rules string
		want  []diag.Severity
	}{
		"list":       {`{"Condition": "{% ` + state + ` in ['SUCCEEDED', 'COMPLETED', 'SUCCESS'] %}` + done, []diag.Severity{diag.Note, diag.Note}},
		"or":         {`{"Condition": "{% ` + state + ` = 'SUCCEEDED' or 'COMPLETED' = ` + state + ` %}` + done, []diag.Severity{diag.Note}},
		"split":      {`{"Condition": "{% ` + state + ` in $split('SUCCEEDED,COMPLETED', ',') %}` + done, []diag.Severity{diag.Note}},
		"pattern":    {`{"Condition": "{% $contains(` + state + `, /^(SUCCEEDED|COMPLETED)$/) %}` + done, []diag.Severity{diag.Note}},
		"rules":      {`{"Condition": "{% ` + state + ` = 'SUCCEEDED' %}", "Next": "Done"}, {"Condition": "{% ` + state + ` = 'COMPLETED' %}` + done, []diag.Severity{diag.Note}},
		"other ways": {`{"Condition": "{% ` + state + ` = 'SUCCEEDED' %}", "Next": "Wait"}, {"Condition": "{% ` + state + ` = 'COMPLETED' %}` + done, []diag.Severity{diag.Danger}},
		"value of another rule": {
			`{"Condition": "{% ` + state + ` = 'SUCCEEDED' %}", "Next": "Wait"}, {"Condition": "{% ` + state + ` in ['COMPLETED', 'STOPPED'] %}` + done,
			[]diag.Severity{diag.Danger},
		},
		"value of another sort in another rule": {
			`{"Condition": "{% ` + state + ` = 'STARTING' %}", "Next": "Wait"}, {"Condition": "{% ` + state + ` in ['SUCCEEDED', 'SUCCESS'] %}` + done,
			[]diag.Severity{diag.Note},
		},
		"table": {
			`{"Condition": "{% $lookup({'SUCCEEDED': 'ok', 'COMPLETED': 'ok', 'FAILED': 'bad'}, ` + state + `) = 'ok' %}` + done,
			[]diag.Severity{diag.Note},
		},
		"other rows": {
			`{"Condition": "{% $lookup({'SUCCEEDED': 'ok', 'COMPLETED': 'fine', 'FAILED': 'bad'}, ` + state + `) = 'ok' %}` + done,
			[]diag.Severity{diag.Danger},
		},
		"alone": {`{"Condition": "{% ` + state + ` = 'COMPLETED' %}` + done, []diag.Severity{diag.Danger}},
		"no value is left": {`{"Condition": "{% ` + state + ` = 'SUCCEEDED` + "' %}" + `", "Next": "Done"},
			{"Condition": "{% ` + state + ` in ['FAILED', 'STOPPED', 'TIMEOUT', 'ERROR', 'EXPIRED', 'REJECTED'] %}", "Next": "Bad"}`, []diag.Severity{diag.Note}},
		"hides a near value": {`{"Condition": "{% ` + state + ` = 'SUCCEEDED` + "' %}" + `", "Next": "Done"},
			{"Condition": "{% ` + state + ` in ['FAILED', 'TIMED_OUT', 'ERROR', 'EXPIRED', 'STOPPED'] %}", "Next": "Bad"}`, []diag.Severity{diag.Danger}},
		"may hide a failure": {`{"Condition": "{% ` + state + ` = 'SUCCEEDED` + "' %}" + `", "Next": "Done"},
			{"Condition": "{% ` + state + ` in ['FAILED', 'REJECTED', 'ERROR', 'TIMEOUT', 'STOPPED'] %}", "Next": "Bad"}`, []diag.Severity{diag.Danger}},
	} {
		m, err := asl.Parse([]byte(`{"StartAt": "Wait", "TimeoutSeconds": 3600, "QueryLanguage": "JSONata", "States": {
			"Wait": {"Type": "Wait", "Seconds": 60, "Next": "Poll"},
			"Poll": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:getJobRun", "Arguments": {"JobName": "nightly", "RunId": "r"},
				"Retry": [{"ErrorEquals": ["States.TaskFailed"]}], "Next": "Choose"},
			"Choose": {"Type": "Choice", "Choices": [` + c.rules + `], "Default": "Wait"},
			"Done": {"Type": "Succeed"}, "Bad": {"Type": "Fail", "Error": "Lost"}}}`))
		require.NoError(t, err, name)
		require.Equal(t, c.want, severitiesOfWords(t, m), name)
	}
}

// Conditions of JSONPath stand beside each other in an Or, and in an And where each is negated.
func TestSpareWordsInJSONPath(t *testing.T) {
	t.Parallel()
	const right, wrong = `{"Variable": "$.JobRun.JobRunState", "StringEquals": "SUCCEEDED"}`, `{"Variable": "$.JobRun.JobRunState", "StringEquals": "COMPLETED"}`
	for rule, want := range map[string][]diag.Severity{
		`{"Or": [` + right + `, ` + wrong + `], "Next": "Done"}`:                                                                     {diag.Note},
		`{"And": [{"Variable": "$.JobRun", "IsPresent": true}, {"Or": [` + right + `, ` + wrong + `]}], "Next": "Done"}`:             {diag.Note},
		`{"Variable": "$.JobRun.JobRunState", "StringEquals": "SUCCEEDED", "Next": "Done"}, {"Or": [` + wrong + `], "Next": "Done"}`: {diag.Note},
		`{"Or": [` + wrong + `], "Next": "Done"}`:                                                                                    {diag.Danger},
	} {
		m, err := asl.Parse([]byte(`{"StartAt": "Wait", "TimeoutSeconds": 3600, "States": {
			"Wait": {"Type": "Wait", "Seconds": 60, "Next": "Poll"},
			"Poll": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:getJobRun", "Parameters": {"JobName": "nightly", "RunId": "r"},
				"Retry": [{"ErrorEquals": ["States.TaskFailed"]}], "Next": "Choose"},
			"Choose": {"Type": "Choice", "Choices": [` + rule + `], "Default": "Wait"},
			"Done": {"Type": "Succeed"}}}`))
		require.NoError(t, err, rule)
		require.Equal(t, want, severitiesOfWords(t, m), rule)
	}
}

// A word that two rules have names a right one of each.
func TestSpareWordOfTwoRules(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse([]byte(`{"StartAt": "Wait", "TimeoutSeconds": 3600, "States": {
		"Wait": {"Type": "Wait", "Seconds": 60, "Next": "Poll"},
		"Poll": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:getJobRun", "Parameters": {"JobName": "nightly", "RunId": "r"},
			"Retry": [{"ErrorEquals": ["States.TaskFailed"]}], "Next": "Choose"},
		"Choose": {"Type": "Choice", "Default": "Wait", "Choices": [
			{"Variable": "$.JobRun.JobRunState", "StringEquals": "SUCCEEDED", "Next": "Done"}, {"Variable": "$.JobRun.JobRunState", "StringEquals": "DONE", "Next": "Done"},
			{"Variable": "$.JobRun.JobRunState", "StringEquals": "FAILED", "Next": "Bad"}, {"Variable": "$.JobRun.JobRunState", "StringEquals": "DONE", "Next": "Bad"}]},
		"Done": {"Type": "Succeed"}, "Bad": {"Type": "Fail", "Error": "Lost"}}}`))
	require.NoError(t, err)
	types, err := typecheck.New(m, typecheck.Options{Models: models.Load})
	require.NoError(t, err)
	found := lint.Check(m, lint.Options{Types: types})
	found = slices.DeleteFunc(found, func(f lint.Finding) bool { return f.Rule != typecheck.EnumValue })
	require.Len(t, found, 2)
	for _, f := range found {
		require.Contains(t, f.Message, `is never "DONE", and the word does nothing beside "SUCCEEDED" and "FAILED"`)
	}
}

// severitiesOfWords are those of the findings about words that no answer has.
func severitiesOfWords(t *testing.T, m *asl.StateMachine) []diag.Severity {
	t.Helper()
	types, err := typecheck.New(m, typecheck.Options{Models: models.Load})
	require.NoError(t, err)
	var found []diag.Severity
	for _, f := range lint.Check(m, lint.Options{Types: types}) {
		if f.Rule == typecheck.EnumValue {
			found = append(found, f.Severity)
		}
	}
	return found
}
