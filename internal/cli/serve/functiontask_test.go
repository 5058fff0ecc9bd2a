package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/cli/clitest"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/loopback"
)

// lambdaService is a Lambda service that takes signed requests alone.
type lambdaService struct {
	*httptest.Server

	mu    sync.Mutex
	paths []string
}

func newLambdaService(t *testing.T, keys loopback.Keys) *lambdaService {
	t.Helper()
	s := &lambdaService{}
	signed := loopback.Signed{Service: loopback.Lambda, Keys: []loopback.Keys{keys}, Refuse: func(w http.ResponseWriter, _ *http.Request, why *loopback.Refusal) {
		w.Header().Set("X-Amzn-Errortype", why.Code)
		w.WriteHeader(why.Status)
		fmt.Fprintf(w, `{"message": %q}`, why.Message)
	}}
	s.Server = httptest.NewServer(signed.Require(s))
	t.Cleanup(s.Close)
	return s
}

// ServeHTTP invokes a function.
func (s *lambdaService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.paths = append(s.paths, r.URL.Path)
	s.mu.Unlock()
	payload, _ := io.ReadAll(r.Body)
	switch {
	case strings.Contains(r.URL.Path, "enrich"):
		fmt.Fprintf(w, `{"got": %s}`, payload)
	case strings.Contains(r.URL.Path, "fails"):
		w.Header().Set("X-Amz-Function-Error", "Unhandled")
		_, _ = io.WriteString(w, `{"errorType": "Boom", "errorMessage": "it fails"}`)
	case strings.Contains(r.URL.Path, "busy"):
		w.Header().Set("X-Amzn-Errortype", "TooManyRequestsException")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, `{"message": "Rate Exceeded."}`)
	default:
		w.Header().Set("X-Amzn-Errortype", "ServiceException")
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = io.WriteString(w, `{"message": "it is broken"}`)
	}
}

// functionTasks calls functions by their ARNs, and by lambda:invoke.
func functionTasks() string {
	var states strings.Builder
	functions := []string{"enrich", "fails", "busy", "broken"}
	for _, name := range functions {
		catch := fmt.Sprintf(`"ResultPath": "$.%[1]s.%%[1]s", "Catch": [{"ErrorEquals": ["States.ALL"], "ResultPath": "$.%[1]s.%%[1]s", "Next": "%%[2]s"}], "Next": "%%[2]s"`, name)
		next := "Done"
		if i := slices.Index(functions, name) + 1; i < len(functions) {
			next = functions[i]
		}
		fmt.Fprintf(&states, `"%[1]s": {"Type": "Task", "InputPath": "$.payload", "Resource": "arn:aws:lambda:eu-west-1:123456789012:function:%[1]s:live", %[2]s},
			"%[1]s-invoke": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {
				"FunctionName": "arn:aws:lambda:eu-west-1:123456789012:function:%[1]s:live", "Payload.$": "$.payload"},
				"ResultSelector": {"Payload.$": "$.Payload"}, %[3]s},`, name, fmt.Sprintf(catch, "direct", name+"-invoke"), fmt.Sprintf(catch, "invoke", next))
	}
	return `{"StartAt": "enrich", "States": {` + states.String() + `"Done": {"Type": "Succeed"}}}`
}

// A Task whose resource is the ARN of a function went nowhere with --forward and
// --endpoint-url, and unsigned with --lambda-endpoint: it goes where lambda:invoke goes.
func TestFunctionARNsAreInvokes(t *testing.T) { //nolint:paralleltest // it sets variables
	keys := loopback.Keys{AccessKeyID: "AKIAFUNCTIONS", SecretAccessKey: "their secret"}
	lambda := newLambdaService(t, keys)
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": keys.AccessKeyID, "AWS_SECRET_ACCESS_KEY": keys.SecretAccessKey, "AWS_SESSION_TOKEN": "", "AWS_ENDPOINT_URL_LAMBDA": lambda.URL,
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
	} {
		t.Setenv(name, value)
	}
	definition := functionTasks()
	file := clitest.WriteFile(t, "m.asl.json", definition)
	const input = `{"payload": {"n": 12345678901234567}, "enrich": {}, "fails": {}, "busy": {}, "broken": {}}`
	var each []string
	for _, name := range []string{"enrich", "fails", "busy", "broken"} {
		each = append(each, "--lambda", name+"="+lambda.URL)
	}
	for name, test := range map[string]struct {
		flags []string
		serve bool // alone
		whole bool // the ARN is the name of the function in the request
	}{
		"lambda":          {flags: each},
		"lambda-endpoint": {flags: []string{"--lambda-endpoint", lambda.URL}, serve: true},
		"endpoint-url":    {flags: []string{"--endpoint-url", lambda.URL}, whole: true},
		"its own URL":     {flags: []string{"--endpoint-url", "lambda=" + lambda.URL}, whole: true},
		"forward":         {flags: []string{"--forward", lambda.URL}, serve: true, whole: true},
		"AWS":             {flags: []string{"--aws=lambda"}, whole: true},
	} {
		check := func(output string) {
			t.Helper()
			require.Len(t, lambda.paths, 8, name)
			for _, path := range lambda.paths {
				require.Equal(t, test.whole, strings.HasPrefix(path, "/2015-03-31/functions/arn:aws:lambda:eu-west-1:123456789012:function:"), "%s: %s", name, path)
				require.Equal(t, test.whole, strings.HasSuffix(path, ":live/invocations"), "%s: %s", name, path)
			}
			lambda.paths = nil
			var got map[string]struct {
				Direct map[string]any `json:"direct"`
				Invoke map[string]any `json:"invoke"`
			}
			decoder := json.NewDecoder(strings.NewReader(output))
			decoder.UseNumber()
			_ = decoder.Decode(&got)
			require.Equal(t, map[string]any{"got": map[string]any{"n": json.Number("12345678901234567")}}, got["enrich"].Direct, "%s: %s", name, output)
			require.Equal(t, map[string]any{"Payload": got["enrich"].Direct}, got["enrich"].Invoke, name)
			require.Equal(t, map[string]any{"Error": "Boom", "Cause": `{"errorType": "Boom", "errorMessage": "it fails"}`}, got["fails"].Direct, name)
			for state, want := range map[string]string{"fails": "Boom", "busy": "Lambda.TooManyRequestsException", "broken": "Lambda.ServiceException"} {
				require.Equal(t, want, got[state].Direct["Error"], "%s: %v", name, got[state])
				require.Equal(t, got[state].Invoke, got[state].Direct, name)
			}
		}
		flags := append([]string{"--region", "eu-west-1"}, test.flags...)
		s := startServing(t, io.Discard, flags...)
		status, output, cause := s.execute(t, "m", definition, "", input)
		require.Equal(t, "SUCCEEDED", status, "%s: %s", name, cause)
		check(output)
		if test.serve {
			continue
		}
		var stdout, stderr bytes.Buffer
		code := runCommand(t.Context(), append([]string{"run", file, "--input", input, "-o", "json"}, flags...), &stdout, &stderr)
		require.Equal(t, kit.ExitSucceeded, code, "%s: %s%s", name, &stdout, &stderr)
		var ran struct {
			Output json.RawMessage `json:"output"`
		}
		require.NoError(t, json.Unmarshal(stdout.Bytes(), &ran), "%s", &stdout)
		check(string(ran.Output))
	}
}
