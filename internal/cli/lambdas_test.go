package cli

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// lambdaMachine invokes a function by name, by ARN and one that is mocked, and
// catches what a function fails with.
const lambdaMachine = `{"StartAt": "Name", "States": {
	"Name": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "enrich", "Payload": {"n": 1}},
		"ResultSelector": {"got.$": "$.Payload"}, "ResultPath": "$.name", "Next": "ARN"},
	"ARN": {"Type": "Task", "Resource": "arn:aws:lambda:eu-west-1:123456789012:function:enrich", "ResultPath": "$.arn", "Next": "Other"},
	"Other": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "other", "Payload": {}},
		"ResultPath": "$.other", "Next": "Bad"},
	"Bad": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "bad:7", "Payload": {}},
		"Catch": [{"ErrorEquals": ["NoLuck"], "ResultPath": "$.bad", "Next": "End"}], "End": true},
	"End": {"Type": "Pass", "End": true}}}`

// Lambda Tasks go to servers that invoke functions; what is named for a state wins.
func TestLambdaFunctionsBehindHTTP(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client is gone
		}
		if r.URL.Path == "/invoke/bad" {
			w.Header().Set("X-Amz-Function-Error", "Unhandled")
			fmt.Fprint(w, `{"errorType": "NoLuck", "errorMessage": "today"}`)
			return
		}
		fmt.Fprintf(w, `{"path": %q, "event": %s}`, r.URL.Path, body)
	}))
	defer server.Close()
	folder := t.TempDir()
	machine, mocks := filepath.Join(folder, "m.asl.json"), filepath.Join(folder, "mocks.json")
	require.NoError(t, os.WriteFile(machine, []byte(lambdaMachine), 0o600))
	require.NoError(t, os.WriteFile(mocks, []byte(`{"Other": {"return": {"Payload": "mocked"}}}`), 0o600))
	args := []string{"run", machine, "--lambda", "enrich=" + server.URL, "--lambda", "bad=" + server.URL + "/invoke/bad", "-q"}

	var stdout, stderr bytes.Buffer
	require.Equal(t, exitSucceeded, execute(t.Context(), append(args, "--mocks", mocks), &stdout, &stderr), "%s%s", &stdout, &stderr)
	shown := stdout.String()
	require.Contains(t, shown, `"path":"/2015-03-31/functions/enrich/invocations"`)
	require.Contains(t, shown, `"name":{"got":{"event":{"n":1},`)
	require.Contains(t, shown, `"arn":{"event":{"name":{"got":`)
	require.Contains(t, shown, `"other":{"Payload":"mocked"}`)
	require.Contains(t, shown, `"bad":{"Cause":"{\"errorMessage\":\"today\",\"errorType\":\"NoLuck\"}","Error":"NoLuck"}`)

	stdout.Reset()
	require.Equal(t, exitFailed, execute(t.Context(), args, &stdout, &stderr))
	require.Contains(t, stdout.String(), "Lambda.ResourceNotFoundException", "no function is called other")

	for flag, want := range map[string]string{
		"enrich":                `--lambda must be NAME=./bootstrap, NAME=go:./cmd/x or NAME=http://..., is "enrich"`,
		"enrich=./no-bootstrap": "--lambda enrich: function enrich: no executable at",
		"enrich=http:///":       `--lambda enrich: expected a URL such as http://127.0.0.1:9000, found "http:///"`,
	} {
		stderr.Reset()
		require.Equal(t, exitUsage, execute(t.Context(), []string{"run", machine, "--mocks", mocks, "--lambda", flag}, io.Discard, &stderr), flag)
		require.Contains(t, stderr.String(), want)
	}
}
