package records

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/lambda/messages"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/answers"
	"github.com/jobpoller/jobpoller/internal/cli/clitest"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/embeddeds3"
	"github.com/jobpoller/jobpoller/internal/localloop"
	"github.com/jobpoller/jobpoller/internal/shell"
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/memstore"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/s3store"
)

// The commands in the error of a start whose outcome is not known find its record, in its
// bucket and under its prefix, poller and scope, also where a name has a quote.
func TestCommandsOfAnUnknownStartFindItsRecord(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	a.answer("StartJobRun", `500 {"__type": "InternalServiceException", "message": "later"}`)
	store, err := s3store.New(a.server.Client(), "records", "teams/our exports")
	require.NoError(t, err)
	p, err := handler.New(handler.Config{Store: store, Jobs: a.functions(t).Jobs})
	require.NoError(t, err)
	_, err = p.RunJob(t.Context(), json.RawMessage(`{"Context": {"Execution": {"Id": "`+nightly+`-it's", "StartTime": "2026-11-28T09:00:00Z"}},
		"Poller": "Export it's", "Scope": 4, "Input": {"job": "glue:StartJobRun", "maxWaitSeconds": 60, "arguments": {"JobName": "nightly"}}}`))
	failure, ok := errors.AsType[messages.InvokeResponse_Error](err)
	require.True(t, ok, "%v", err)
	for pattern, more := range map[string][]string{
		`(?m)^If it runs: jobpoller (records adopt .*)$`:       {"--param", "JobName=nightly"},
		`(?m)^If it does not: jobpoller (records abandon .*)$`: nil,
	} {
		found := regexp.MustCompile(pattern).FindStringSubmatch(failure.Message)
		require.NotNil(t, found, err.Error())
		args := append(clitest.SplitShell(found[1]), more...)
		var out, problems bytes.Buffer
		runCommand(t.Context(), append(args, "--region", "eu-west-1", "--endpoint-url", a.url), &out, &problems)
		require.Contains(t, problems.String(), "--yes", "nobody is there to be asked: %q", args)
	}
}

// unclearJob is a job of a driver of one's own whose start has no answer.
type unclearJob struct{ jobs.Driver }

func (unclearJob) Name() string             { return "mine:Job" }
func (unclearJob) Waiter() *pollcore.Waiter { return unclearEnd }
func (unclearJob) Idempotency(jobs.Request) jobs.Idempotency {
	return jobs.Idempotency{Class: jobs.NoProtection}
}

func (unclearJob) Start(context.Context, jobs.Request) (jobs.Ref, error) {
	return nil, errors.New("no answer")
}

var unclearEnd = pollcore.MustNew("Ended", pollcore.Succeed(pollcore.Output("State").Is("DONE")))

// startUnclearly lets functions start the job, and returns the commands that their error
// has.
func startUnclearly(t *testing.T, p *handler.Handler) (message string, commands []string) {
	t.Helper()
	_, err := p.RunJob(t.Context(), json.RawMessage(`{"Context": {"Execution": {"Id": "`+nightly+`", "StartTime": "2026-11-28T09:00:00Z"}},
		"Input": {"job": "mine:Job", "maxWaitSeconds": 60, "arguments": {}}}`))
	failure, ok := errors.AsType[messages.InvokeResponse_Error](err)
	require.True(t, ok, "%v", err)
	for _, found := range regexp.MustCompile(`(?m)^If it (?:runs|does not): (.*)$`).FindAllStringSubmatch(failure.Message, -1) {
		commands = append(commands, found[1])
	}
	return failure.Message, commands
}

// runPrinted runs a command that was printed, with the names filled in.
func runPrinted(t *testing.T, command string, more ...string) (code int, output string) {
	t.Helper()
	words := clitest.SplitShell(strings.NewReplacer("NAME", "RunId", "VALUE", "r-1").Replace(command))
	require.Equal(t, "jobpoller", words[0], command)
	var out bytes.Buffer
	code = runCommand(t.Context(), append(words[1:], more...), &out, &out)
	return code, out.String()
}

// The commands of a start of one's own driver work as they are printed: for a store behind
// an endpoint of its own, and for one in the folder of run or serve.
func TestCommandsOfAnUnknownStartOfAnOwnDriver(t *testing.T) {
	own := func(jobs.Environment) (jobs.Driver, error) { return unclearJob{}, nil }
	server := newRecordServer(t, nil)
	for name, value := range map[string]string{
		"AWS_REGION": "eu-west-1", "AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local", "AWS_ENDPOINT_URL_S3": server.URL(), handler.EnvBucket: "records", handler.EnvMetrics: "none", handler.EnvLogLevel: "error",
	} {
		t.Setenv(name, value)
	}
	p, err := handler.FromEnvironment(handler.S3Store, own)
	require.NoError(t, err)
	_, commands := startUnclearly(t, p)
	require.Len(t, commands, 2)
	t.Setenv(handler.EnvBucket, "")
	variable, adopt, _ := strings.Cut(commands[0], " ")
	require.Equal(t, "AWS_ENDPOINT_URL_S3="+server.URL(), variable)
	t.Setenv("AWS_ENDPOINT_URL_S3", server.URL())
	code, out := runPrinted(t, adopt, "--yes")
	require.Equal(t, kit.ExitSucceeded, code, out)
	require.Contains(t, out, `mine:Job {"RunId":"r-1"}`)
	t.Setenv("AWS_ENDPOINT_URL_S3", "")
	t.Setenv("AWS_REGION", "") // the folder is enough
	t.Setenv("AWS_CONFIG_FILE", os.DevNull)
	registry, err := jobs.NewRegistry(unclearJob{})
	require.NoError(t, err)
	for _, below := range []string{"", localloop.RecordsFolder} {
		for _, which := range []int{0, 1} {
			data := filepath.Join(t.TempDir(), "it's data")
			folder, err := embeddeds3.Start(embeddeds3.Options{Dir: filepath.Join(data, below)})
			require.NoError(t, err)
			require.NoError(t, folder.CreateBucket(localloop.Bucket))
			store, err := s3store.New(folder.Client(), localloop.Bucket, handler.DefaultPrefix)
			require.NoError(t, err)
			p, err := handler.New(handler.Config{Store: store, Jobs: registry, StoreFlags: answers.FolderFlags(data)})
			require.NoError(t, err)
			_, commands := startUnclearly(t, p)
			require.Len(t, commands, 2)
			code, out = runPrinted(t, commands[which], "--yes")
			require.Equal(t, kit.ExitUsage, code, out)
			require.Contains(t, out, "is in use by another process, such as jobpoller serve: stop it")
			require.NoError(t, folder.Close())
			code, out = runPrinted(t, "jobpoller records status "+nightly+" --data "+shell.Quote(data))
			require.Equal(t, kit.ExitSucceeded, code, out)
			require.Contains(t, out, "It runs: jobpoller records adopt "+nightly+" --data "+shell.Quote(data)+` --ref '{"NAME": "VALUE"}'.`)
			code, out = runPrinted(t, commands[which], "--yes")
			require.Equal(t, kit.ExitSucceeded, code, out)
			code, out = runPrinted(t, "jobpoller records list --data "+shell.Quote(data))
			require.Equal(t, kit.ExitSucceeded, code, out)
			require.Contains(t, out, []string{`STARTED`, `FAILED`}[which])
		}
	}
	code, out = runPrinted(t, "jobpoller records list --data "+t.TempDir())
	require.Equal(t, kit.ExitUsage, code, out)
	require.Contains(t, out, "pass the folder of a run or serve with --data")
	p, err = handler.New(handler.Config{Store: memstore.New(nil), Jobs: registry, StoreFlags: answers.FolderFlags("")})
	require.NoError(t, err)
	message, commands := startUnclearly(t, p)
	require.Empty(t, commands)
	require.Contains(t, message, "No command reaches the record, which is in the memory of jobpoller: start another execution.")
}
