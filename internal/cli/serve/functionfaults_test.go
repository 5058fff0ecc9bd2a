package serve

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/answers"
	"github.com/jobpoller/jobpoller/internal/cli/clitest"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
)

// foreignRuntime is a program that answers every event with [1].
const foreignRuntime = `package main

import (
	"net/http"
	"os"
	"strings"
)

func main() {
	api := "http://" + os.Getenv("AWS_LAMBDA_RUNTIME_API") + "/2018-06-01/runtime/invocation/"
	for {
		event, err := http.Get(api + "next")
		if err != nil {
			return
		}
		if _, err := http.Post(api+event.Header.Get("Lambda-Runtime-Aws-Request-Id")+"/response", "", strings.NewReader("[1]")); err != nil {
			return
		}
	}
}
`

// invoking is a machine that invokes functions, one after the other.
func invoking(names ...string) string {
	var states strings.Builder
	for i, name := range names {
		member := `"FunctionName": "` + name + `"`
		if strings.HasPrefix(name, "$") {
			member = `"FunctionName.$": "` + name + `"`
		}
		fmt.Fprintf(&states, `"T%d": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {%s, "Payload": {}},
			"ResultPath": "$.t%d", "Next": "T%d"},`, i, member, i, i+1)
	}
	return fmt.Sprintf(`{"StartAt": "T0", "States": {%s "T%d": {"Type": "Succeed"}}}`, &states, len(names))
}

// pathServer answers with the path of the request.
func pathServer(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, `{"from": %q}`, r.URL.Path) }))
	t.Cleanup(server.Close)
	return server.URL
}

// tryRun runs a machine, and returns all that it prints.
func tryRun(t *testing.T, want int, machine string, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	code := runCommand(t.Context(), append([]string{"run", machine, "-q"}, args...), &out, &out)
	require.Equal(t, want, code, "%s", &out)
	return out.String()
}

// A function whose name ends like a handler is somebody else's, and returns what it likes;
// so may one with the handler's name.
func TestFunctionsNamedLikeHandlers(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/shop\n", "main.go": foreignRuntime, "m.asl.json": invoking("nightly-run-job"),
		"both.asl.json": invoking("nightly-run-job", "nightly-check-status"), "own.asl.json": invoking("run-job", "check-status"),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	t.Chdir(folder)
	require.Contains(t, tryRun(t, kit.ExitSucceeded, "m.asl.json", "--lambda", "nightly-run-job=go:."), `"Payload":[1]`)
	require.Contains(t, tryRun(t, kit.ExitSucceeded, "both.asl.json", "--lambda", "nightly-run-job=go:.", "--endpoint-url", "lambda="+pathServer(t)), "nightly-check-status")
	require.Contains(t, tryRun(t, kit.ExitSucceeded, "own.asl.json", "--lambda", "run-job=go:.", "--lambda", "check-status=go:."), `"Payload":[1]`)
}

// A function that goes by its handler is called by run and by serve, also where only the run
// says its name, and before what is named for its resource.
func TestFunctionsByHandlerAtRunTime(t *testing.T) {
	t.Parallel()
	url := pathServer(t)
	flags := []string{"--lambda", "run-job=" + url, "--lambda", "check-status=" + url + "/check"}
	mocks := clitest.WriteFile(t, "mocks.json", `{"arn:aws:states:::lambda:invoke": {"return": {"Payload": "mocked"}}}`)
	const want, input = `"from":"/2015-03-31/functions/run-job/invocations"`, `{"f": "orders-run-job"}`
	for _, name := range []string{"orders-run-job", "$.f"} {
		definition := invoking(name)
		file := clitest.WriteFile(t, "m.asl.json", definition)
		t.Run("run "+name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, tryRun(t, kit.ExitSucceeded, file, "--lambda", "run-job="+url, "--input", input), want)
		})
		for _, more := range [][]string{nil, {"--mocks", mocks}} {
			t.Run(fmt.Sprint("serve ", name, len(more)), func(t *testing.T) {
				t.Parallel()
				s := startServing(t, io.Discard, slices.Concat([]string{"--time", "virtual", "--region", "us-east-1"}, flags, more)...)
				status, output, cause := s.execute(t, "m", definition, "", input)
				require.Equal(t, "SUCCEEDED", status, cause)
				require.Contains(t, output, want)
			})
		}
	}
}

// Only a request that is signed needs AWS settings.
func TestFunctionURLsNeedNoSettings(t *testing.T) {
	url := pathServer(t)
	t.Setenv("AWS_PROFILE", "nosuch")
	t.Setenv("AWS_CONFIG_FILE", os.DevNull)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", os.DevNull)
	file := clitest.WriteFile(t, "m.asl.json", invoking("f"))
	require.Contains(t, tryRun(t, kit.ExitSucceeded, file, "--lambda", "f="+url+"/mine"), `"from":"/mine"`)
	require.Contains(t, tryRun(t, kit.ExitFailed, file, "--lambda", "f="+url), "failed to get shared config profile")

	s := startServing(t, io.Discard, "--time", "virtual", "--region", "us-east-1", "--lambda", "f="+url+"/mine", "--lambda-endpoint", url)
	_, output, cause := s.execute(t, "m", invoking("f"), "", "{}")
	require.Contains(t, output, `"from":"/mine"`, cause)
	_, _, cause = s.execute(t, "other", invoking("g"), "", "{}")
	require.Contains(t, cause, "failed to get shared config profile")
}

// Two templates that say different things of a function of --lambda cannot both be right.
func TestFunctionsOfTwoTemplates(t *testing.T) {
	t.Parallel()
	template := func(stage, handler string) string {
		return clitest.WriteFile(t, stage+".yaml", `
Resources:
  F: {Type: AWS::Serverless::Function, Properties: {Handler: `+handler+`, Environment: {Variables: {STAGE: `+stage+`}}}}
  M:
    Type: AWS::StepFunctions::StateMachine
    Properties: {Definition: {StartAt: A, States: {A: {Type: Pass, End: true}}}}
`)
	}
	dev, prod, run := template("dev", "check-status"), template("prod", "check-status"), template("other", "run-job")
	for name, test := range map[string]struct {
		lambdas []string
		files   []string
		fails   bool
	}{
		"the function":            {[]string{"F=./program"}, []string{dev, prod}, true},
		"the same template":       {[]string{"F=./program"}, []string{dev, dev}, false},
		"another function":        {[]string{"G=./program"}, []string{dev, prod}, false},
		"by the same handler":     {[]string{"check-status=./program"}, []string{dev, prod}, false},
		"by a different handler":  {[]string{"check-status=./program"}, []string{dev, run}, true},
		"in the other order, too": {[]string{"check-status=./program"}, []string{run, dev}, true},
	} {
		l, err := answers.ReadFunctions(test.lambdas)
		require.NoError(t, err)
		_, err = l.WithTemplates(t.Context(), test.files)
		if !test.fails {
			require.NoError(t, err, name)
			continue
		}
		for _, file := range test.files {
			require.ErrorContains(t, err, file, name)
		}
	}
	var out bytes.Buffer
	require.Equal(t, kit.ExitUsage, runCommand(t.Context(), []string{"serve", "--port", "0", "--watch", dev, "--watch", prod, "--lambda", "F=./program"}, &out, &out), "%s", &out)
	require.Contains(t, out.String(), "F")
}

// Functions that do not run at one place have no start records in common.
func TestPollersAtTwoPlaces(t *testing.T) {
	t.Parallel()
	machine := clitest.WriteFile(t, "m.asl.json", invoking("run-job", "check-status"))
	flags := []string{"--lambda", "run-job=http://127.0.0.1:1/x", "--lambda", "check-status=./program"}
	const want = "--lambda: run-job is behind a URL and check-status runs here, and they work on the same start records: pass both as programs, or both as URLs"
	require.Contains(t, tryRun(t, kit.ExitUsage, machine, flags...), want)
	var out bytes.Buffer
	require.Equal(t, kit.ExitUsage, runCommand(t.Context(), append([]string{"serve", "--port", "0"}, flags...), &out, &out), "%s", &out)
	require.Contains(t, out.String(), want)
}
