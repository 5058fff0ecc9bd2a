package tests_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/builtin"
	"github.com/jobpoller/jobpoller/lambdas/jobs/httpjob"
	"github.com/jobpoller/jobpoller/pollcore"
)

// update rewrites what is generated in the documents.
var update = flag.Bool("update", false, "rewrite the generated parts of documents")

const (
	driversPage = "../docs/guide/drivers.md"
	jobsPage    = "../docs/reference/jobs.md"
)

// builtIn returns the built-in drivers by name, in an environment that has what
// each of them needs.
func builtIn(t *testing.T) *jobs.Registry {
	t.Helper()
	variables := map[string]string{httpjob.EnvHosts: "api.example.com"}
	registry, err := jobs.Build(jobs.Environment{
		AWS: aws.Config{Region: "us-east-1"}, Bucket: "jobpoller", Getenv: func(name string) string { return variables[name] },
	}, builtin.Drivers()...)
	require.NoError(t, err)
	return registry
}

// TestDriverTables: what the page says of the jobs is what their drivers say. It runs
// before the others of the page, which it may rewrite.
//
//nolint:paralleltest // see above
func TestDriverTables(t *testing.T) {
	registry := builtIn(t)
	overview := "\n| job | class | window | stop | waiter polls every |\n|---|---|---|---|---|\n"
	for _, name := range registry.Names() {
		driver, err := registry.Driver(name)
		require.NoError(t, err)
		class, window := driver.Idempotency(jobs.Request{}), "-"
		if class.Window > 0 {
			window = strings.TrimSuffix(class.Window.String(), "0m0s")
		} else if class.Class == jobs.ByToken {
			window = "always"
		}
		stop := "no"
		if _, ok := driver.(jobs.Stopper); ok {
			stop = "yes"
		}
		delays := pollcore.NewSchedule(driver.Waiter(), time.Hour)
		overview += fmt.Sprintf("| `%s` | %s | %s | %s | %d to %d s |\n", name, class.Class, window, stop,
			int(delays.Min.Seconds()), int(delays.Max.Seconds()))
	}
	requireSection(t, jobsPage, "drivers", overview)
	page, err := os.ReadFile(jobsPage)
	require.NoError(t, err)
	for _, name := range registry.Names() {
		require.Contains(t, string(page), "### "+name+"\n", "the page lacks the arguments of the job")
	}
}

// The Go sample of the page is a file of its example, which is built and tested
// where it lies.
func TestDriverExample(t *testing.T) {
	t.Parallel()
	samples := blocks(t, driversPage, "go")
	require.Len(t, samples, 1)
	text, err := os.ReadFile("../docs/example/deployment/deployment.go")
	require.NoError(t, err)
	require.Equal(t, string(text), samples[0])
}

// The arguments that the page shows are good ones: no driver refuses them.
func TestDriverArguments(t *testing.T) {
	t.Parallel()
	registry := builtIn(t)
	page, err := os.ReadFile(jobsPage)
	require.NoError(t, err)
	shown := 0
	for _, name := range registry.Names() {
		_, chapter, _ := strings.Cut(string(page), "### "+name+"\n")
		chapter, _, _ = strings.Cut(chapter, "\n### ")
		_, sample, found := strings.Cut(chapter, "\n```json\n")
		require.True(t, found, "no arguments of %s are shown", name)
		sample, _, _ = strings.Cut(sample, "\n```")
		driver, err := registry.Driver(name)
		require.NoError(t, err)
		// Good arguments get as far as the call, which is over before it begins.
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = driver.Start(ctx, jobs.Request{Arguments: []byte(sample), Token: strings.Repeat("0", 36)})
		require.ErrorIs(t, err, context.Canceled, name)
		shown++
	}
	require.Len(t, builtIn(t).Names(), shown)
}

// TestCatalogueSamples: the requests for jobs of the catalogue that the page
// shows are good ones.
func TestCatalogueSamples(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(jobsPage)
	require.NoError(t, err)
	_, chapter, _ := strings.Cut(string(page), "### Waiters and jobs of the catalogue\n")
	chapter, _, _ = strings.Cut(chapter, "\n## ")
	_, list, found := strings.Cut(chapter, "\nJOBPOLLER_JOBS=")
	require.True(t, found)
	list, _, _ = strings.Cut(list, "\n")
	registry, err := jobs.Build(jobs.Environment{
		AWS: aws.Config{Region: "us-east-1"}, Getenv: func(string) string { return "" }, Jobs: strings.Split(list, ","),
	}, builtin.Drivers()...)
	require.NoError(t, err)
	samples := strings.Split(chapter, "\n```json\n")[1:]
	require.Len(t, samples, 2)
	for _, sample := range samples {
		sample, _, _ = strings.Cut(sample, "\n```")
		var request struct {
			Job       string          `json:"job"`
			Arguments json.RawMessage `json:"arguments"`
		}
		require.NoError(t, json.Unmarshal([]byte(sample), &request))
		driver, err := registry.Driver(request.Job)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = driver.Start(ctx, jobs.Request{Arguments: request.Arguments, Token: strings.Repeat("0", 36)})
		if _, polls := driver.(jobs.Finder); polls {
			require.NoError(t, err, request.Job)
		} else {
			require.ErrorIs(t, err, context.Canceled, request.Job)
		}
	}
}
