package external_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// wait is a wait of boto3's on moto: for what, and what came of it.
type wait struct {
	Service string          `json:"service"`
	Waiter  string          `json:"waiter"`
	Input   json.RawMessage `json:"input"`
	Verdict string          `json:"verdict"`
}

// exitCodes are those of "jobpoller wait" by boto3's verdict.
var exitCodes = map[string]int{"success": 0, "failure": 1, "timeout": 3, "error": 4}

// The command comes to the verdict of boto3, on the same resources. It has the same
// time: boto3 polls twice, with a second between.
func TestWaitsEndAsThoseOfBoto3(t *testing.T) {
	t.Parallel()
	m := serveMoto(t)
	command := buildCommand(t)
	python, _ := installMoto(t)
	waits := waitWithBoto3(t, python, m.url)

	verdicts := map[string]map[string]bool{} // by entry
	failures := 0
	t.Run("waits", func(t *testing.T) { //nolint:paralleltest // it returns when all have ended
		for _, w := range waits {
			entry := w.Service + " " + w.Waiter
			if verdicts[entry] == nil {
				verdicts[entry] = map[string]bool{}
			}
			verdicts[entry][w.Verdict] = true
			if w.Verdict == "failure" {
				failures++
			}
			t.Run(entry+" "+w.Verdict, func(t *testing.T) {
				t.Parallel()
				code, out := runCommand(t, command, "wait", w.Service, w.Waiter, "--input", string(w.Input), "--max-wait", "1s", "--delay", "1s", "--endpoint-url", m.url)
				require.Equal(t, exitCodes[w.Verdict], code, "%s\n%s", w.Input, out)
			})
		}
	})
	both, services := 0, map[string]bool{}
	for entry, of := range verdicts {
		if of["success"] && of["timeout"] {
			both++
			service, _, _ := strings.Cut(entry, " ")
			services[service] = true
		}
	}
	require.GreaterOrEqual(t, both, 25)
	require.GreaterOrEqual(t, len(services), 12)
	require.Subset(t, services, map[string]bool{"ec2": true, "rds": true, "cloudformation": true, "iam": true, "elbv2": true, "s3": true})
	require.GreaterOrEqual(t, failures, 8)
	say("suite waits on moto: %d waits of %d entries end as boto3's: %d entries of %d services in success and in time-out, %d waits in failure",
		len(waits), len(verdicts), both, len(services), failures)

	waitBesideTheCLI(t, command, python, m.url)
	startJobsOnMoto(t, command, m.url)
}

// waitWithBoto3 makes resources, and waits for them with boto3.
func waitWithBoto3(t *testing.T, python, url string) []wait {
	t.Helper()
	program := exec.CommandContext(t.Context(), python, "waits.py", url)
	program.Stderr = os.Stderr
	out, err := program.Output()
	require.NoError(t, err)
	var waits []wait
	require.NoError(t, json.Unmarshal(out, &waits))
	return waits
}

// waitBesideTheCLI waits with "aws ... wait" and with the command, for the same ID.
func waitBesideTheCLI(t *testing.T, command, python, url string) {
	t.Helper()
	for _, tt := range []struct {
		aws     []string
		service string
		waiter  string
		id      string
	}{
		{[]string{"dynamodb", "wait", "table-exists", "--table-name", "Orders"}, "dynamodb", "TableExists", "Orders"},
		{[]string{"s3api", "wait", "bucket-exists", "--bucket", "exports"}, "s3", "BucketExists", "exports"},
		{[]string{"rds", "wait", "db-instance-available", "--db-instance-identifier", "ready"}, "rds", "DBInstanceAvailable", "ready"},
	} {
		code, out := runCommand(t, python, append([]string{"-m", "awscli", "--endpoint-url", url}, tt.aws...)...)
		require.Equal(t, 0, code, "%s", out)
		code, out = runCommand(t, command, "wait", tt.service, tt.waiter, tt.id, "--max-wait", "20s", "--endpoint-url", url)
		require.Equal(t, 0, code, "%s", out)
	}
	say("suite waits on moto: 3 waits succeed as those of the AWS CLI")
}

// startJobsOnMoto starts jobs and waits for them.
func startJobsOnMoto(t *testing.T, command, url string) {
	t.Helper()
	jobs := [][]string{
		{"athena", "StartQueryExecution", "--param", "QueryString=SELECT 1"},
		{"glue", "StartJobRun", "--param", "JobName=orders"},
		{"transcribe", "StartTranscriptionJob", "--param", "LanguageCode=en-US", "--param", "Media.MediaFileUri=s3://exports/a.wav"},
		{"rds", "CreateDBSnapshot", "--param", "DBInstanceIdentifier=ready", "--param", "DBSnapshotIdentifier=orders"},
	}
	for _, job := range jobs {
		entry, err := catalog.Lookup(job[0], job[1])
		require.NoError(t, err)
		require.NotNil(t, entry.Job)
		arguments := append([]string{"start"}, job...)
		code, out := runCommand(t, command, append(arguments, "--wait", "--delay", "1s", "--max-wait", "30s", "--endpoint-url", url)...)
		require.Equal(t, 0, code, "%s", out)
		require.Contains(t, out, "SUCCEEDED after ")
	}
	say("suite waits on moto: %d jobs started and succeeded", len(jobs))

	// The lists of the services have the jobs. Athena's batch call is not in moto.
	for _, list := range [][]string{
		{"glue", "StartJobRun", "--param", "JobName=orders"}, {"transcribe", "StartTranscriptionJob"},
	} {
		code, out := runCommand(t, command, append(append([]string{"plan"}, list...), "--from-service", "--endpoint-url", url, "-o", "json")...)
		require.Equal(t, 0, code, "%s", out)
		require.Contains(t, out, `"count": 1,`)
	}
	say("suite waits on moto: 2 lists of past jobs have those that were started")
}

// buildCommand builds the command.
func buildCommand(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "jobpoller")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", file, "./cmd/jobpoller")
	build.Dir = filepath.Join("..", "..")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return file
}

// runCommand returns the exit code of a program, and what it says.
func runCommand(t *testing.T, program string, arguments ...string) (code int, out string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), program, arguments...)
	c.Env = append(os.Environ(), "AWS_ACCESS_KEY_ID=t", "AWS_SECRET_ACCESS_KEY=t", "AWS_REGION=us-east-1", "AWS_DEFAULT_REGION=us-east-1", "AWS_EC2_METADATA_DISABLED=true")
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	err := c.Run()
	if failure, ok := errors.AsType[*exec.ExitError](err); ok {
		return failure.ExitCode(), said.String()
	}
	require.NoError(t, err)
	return 0, said.String()
}
