package catalog_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// requirePlaces checks that the error is Problems, each with a place in text.
func requirePlaces(t *testing.T, text []byte, err error) {
	t.Helper()
	problems, ok := errors.AsType[diag.Problems](err)
	require.True(t, ok, "%T", err)
	lines := 1 + bytes.Count(text, []byte("\n"))
	for _, p := range problems {
		require.Positive(t, p.Line)
		require.LessOrEqual(t, p.Line, lines)
		require.Positive(t, p.Column)
		require.NotEmpty(t, p.Message)
	}
}

// document is a waiters-2.json with one waiter of these acceptors and one that
// succeeds at last.
func document(acceptors string) []byte {
	return []byte(`{"version": 2, "waiters": {"Done": {"operation": "Describe", "delay": 5, "maxAttempts": 12, "acceptors": [` +
		acceptors + `, {"state": "success", "matcher": "path", "argument": "last", "expected": "X"}]}}}`)
}

func TestReadBotocore(t *testing.T) {
	t.Parallel()
	got, err := catalog.ReadBotocore([]byte(`{
  "version": 2,
  "waiters": {
    "OvenHot": {
      "type": "api",
      "description": "Wait until the oven is hot.",
      "operation": "DescribeOven",
      "delay": 15,
      "maxAttempts": 40,
      "acceptors": [{"state": "success", "matcher": "status", "expected": 200}]
    },
    "BreadBaked": {
      "operation": "DescribeBread",
      "delay": 300,
      "maxAttempts": 24,
      "acceptors": [{"state": "success", "matcher": "status", "expected": 204}]
    }
  }
}`))
	require.NoError(t, err)
	anyResponse := []pollcore.Acceptor{{State: pollcore.Success, Matcher: pollcore.AnyResponse()}}
	require.Equal(t, []catalog.Definition{
		{
			Operation: "DescribeOven", TotalWait: 10 * time.Minute,
			Waiter: &pollcore.Waiter{Name: "OvenHot", Documentation: "Wait until the oven is hot.", MinDelay: 15, Acceptors: anyResponse},
		},
		{
			Operation: "DescribeBread", TotalWait: 2 * time.Hour,
			Waiter: &pollcore.Waiter{Name: "BreadBaked", MinDelay: 300, MaxDelay: 300, Acceptors: anyResponse},
		},
	}, got)
}

// TestFormsAgree reads the same waiter in both forms.
func TestFormsAgree(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name             string
		botocore, smithy string
	}{
		{
			"path",
			`{"state": "retry", "matcher": "path", "argument": "a.b", "expected": "X"}`,
			`{"state": "retry", "matcher": {"output": {"path": "a.b", "expected": "X", "comparator": "stringEquals"}}}`,
		},
		{
			"pathAll",
			`{"state": "failure", "matcher": "pathAll", "argument": "Groups[].State", "expected": "GONE"}`,
			`{"state": "failure", "matcher": {"output": {"path": "Groups[].State", "expected": "GONE", "comparator": "allStringEquals"}}}`,
		},
		{
			"pathAny",
			`{"expected": "BROKEN", "argument": "Groups[].State", "matcher": "pathAny", "state": "failure"}`,
			`{"state": "failure", "matcher": {"output": {"path": "Groups[].State", "expected": "BROKEN", "comparator": "anyStringEquals"}}}`,
		},
		{
			"path with a boolean",
			"{\"state\": \"success\", \"matcher\": \"path\", \"argument\": \"length(Groups[]) > `0`\", \"expected\": true}",
			"{\"state\": \"success\", \"matcher\": {\"output\": {\"path\": \"length(Groups[]) > `0`\", \"expected\": \"true\", \"comparator\": \"booleanEquals\"}}}",
		},
		{
			"path with a number",
			`{"state": "success", "matcher": "path", "argument": "Job.Progress", "expected": 1e2}`,
			"{\"state\": \"success\", \"matcher\": {\"output\": {\"path\": \"Job.Progress == `1e2`\", \"expected\": \"true\", \"comparator\": \"booleanEquals\"}}}",
		},
		{
			"expression with a number",
			`{"state": "success", "matcher": "path", "argument": "a || b", "expected": 0}`,
			"{\"state\": \"success\", \"matcher\": {\"output\": {\"path\": \"(a || b) == `0`\", \"expected\": \"true\", \"comparator\": \"booleanEquals\"}}}",
		},
		{
			"pathAll with a number",
			`{"state": "success", "matcher": "pathAll", "argument": "Tasks[].Exit", "expected": 0}`,
			"{\"state\": \"success\", \"matcher\": {\"output\": {\"path\": \"Tasks[].Exit | type(@) == 'array' && length(@) > `0` && length(@[?@ == `0`]) == length(@)\", \"expected\": \"true\", \"comparator\": \"booleanEquals\"}}}",
		},
		{
			"pathAny with a boolean",
			`{"state": "failure", "matcher": "pathAny", "argument": "Tasks[].Alive", "expected": false}`,
			"{\"state\": \"failure\", \"matcher\": {\"output\": {\"path\": \"Tasks[].Alive | type(@) == 'array' && contains(@, `false`)\", \"expected\": \"true\", \"comparator\": \"booleanEquals\"}}}",
		},
		{
			"error by code",
			`{"state": "retry", "matcher": "error", "expected": "InvalidInstanceID.NotFound"}`,
			`{"state": "retry", "matcher": {"errorType": "InvalidInstanceID.NotFound"}}`,
		},
		{
			"any error",
			`{"state": "success", "matcher": "error", "expected": true}`,
			`{"state": "success", "matcher": {"success": false}}`,
		},
		{
			"no error",
			`{"state": "retry", "matcher": "error", "expected": false}`,
			`{"state": "retry", "matcher": {"success": true}}`,
		},
		{
			"status of success",
			`{"state": "retry", "matcher": "status", "expected": 200}`,
			`{"state": "retry", "matcher": {"success": true}}`,
		},
		{
			"status with a name",
			`{"state": "retry", "matcher": "status", "expected": 404}`,
			`{"state": "retry", "matcher": {"errorType": "NotFound"}}`,
		},
		{
			"status of several errors",
			`{"state": "retry", "matcher": "status", "expected": 500}`,
			`{"state": "retry", "matcher": {"errorType": "InternalError"}}, {"state": "retry", "matcher": {"errorType": "Unavailable"}}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			fromBotocore, err := catalog.ReadBotocore(document(tt.botocore), catalog.ErrorsForStatus(errorsForStatus))
			require.NoError(t, err)
			fromSmithy, err := catalog.ReadSmithy([]byte(`{"smithy": "2.0", "shapes": {"a#Describe": {"type": "operation", "traits": {
				"smithy.waiters#waitable": {"Done": {"minDelay": 5, "acceptors": [` + tt.smithy +
				`, {"state": "success", "matcher": {"output": {"path": "last", "expected": "X", "comparator": "stringEquals"}}}]}}}}}}`))
			require.NoError(t, err)
			require.Len(t, fromBotocore, 1)
			require.Len(t, fromSmithy, 1)
			require.Equal(t, fromSmithy[0].Waiter, fromBotocore[0].Waiter)
			require.Equal(t, fromSmithy[0].Operation, fromBotocore[0].Operation)
			require.Equal(t, time.Minute, fromBotocore[0].TotalWait)
		})
	}
}

// count is how often a list holds the value; 0 if it is not a list.
func count(list, value any) int {
	n := 0
	items, _ := list.([]any)
	for _, item := range items {
		if item == value {
			n++
		}
	}
	return n
}

// isFalse tells whether JMESPath takes the value for false.
func isFalse(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	default:
		return false
	}
}

// TestComparisonsKeepTheirMeaning runs the comparisons that Smithy has no
// comparator for: path is equality, pathAll and pathAny want a list, pathAll
// one that is not empty.
func TestComparisonsKeepTheirMeaning(t *testing.T) {
	t.Parallel()
	values := []string{
		`null`, `5`, `5.0`, `0`, `true`, `false`, `"5"`, `"abc"`, `""`, `{}`, `{"a": 5}`, `[]`, `[5]`, `[5, 5.0]`, `[5, 6]`,
		`[0]`, `[null]`, `[5, null]`, `["5"]`, `[true]`, `[true, true]`, `[true, false]`, `[false]`, `[[5]]`, `[[true]]`,
	}
	for _, expected := range []string{`5`, `0`, `true`, `false`} {
		for _, argument := range []string{"a.b", "a.b || a.c"} {
			for matcher, holds := range map[string]func(value, want any) bool{
				"path":    func(value, want any) bool { return value == want },
				"pathAll": func(value, want any) bool { return count(value, want) > 0 && count(value, want) == len(value.([]any)) },
				"pathAny": func(value, want any) bool { return count(value, want) > 0 },
			} {
				definitions, err := catalog.ReadBotocore(document(
					`{"state": "failure", "matcher": "` + matcher + `", "argument": "` + argument + `", "expected": ` + expected + `}`))
				require.NoError(t, err)
				check, err := pollcore.Compile[any, any](definitions[0].Waiter)
				require.NoError(t, err)
				for _, value := range values {
					var output, want any
					require.NoError(t, json.Unmarshal([]byte(`{"a": {"b": `+value+`}}`), &output))
					require.NoError(t, json.Unmarshal([]byte(expected), &want))
					b := output.(map[string]any)["a"].(map[string]any)["b"]
					if strings.Contains(argument, "||") && isFalse(b) {
						b = nil // what a.c is
					}
					verdict := pollcore.Retry
					if holds(b, want) {
						verdict = pollcore.Failure
					}
					require.Equal(t, verdict, check.Check(nil, output, nil).Verdict, "%s %s %s of %s", matcher, argument, expected, value)
				}
			}
		}
	}
}

func TestReadBotocoreReportsEverything(t *testing.T) {
	t.Parallel()
	_, err := catalog.ReadBotocore([]byte(`{
  "version": 3,
  "waiter": {},
  "waiters": {
    "lower": {"operation": "", "delay": 0, "maxAttempts": 2.5, "type": "apj", "acceptors": []},
    "Many": {"operation": "Describe", "delay": 2000000000, "maxAttempts": 2000000000, "acceptors": [
      {"state": "succes", "matcher": "path", "argument": "a", "expected": "X"},
      {"state": "success", "matcher": "pathAl", "expected": "X"},
      {"state": "success", "matcher": "path", "expected": "X"},
      {"state": "success", "matcher": "error", "argument": "a", "expected": "X"},
      {"state": "success", "matcher": "error", "expected": 404},
      {"state": "success", "matcher": "error", "expected": "not a name"},
      {"state": "success", "matcher": "status", "expected": 404},
      {"state": "success", "matcher": "status", "expected": "200"},
      {"state": "success", "matcher": "path", "argument": "", "expected": "X"},
      {"state": "success", "matcher": "path", "argument": "a", "expected": null},
      {"state": "success", "matcher": "path"},
      {"state": "success", "matcher": "status", "expected": 99, "comment": "?"},
      3
    ]},
    "None": [],
    "NONE": []
  }
}`))
	for _, want := range []string{
		"26 problems",
		"2:14: /version: expected version 2 of the format, found a number (3)",
		`/waiter: a waiters-2 document has no member "waiter" (did you mean "waiters"?)`,
		`5:14: /waiters/lower: waiter name "lower" must be UpperCamelCase`,
		`/waiters/lower/operation: expected the name of an operation, found an empty string`,
		`/waiters/lower/delay: expected a whole number from 1 to 2147483647, found a number (0)`,
		`/waiters/lower/maxAttempts: expected a whole number from 1 to 2147483647, found a number (2.5)`,
		`/waiters/lower/type: expected one of api, found a string ("apj") (did you mean "api"?)`,
		`/waiters/lower/acceptors: no acceptor has the state success`,
		`/waiters/Many/maxAttempts: delay times maxAttempts must be at most 2147483647 seconds, got 4000000000000000000`,
		`7:17: /waiters/Many/acceptors/0/state: expected one of success, failure, retry, found a string ("succes") (did you mean "success"?)`,
		`/waiters/Many/acceptors/1/matcher: expected one of path, pathAll, pathAny, error, status, found a string ("pathAl")`,
		`/waiters/Many/acceptors/2: matcher "path" needs the member "argument", a JMESPath expression`,
		`/waiters/Many/acceptors/3/argument: matcher "error" takes no argument`,
		`/waiters/Many/acceptors/4/expected: expected an error code, true or false, found a number (404)`,
		`12:60: /waiters/Many/acceptors/5/expected: errorType must be an error code or shape name, got "not a name"`,
		`13:61: /waiters/Many/acceptors/6/expected: status 404 of Describe has no Smithy form, which knows errors by name; name its errors with ErrorsForStatus`,
		`/waiters/Many/acceptors/7/expected: expected a whole number from 100 to 599, found a string ("200")`,
		`15:59: /waiters/Many/acceptors/8/argument: path must be a JMESPath expression, got an empty string`,
		`/waiters/Many/acceptors/9/expected: expected a string, a number or a boolean, found null`,
		`/waiters/Many/acceptors/10: an acceptor needs the member "expected"`,
		`/waiters/Many/acceptors/11/comment: an acceptor has no member "comment"`,
		`/waiters/Many/acceptors/12: expected an acceptor, found a number (3)`,
		`/waiters/None: expected a waiter, found an array`,
		`22:5: /waiters/NONE: waiter names must differ in more than case: None and NONE`,
	} {
		require.ErrorContains(t, err, want)
	}
	for text, want := range map[string]string{
		`{`:                             "not valid JSON",
		`{"version": 2}`:                `a waiters-2 document needs the member "waiters"`,
		`{"version": 2, "waiters": []}`: "expected an object of waiters by name, found an array",
		`7`:                             "expected a waiters-2 document, found a number (7)",
	} {
		_, err := catalog.ReadBotocore([]byte(text))
		require.ErrorContains(t, err, want)
	}
}

// errorsForStatus names the errors of the operation Describe.
func errorsForStatus(operation string, status int) []string {
	if operation != "Describe" {
		return nil
	}
	return map[int][]string{404: {"NotFound"}, 500: {"InternalError", "Unavailable"}}[status]
}

// A status of several errors becomes several acceptors; what is wrong after it
// is still reported where it stands.
func TestReadBotocorePlaceAfterStatus(t *testing.T) {
	t.Parallel()
	_, err := catalog.ReadBotocore(document(
		`{"state": "retry", "matcher": "status", "expected": 500}, {"state": "retry", "matcher": "error", "expected": "not a name"}`,
	), catalog.ErrorsForStatus(errorsForStatus))
	require.ErrorContains(t, err, "/acceptors/1/expected: errorType must be an error code or shape name")
}

// FuzzReadBotocore: whatever is read is a valid waiter that survives its
// Smithy form, and nothing panics.
func FuzzReadBotocore(f *testing.F) {
	f.Add(document(`{"state": "retry", "matcher": "pathAll", "argument": "a[]", "expected": true}`))
	f.Add(document(`{"state": "retry", "matcher": "status", "expected": 404}`))
	f.Add(document(`{"state": "retry", "matcher": "error", "expected": ""}`))
	f.Add([]byte(`{"version":2,"waiters":{"A":{"delay":1,"maxAttempts":"","acceptors":[{"matcher":"error"}]}}}`))
	f.Add([]byte("{\"version\":2,\n\"waiters\":{\"é\xff\":3}}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		definitions, err := catalog.ReadBotocore(text)
		if err != nil {
			requirePlaces(t, text, err)
			return
		}
		for _, d := range definitions {
			require.NotEmpty(t, d.Operation)
			require.Positive(t, d.TotalWait)
			form, err := json.Marshal(d.Waiter)
			require.NoError(t, err)
			again, err := pollcore.ParseWaiter(d.Waiter.Name, form)
			require.NoError(t, err)
			require.Equal(t, d.Waiter, again)
		}
	})
}
