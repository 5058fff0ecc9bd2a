//go:build e2e

package cli

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/cli/clitest"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/lambdas/handler"
)

// codeDeploy is CodeDeploy with a deployment that has ended, as docs/example calls it. It
// counts the starts.
func codeDeploy(t *testing.T) (url string, starts *atomic.Int32) {
	t.Helper()
	starts = &atomic.Int32{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		answer := map[string]any{"deploymentInfo": map[string]any{"deploymentId": "d-1", "status": "Succeeded"}}
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".CreateDeployment") {
			starts.Add(1)
			answer = map[string]any{"deploymentId": "d-1"}
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(server.Close)
	return server.URL, starts
}

// The functions of docs/guide/drivers.md run the shipped loop, with
// the handler and the store that the command gives them. Once the process said that its
// handler is "bootstrap".
func TestE2EDriverOfOnesOwn(t *testing.T) {
	t.Chdir("../..")
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "JOBPOLLER_BUCKET", "JOBPOLLER_TABLE"} {
		t.Setenv(name, "")
	}
	const request = `{"job": "codedeploy:CreateDeployment", "maxWaitSeconds": 60, "arguments": {"ApplicationName": "shop", "DeploymentGroupName": "blue"}}`
	url, starts := codeDeploy(t)
	own := []string{"--lambda", "run-job=go:./docs/example", "--lambda", "check-status=go:./docs/example", "--endpoint-url", "codedeploy=" + url}
	try := func(args ...string) (code int, stdout string) {
		var out, stderr bytes.Buffer
		code = runCommand(t.Context(), args, &out, &stderr)
		return code, out.String() + stderr.String()
	}

	data := t.TempDir()
	for range 2 { // the second goes on with the job of the first
		code, said := try(append([]string{"run", "--input", request, "-q", "--data", data, "--name", "release"}, own...)...)
		require.Equal(t, kit.ExitSucceeded, code, said)
		require.Contains(t, said, `"job":{"DeploymentId":"d-1"}`)
		require.EqualValues(t, 1, starts.Load())
	}
	code, said := try("run", "statemachines/lambda-loop.asl.json", "--input", request, "-q", "--endpoint-url", "codedeploy="+url,
		"--lambda", "jobpoller-runjob=go:./docs/example#run-job", "--lambda", "jobpoller-checkstatus=go:./docs/example")
	require.Equal(t, kit.ExitSucceeded, code, said)

	// The command of a start without an answer works as it is printed, and the run goes on.
	silent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }))
	t.Cleanup(silent.Close)
	unclear := []string{
		"run", "statemachines/lambda-loop.asl.json", "--input", request, "-q", "--data", filepath.Join(t.TempDir(), "it's"), "--name", "unclear", "-o", "json",
		"--lambda", "jobpoller-runjob=go:./docs/example", "--lambda", "jobpoller-checkstatus=go:./docs/example", "--endpoint-url", "codedeploy=" + silent.URL,
	}
	var answered, problems bytes.Buffer
	require.Equal(t, kit.ExitFailed, runCommand(t.Context(), unclear, &answered, &problems), "%s%s", &answered, &problems)
	var failed struct {
		Error string `json:"error"`
		Cause string `json:"cause"`
	}
	require.NoError(t, json.Unmarshal(answered.Bytes(), &failed))
	require.Equal(t, handler.ErrorJobStartUnknown, failed.Error)
	var cause struct {
		ErrorMessage string `json:"errorMessage"`
	}
	require.NoError(t, json.Unmarshal([]byte(failed.Cause), &cause))
	adopt := regexp.MustCompile(`(?m)^If it runs: (.*)$`).FindStringSubmatch(cause.ErrorMessage)
	require.NotNil(t, adopt, cause.ErrorMessage)
	words := clitest.SplitShell(strings.NewReplacer("NAME", "DeploymentId", "VALUE", "d-1").Replace(adopt[1]))
	code, said = try(append(words[1:], "--yes")...)
	require.Equal(t, kit.ExitSucceeded, code, said)
	unclear[len(unclear)-1] = "codedeploy=" + url
	code, said = try(append(unclear, "--redrive")...)
	require.Equal(t, kit.ExitSucceeded, code, said)
	require.EqualValues(t, 2, starts.Load(), "the job was not started again")

	// Without the handler the error says what to pass.
	code, said = try("run", "statemachines/lambda-loop.asl.json", "--input", request, "-q",
		"--lambda", "jobpoller-runjob=go:./docs/example#main", "--lambda", "jobpoller-checkstatus=go:./docs/example")
	require.Equal(t, kit.ExitFailed, code, said)
	require.Contains(t, said, `is \"main\": correct its setting Handler; for jobpoller run and serve, pass --lambda NAME=go:./functions#run-job`)

	// An environment that the functions refuse, by the names of its variables.
	t.Setenv("JOBPOLLER_LOG_LEVEL", "loud")
	code, said = try(append([]string{"run", "--input", request, "-q"}, own...)...)
	require.Equal(t, kit.ExitFailed, code, said)
	require.Contains(t, said, "JobPoller.Configuration")
	require.Contains(t, said, "JOBPOLLER_LOG_LEVEL")
}
