package lint_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/lint"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
)

// The waiters of a model are checked against the operation where that is known.
func TestModelsOfOtherServices(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/model.json")
	require.NoError(t, err)
	only := lint.Options{Only: []string{lint.Path, lint.Unchecked}}
	findings, err := lint.File(text, lint.FileOptions{Options: only})
	require.NoError(t, err)
	require.Equal(t, []string{lint.Unchecked}, rulesOf(findings))
	require.Contains(t, findings[0].Message, "jobpoller does not know the operation")

	findings, err = lint.File(text, lint.FileOptions{Catalog: press(), Service: "press", Options: only})
	require.NoError(t, err)
	require.Equal(t, []string{lint.Path}, rulesOf(findings))
	_, err = lint.File(text, lint.FileOptions{Catalog: press(), Service: "pres"})
	require.ErrorIs(t, err, catalog.ErrNotFound)

	refused := strings.Replace(string(text), `"state": "success"`, `"state": "error"`, 1)
	findings, err = lint.File([]byte(refused), lint.FileOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{lint.Format}, rulesOf(findings))
}

// With the models of all services a waiter of any operation is checked, in each form that
// names its operation.
func TestOperationsOfAllModels(t *testing.T) {
	t.Parallel()
	const wrong = `{"acceptors": [{"state": "success", "matcher": {"output": {"path": "Stat", "expected": "COMPLETE", "comparator": "stringEquals"}}}]}`
	for form, c := range map[string]struct{ text, service, operation string }{
		"options":  {wrong, "acm-pca", "GetPolicy"},
		"a wrap":   {`{"service": "cognito-idp", "operation": "DescribeUserPool", "waiter": ` + wrong + `}`, "", ""},
		"a model":  {smithyModel("Elasticsearch Service", "DescribeElasticsearchDomain", wrong), "", ""},
		"known":    {wrong, "dynamodb", "DescribeLimits"},
		"botocore": {`{"version": 2, "waiters": {"RuleThere": {"operation": "DescribeRule", "delay": 5, "maxAttempts": 9, "acceptors": [{"matcher": "path", "argument": "Stat", "expected": "ENABLED", "state": "success"}]}}}`, "events", ""},
	} {
		o := lint.FileOptions{Operations: models.Operation, Service: c.service, Operation: c.operation, Options: lint.Options{Only: []string{lint.Path, lint.Unchecked}}}
		findings, err := lint.File([]byte(c.text), o)
		require.NoError(t, err, form)
		require.Equal(t, []string{lint.Path}, rulesOf(findings), form)
	}
	for _, c := range []lint.FileOptions{
		{Operations: models.Operation, Service: "cognito-idb", Operation: "DescribeUserPool"},
		{Operations: models.Operation, Service: "cognito-idp", Operation: "DescribeUserPol"},
		{Service: "cognito-idp", Operation: "DescribeUserPool"}, // the catalogue alone
	} {
		_, err := lint.File([]byte(wrong), c)
		require.ErrorIs(t, err, catalog.ErrNotFound, c.Operation)
	}
}

// smithyModel is the model of a service with one operation, which has a waiter.
func smithyModel(sdkID, operation, waiter string) string {
	return fmt.Sprintf(`{"smithy": "2.0", "shapes": {
		"example#Service": {"type": "service", "version": "1", "operations": [{"target": "example#%[2]s"}], "traits": {"aws.api#service": {"sdkId": %[1]q}}},
		"example#%[2]s": {"type": "operation", "traits": {"smithy.waiters#waitable": {"Done": %[3]s}}}}}`, sdkID, operation, waiter)
}

const misspelt = `{"state": "success", "matcher": {"output": {"path": "Job.Statsu", "expected": "DONE", "comparator": "stringEquals"}}}`

// The path Job.Statsu is found at its wrong member in every form of text.
func TestForms(t *testing.T) {
	t.Parallel()
	waiter := `{"acceptors": [` + misspelt + `]}`
	botocore := `{"operation": "DescribeJob", "delay": 5, "maxAttempts": 9, "acceptors": [
		{"matcher": "status", "expected": 404, "state": "retry"},
		{"matcher": "status", "expected": 418, "state": "retry"},
		{"matcher": "path", "argument": "Job.Statsu", "expected": "DONE", "state": "success"}]}`
	smithy, err := os.ReadFile("testdata/model.json")
	require.NoError(t, err)
	tests := []struct {
		name, text                string
		service, operation        string
		pointer, waiter, rejected string
	}{
		{name: "a waiter", text: waiter, service: "press", operation: "DescribeJob", pointer: "/acceptors/0/matcher/output/path", waiter: "Waiter"},
		{name: "waiters by name", text: `{"JobDone": ` + waiter + `}`, service: "press", operation: "DescribeJob", pointer: "/JobDone/acceptors/0/matcher/output/path", waiter: "JobDone"},
		{name: "with its operation", text: `{"service": "press", "operation": "DescribeJob", "waiter": ` + waiter + `}`, pointer: "/waiter/acceptors/0/matcher/output/path", waiter: "Waiter"},
		{name: "of a request", text: `{"job": "press:print", "waiterName": "JobDone", "waiter": ` + waiter + `}`, service: "press", operation: "DescribeJob", pointer: "/waiter/acceptors/0/matcher/output/path", waiter: "JobDone"},
		{name: "botocore's", text: botocore, service: "press", pointer: "/acceptors/2/argument", waiter: "Waiter"},
		{name: "botocore's by name", text: `{"job_done": ` + botocore + `}`, service: "press", pointer: "/job_done/acceptors/2/argument", waiter: "job_done"},
		{name: "waiters-2", text: `{"version": 2, "waiters": {"JobDone": ` + botocore + `}}`, service: "press", pointer: "/waiters/JobDone/acceptors/2/argument", waiter: "JobDone"},
		{name: "a model", text: string(smithy), pointer: "/shapes/example.press#DescribeJob/traits/smithy.waiters#waitable/JobDone/acceptors/0/matcher/output/path", waiter: "JobDone"},
		{name: "escaped", text: strings.Replace(waiter, "Job.Statsu", `J\u006fb.\"\u0053tatsu\"`, 1), service: "press", operation: "DescribeJob", pointer: "/acceptors/0/matcher/output/path", waiter: "Waiter"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.True(t, lint.IsWaiters([]byte(tt.text)))
			findings, err := lint.File([]byte(tt.text), lint.FileOptions{
				Catalog: press(), Service: tt.service, Operation: tt.operation, Options: lint.Options{Only: []string{lint.Path}},
			})
			require.NoError(t, err)
			require.Len(t, findings, 1)
			f := findings[0]
			require.Equal(t, tt.pointer, strings.ReplaceAll(f.Pointer, "~1", "/"))
			require.Equal(t, tt.waiter, f.Waiter)
			require.Equal(t, "Status", f.Suggestion)
			line := strings.Split(tt.text, "\n")[f.Line-1]
			rest := string([]rune(line)[f.Column-1:])
			require.True(t, strings.HasPrefix(rest, "Statsu") || strings.HasPrefix(rest, `\"\u0053tatsu`), rest)
		})
	}
}

// The members of a job's output are spelled in PascalCase.
func TestRequestsAreSpelledAsOutputs(t *testing.T) {
	t.Parallel()
	request := `{"job": "glue:StartJobRun", "waiter": {"acceptors": [
		{"state": "success", "matcher": {"output": {"path": "%s", "expected": "%s", "comparator": "stringEquals"}}}]}}`
	only := lint.FileOptions{Options: lint.Options{Only: []string{lint.Path, lint.EnumValue}}}
	findings, err := lint.File(fmt.Appendf(nil, request, "JobRun.JobRunState", "SUCCEEDED"), only)
	require.NoError(t, err)
	require.Empty(t, findings)

	states := strings.ReplaceAll(request, "glue:StartJobRun", "stepfunctions:StartExecution")
	findings, err = lint.File(fmt.Appendf(nil, states, "Status", "SUCCEEDED"), only)
	require.NoError(t, err)
	require.Empty(t, findings)
	findings, err = lint.File(fmt.Appendf(nil, states, "status", "SUCCEEDED"), only)
	require.NoError(t, err)
	require.Len(t, findings, 1)
	require.Equal(t, "Status", findings[0].Suggestion)
}

func TestTextsThatAreNoWaiters(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`1`, `[]`, `{}`, `null`, `{"StartAt": "A", "States": {}}`, `{"a": {"b": 1}}`, `{"waiter": 1}`, `{"smithy": "2.0", "shapes": {}}`} {
		_, err := lint.File([]byte(text), lint.FileOptions{Catalog: press()})
		require.ErrorIs(t, err, lint.ErrNoWaiters, text)
	}
	findings, err := lint.File([]byte("{\n  \"acceptors\": [}"), lint.FileOptions{Catalog: press()})
	require.NoError(t, err)
	require.Len(t, findings, 1)
	require.Equal(t, lint.Format, findings[0].Rule)
	require.Equal(t, 2, findings[0].Line)
	require.False(t, lint.IsWaiters([]byte("{")))
}

func TestUnknownOperations(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ service, operation, message string }{
		{"pres", "DescribeJob", `the catalogue has no service "pres" (did you mean "press"?)`},
		{"press", "DescribeJobs", `press has no operation "DescribeJobs" (did you mean "DescribeJob"?)`},
	} {
		_, err := lint.File([]byte(`{"acceptors": [`+misspelt+`]}`), lint.FileOptions{Catalog: press(), Service: tt.service, Operation: tt.operation})
		require.ErrorIs(t, err, catalog.ErrNotFound)
		require.EqualError(t, err, tt.message)
	}
}

func TestFindingsInJSON(t *testing.T) {
	t.Parallel()
	findings := lintFile(t, "testdata/rules/unclassified.wrong.json", lint.FileOptions{Catalog: press()})
	text, err := json.Marshal(findings)
	require.NoError(t, err)
	var got []map[string]any
	require.NoError(t, json.Unmarshal(text, &got))
	require.Len(t, got, 1)
	require.Equal(t, "unclassified", got[0]["rule"])
	require.Equal(t, "WARNING", got[0]["severity"])
	require.Equal(t, "JobDone", got[0]["waiter"])
	require.InEpsilon(t, 1.0, got[0]["acceptor"], 0)
	require.Equal(t, []any{map[string]any{"value": "FAILED", "verdict": "failure"}}, got[0]["values"])

	text, err = json.Marshal(lintFile(t, "testdata/rules/late.wrong.json", lint.FileOptions{Catalog: press()}))
	require.NoError(t, err)
	got = nil
	require.NoError(t, json.Unmarshal(text, &got))
	require.InEpsilon(t, 3600.0, got[0]["lateness"].(map[string]any)["jobSeconds"], 0)
	require.NotContains(t, got[0], "acceptor")
}

// No text makes lint panic, and what it places is in the text.
func FuzzFile(f *testing.F) {
	files, err := filepath.Glob("testdata/*/*.json")
	require.NoError(f, err)
	require.NotEmpty(f, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(string(text))
	}
	catalogue := press()
	f.Fuzz(func(t *testing.T, text string) {
		findings, err := lint.File([]byte(text), lint.FileOptions{Catalog: catalogue})
		if err != nil {
			require.True(t, strings.HasPrefix(err.Error(), "no waiters: ") || strings.Contains(err.Error(), " has no "), err)
			return
		}
		lines := strings.Split(text, "\n")
		for _, found := range findings {
			require.NotEmpty(t, found.Message)
			require.LessOrEqual(t, found.Line, len(lines))
		}
	})
}
