package run

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/runtimeapi"
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
	require.Equal(t, kit.ExitSucceeded, runCommand(t.Context(), append(args, "--mocks", mocks), &stdout, &stderr), "%s%s", &stdout, &stderr)
	shown := stdout.String()
	require.Contains(t, shown, `"path":"/2015-03-31/functions/enrich/invocations"`)
	require.Contains(t, shown, `"name":{"got":{"event":{"n":1},`)
	require.Contains(t, shown, `"arn":{"event":{"name":{"got":`)
	require.Contains(t, shown, `"other":{"Payload":"mocked"}`)
	require.Contains(t, shown, `"bad":{"Cause":"{\"errorType\": \"NoLuck\", \"errorMessage\": \"today\"}","Error":"NoLuck"}`)

	stdout.Reset()
	require.Equal(t, kit.ExitFailed, runCommand(t.Context(), args, &stdout, &stderr))
	require.Contains(t, stdout.String(), "Lambda.ResourceNotFoundException", "no function is called other")

	// What --lambda does not name goes where the flags send the service.
	stdout.Reset()
	require.Equal(t, kit.ExitSucceeded, runCommand(t.Context(), append(args, "--endpoint-url", "lambda="+server.URL), &stdout, &stderr), "%s%s", &stdout, &stderr)
	require.Contains(t, stdout.String(), `"path":"/2015-03-31/functions/other/invocations"`)

	for _, address := range []string{"http://u:SEKRET@h", "http://h/?key=SEKRET", "http://h/#SEKRET", "http://u:SEKRET%zz@h", "http://u:SEK#RET@h", "http://h:SEKRET@"} {
		for _, flags := range [][]string{{"--lambda", "enrich=" + address}, {"--endpoint-url", address}, {"--endpoint-url", "athena=" + address}, {"--s3-endpoint", address}} {
			stderr.Reset()
			require.Equal(t, kit.ExitUsage, runCommand(t.Context(), append([]string{"run", machine}, flags...), io.Discard, &stderr), flags)
			require.Contains(t, stderr.String(), "must be an http or https URL without user, query and fragment", flags)
			require.NotContains(t, stderr.String(), "SEK", flags)
		}
	}
	for flag, want := range map[string]string{
		"enrich=http://a --lambda enrich=http://b": `--lambda: the function "enrich" stands twice`,
		"enrich":                    `--lambda must be NAME=./bootstrap, NAME=go:./cmd/x or NAME=http://..., is "enrich"`,
		"enrich=./no-bootstrap":     "--lambda enrich: function enrich: no executable at",
		"enrich=http:///":           `--lambda enrich must be an http or https URL, is "http:///"`,
		"enrich=http://127.0.0.1:1": "--lambda: cannot reach http://127.0.0.1:1",
	} {
		stderr.Reset()
		require.Equal(t, kit.ExitUsage, runCommand(t.Context(), append([]string{"run", machine, "--mocks", mocks, "--lambda"}, strings.Fields(flag)...), io.Discard, &stderr), flag)
		require.Contains(t, stderr.String(), want)
	}
}

// What a server answers instead of a result: AWS's emulator has no header for a
// failure, a redirect is not followed, and a refusal is cut.
func TestAnswersOfFunctionServers(t *testing.T) {
	t.Parallel()
	const named = `{"errorType": "NoLuck", "errorMessage": "today", `
	answers := map[string]struct{ body, want string }{
		"node":   {named + `"trace": ["index.js:1"]}`, `"Error":"NoLuck"`},
		"python": {named + `"requestId": "1", "stackTrace": []}`, `"Error":"NoLuck"`},
		"result": {named + `"orders": 7}`, `"orders":7`},
		"number": {`{"errorType": 7, "errorMessage": "today"}`, `"errorType":7`},
		"null":   {`{"errorType": null, "errorMessage": "today"}`, `"errorType":null`},
		"late":   {"Task timed out after 3.00 seconds", `{"Cause":"{\"errorMessage\":\"Task timed out after 3.00 seconds\",\"errorType\":\"Sandbox.Timedout\"}","Error":"Sandbox.Timedout"}`},
		"dead":   {"", `Lambda did not return an error type. Returned payload: ","Error":"Lambda.Unknown"}`},
		"page":   {"<html>log in</html>", `Returned payload: <html>log in</html>","Error":"Lambda.Unknown"}`},
		"none":   {"null", "output        null\n"},
		"text":   {`"Task timed out after 3.00 seconds"`, `output        "Task timed out after 3.00 seconds"`},
	}
	var followed atomic.Int32
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, server.URL+"/other", http.StatusTemporaryRedirect)
		case "/other":
			followed.Add(1)
		case "/headed":
			w.Header().Set("X-Amz-Function-Error", "Unhandled")
			fmt.Fprint(w, `{"errorType": "NoLuck", "orders": 7}`)
		case "/long":
			fmt.Fprint(w, `"`+strings.Repeat("x", runtimeapi.MaxPayload)+`"`)
		case "/down":
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, "SERVICE IS DOWN")
		case "/busy":
			w.Header().Set("X-Amzn-Errortype", "TooManyRequestsException:http://internal/")
			w.Header().Set("X-Amzn-Requestid", "r-1")
			w.WriteHeader(http.StatusTooManyRequests)
			fmt.Fprint(w, `{"Type": "User", "message": "Rate Exceeded."}`)
		case "/closed":
			panic(http.ErrAbortHandler)
		case "/cut":
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, `{"half": `)
		case "/refused":
			w.WriteHeader(http.StatusTeapot)
			fmt.Fprint(w, "\"no  tea "+strings.Repeat("x", 10_000)+"\"")
		default:
			fmt.Fprint(w, answers[strings.TrimPrefix(r.URL.Path, "/")].body)
		}
	}))
	defer server.Close()
	machine := filepath.Join(t.TempDir(), "m.asl.json")
	require.NoError(t, os.WriteFile(machine, []byte(`{"StartAt": "Call", "States": {
		"Call": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "f", "Payload": {}},
			"Catch": [{"ErrorEquals": ["NoLuck", "Sandbox.Timedout", "Lambda.Unknown"], "Next": "End"}], "OutputPath": "$.Payload", "Next": "End"},
		"End": {"Type": "Pass", "End": true}}}`), 0o600))
	run := func(path string) (code int, stdout, stderr string) {
		var out, complaints bytes.Buffer
		code = runCommand(t.Context(), []string{"run", machine, "--lambda", "f=" + server.URL + "/" + path, "-q"}, &out, &complaints)
		return code, out.String(), complaints.String()
	}
	for path, tt := range answers {
		code, stdout, stderr := run(path)
		require.Equal(t, kit.ExitSucceeded, code, "%s: %s%s", path, stdout, stderr)
		require.Contains(t, stdout, tt.want, path)
	}
	code, stdout, stderr := run("headed")
	require.Equal(t, kit.ExitSucceeded, code, stderr)
	require.Contains(t, stdout, `{"Cause":"{\"errorType\": \"NoLuck\", \"orders\": 7}","Error":"NoLuck"}`)
	require.Zero(t, followed.Load())
	for path, want := range map[string][]string{
		"long":    {"Function.ResponseSizeTooLarge", "Response payload size exceeded maximum allowed payload size (6291456 bytes)."},
		"moved":   {"Lambda.AWSLambdaException", "the server names another URL: pass that one if the event may go there: " + server.URL + "/other (", "Status Code: 307"},
		"refused": {"Lambda.AWSLambdaException", "no tea xxx", "Status Code: 418"},
		"down":    {"Lambda.ServiceException", "SERVICE IS DOWN (Service: AWSLambda; Status Code: 503; Error Code: ServiceException; "},
		"busy":    {"Lambda.TooManyRequestsException", "Rate Exceeded. (Service: AWSLambda; Status Code: 429; Error Code: TooManyRequestsException; Request ID: r-1; "},
		"closed":  {"Lambda.SdkClientException", "Unable to execute HTTP request: ", "EOF"},
		"cut":     {"Lambda.SdkClientException", "unexpected EOF"},
	} {
		code, stdout, stderr := run(path)
		require.Equal(t, kit.ExitFailed, code, "%s: %s", path, stderr)
		require.Contains(t, stdout, "error         "+want[0]+"\n", path)
		for _, text := range want[1:] {
			require.Contains(t, stdout, text, path)
		}
		require.Less(t, len(stdout), 1500)
	}
}

// Retry and Catch act on a function whose server fails.
func TestFunctionServerThatFailsIsRetried(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if calls.Add(1) == 1 {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		panic(http.ErrAbortHandler) // it closes the connection
	}))
	defer server.Close()
	machine := filepath.Join(t.TempDir(), "m.asl.json")
	require.NoError(t, os.WriteFile(machine, []byte(`{"StartAt": "Call", "States": {
		"Call": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "f", "Payload": {}},
			"Retry": [{"ErrorEquals": ["Lambda.ServiceException"], "IntervalSeconds": 1, "MaxAttempts": 1}],
			"Catch": [{"ErrorEquals": ["Lambda.SdkClientException"], "Next": "Caught"}], "End": true},
		"Caught": {"Type": "Pass", "Result": "caught", "End": true}}}`), 0o600))
	var stdout, stderr bytes.Buffer
	require.Equal(t, kit.ExitSucceeded, runCommand(t.Context(), []string{"run", machine, "--lambda", "f=" + server.URL, "-q"}, &stdout, &stderr), "%s%s", &stdout, &stderr)
	require.Contains(t, stdout.String(), `"caught"`)
	require.EqualValues(t, 2, calls.Load())
}

// A run that an error ends has its history written, and goes on with --redrive. So has
// one whose result nobody takes.
func TestRunThatBreaksOffKeepsItsHistory(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // it starts no file by its mode
	}
	folder := t.TempDir()
	machine, program := filepath.Join(folder, "m.asl.json"), filepath.Join(folder, "program")
	history, page := filepath.Join(folder, "h.json"), filepath.Join(folder, "h.html")
	require.NoError(t, os.WriteFile(machine, []byte(`{"StartAt": "F", "States": {"F": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke",
		"Parameters": {"FunctionName": "f", "Payload": {}}, "OutputPath": "$.Payload", "End": true}}}`), 0o600))
	require.NoError(t, os.WriteFile(program, []byte{0, 1, 2}, 0o700))
	args := []string{"run", machine, "-q", "--name", "n", "--data", filepath.Join(folder, "d"), "--history", history, "--html", page, "--lambda"}
	var stderr bytes.Buffer
	require.Equal(t, kit.ExitFailed, runCommand(t.Context(), append(args, "f="+program), io.Discard, &stderr))
	require.Contains(t, stderr.String(), "cannot start")
	text, err := os.ReadFile(history)
	require.NoError(t, err)
	require.Contains(t, string(text), `"type": "ExecutionAborted"`)
	require.Contains(t, string(text), "cannot start")
	require.FileExists(t, page)

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `"done"`) }))
	defer server.Close()
	require.NoError(t, os.Remove(history))
	stderr.Reset()
	require.Equal(t, kit.ExitFailed, runCommand(t.Context(), append(args, "f="+server.URL, "--redrive"), full{}, &stderr), "%s", &stderr)
	require.Contains(t, stderr.String(), "write the result: ")
	text, err = os.ReadFile(history)
	require.NoError(t, err)
	require.Contains(t, string(text), `"type": "ExecutionRedriven"`)
	require.Contains(t, string(text), `"type": "ExecutionSucceeded"`)
}

// full is a disk without space.
type full struct{}

// Write implements io.Writer.
func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }
