package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/lambdas/jobs/httpjob"
	"github.com/jobpoller/jobpoller/lambdas/jobs/lambdajob"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/s3store"
	"github.com/jobpoller/jobpoller/statemachines"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

const (
	lambdaInvoke     = "arn:aws:states:::lambda:invoke"
	stateMachineName = "jobpoller"
)

// runOptions are the flags of "jobpoller run".
type runOptions struct {
	definition string // file, "-", or empty for the shipped poller

	input      string
	jobSeconds int
	jobFails   bool
	maxWait    int

	virtual   bool
	processes bool
	name      string
	seed      uint64

	data       string
	s3Endpoint string
	bucket     string

	output  string
	quiet   bool
	verbose bool

	mocks       string
	testCase    string
	substitutes []string
	express     bool
	views       views

	job string // that the input asks for
}

// executionName is what names of executions are made of here; AWS allows a
// little more.
var executionName = regexp.MustCompile(`^[\w.-]{1,80}$`)

// maxWaitLimit keeps a start record's retention above the wait and the 14 days
// in which an execution can be redriven.
const maxWaitLimit = 45 * 24 * 60 * 60

func newRunCommand() *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "run [definition.asl.json]",
		Short: "Run a job poller on this machine, in real or virtual time",
		Long: `Run executes a state machine on this machine. Without a definition it runs the
shipped poller (RunJob, Wait, CheckStatus, Choice) on a sample job: the real
Lambda handlers, start records in an embedded S3 server, the sample job invoked
through the Lambda API. No AWS account is needed.

A definition of yours can invoke the functions jobpoller-runjob,
jobpoller-checkstatus and jobpoller-sample-job. Its input is the request of the
sample job, unless --input names a file.

The functions have the jobs of the Lambda functions. lambda:Invoke knows the
function jobpoller-sample-job and no other. http:Request reaches the hosts of
JOBPOLLER_HTTP_HOSTS (and this machine with JOBPOLLER_HTTP_LOOPBACK=true). All
others CALL THE REAL AWS SERVICE with your credentials, as for the AWS CLI, and
cost what they cost. A virtual run has lambda:Invoke alone.

With --mocks all Tasks of a definition of yours are answered by a file: states or
resources with what they return, fail with or how long a job runs, or AWS's
MockConfigFile.json as it is. Its input is {} unless --input names a file. How
long a mocked call takes ("after") counts in virtual time only.

Progress goes to stderr: one updating line on a terminal, else a line a poll. A
virtual run ends within moments and shows none. The result goes to stdout.

Exit codes: 0 succeeded, 1 failed, 2 wrong usage, 3 timed out, 130 interrupted.`,
		Example: `  jobpoller run --job-seconds 6
  jobpoller run --processes --job-fails
  jobpoller run --virtual --job-seconds 86400 --max-wait 100000 -o json
  jobpoller run poller.asl.json --virtual --mocks mocks.json --trace --html report.html
  jobpoller run --virtual --input request.json - <poller.asl.json
  jobpoller run poller.asl.json --input request.json --s3-endpoint http://127.0.0.1:9000 --bucket jobs`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.definition = args[0]
			}
			if err := o.validate(c.Flags().Changed); err != nil {
				return err
			}
			if o.mocks != "" {
				return runMocked(c, o)
			}
			return runMachine(c, o)
		},
	}
	f := c.Flags()
	f.IntVar(&o.jobSeconds, "job-seconds", 15, "how long the sample job works")
	f.BoolVar(&o.jobFails, "job-fails", false, "let the sample job fail")
	f.IntVar(&o.maxWait, "max-wait", 300, "seconds after which the poller gives up")
	f.StringVar(&o.input, "input", "", "file with the execution input, instead of the sample job's request; - is stdin, as for the definition")
	f.StringVar(&o.mocks, "mocks", "", "file that answers the Tasks of the definition")
	f.StringVar(&o.testCase, "test-case", "", "test case of a MockConfigFile.json, \"machine#case\" or \"case\"")
	f.StringArrayVar(&o.substitutes, "substitute", nil, "Name=value for a placeholder ${Name} of the definition; may be given more than once")
	f.BoolVar(&o.express, "express", false, "run the definition as an Express workflow (with --mocks)")
	f.BoolVar(&o.views.trace, "trace", false, "show every event on stderr as it happens")
	f.StringVar(&o.views.html, "html", "", "file to write a report with pictures to")
	f.StringVar(&o.views.history, "history", "", "file to write the history to, as GetExecutionHistory gives it")
	f.BoolVar(&o.virtual, "virtual", false, "jump from timer to timer instead of waiting")
	f.BoolVar(&o.processes, "processes", false, "build the two Lambda functions and run them as child processes behind a local Runtime API (needs the go command)")
	f.StringVar(&o.name, "name", "", "name of the execution; with --data or --bucket, a run of the same name takes up its start record")
	f.Uint64Var(&o.seed, "seed", 1, "seed of the jitter of a virtual run")
	f.StringVar(&o.data, "data", "", "folder in which the embedded S3 server keeps its objects, instead of in memory; the run prints the server's URL and keys")
	f.StringVar(&o.s3Endpoint, "s3-endpoint", "", "URL of an S3 server to use instead of the embedded one (credentials as for the AWS CLI)")
	f.StringVar(&o.bucket, "bucket", "", "bucket to use instead of the embedded S3 server's; it must exist")
	f.StringVarP(&o.output, "output", "o", "text", "text, json, or jsonl (every history event, then the result)")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "show no progress")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "show the functions' logs on stderr")
	return c
}

// validate reports what is wrong with the flags, all at once.
func (o *runOptions) validate(changed func(flag string) bool) error {
	var problems []error
	report := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if !slices.Contains([]string{"text", "json", "jsonl"}, o.output) {
		report("--output must be text, json or jsonl, is %q", o.output)
	}
	if o.jobSeconds < 0 || o.jobSeconds > maxJobSeconds {
		report("--job-seconds must be from 0 to %d, is %d", maxJobSeconds, o.jobSeconds)
	}
	if o.maxWait < 1 || o.maxWait > maxWaitLimit {
		report("--max-wait must be from 1 to %d seconds, is %d", maxWaitLimit, o.maxWait)
	}
	if o.name != "" && !executionName.MatchString(o.name) {
		report("--name must have 1 to 80 letters, digits, dots, hyphens and underscores, is %q", o.name)
	}
	if endpoint, err := url.Parse(o.s3Endpoint); o.s3Endpoint != "" && (err != nil || endpoint.Host == "" || !strings.HasPrefix(endpoint.Scheme, "http")) {
		report("--s3-endpoint must be a URL such as http://127.0.0.1:9000, is %q", o.s3Endpoint)
	}
	if o.bucket != "" {
		if _, err := s3store.New(nil, o.bucket, prefix); err != nil {
			report("--bucket: %w", err)
		}
	}
	problems = append(problems, o.checkMocked(changed))
	problems = append(problems, o.excluded(changed)...)
	if err := errors.Join(problems...); err != nil {
		return usage("%w", err)
	}
	if o.name == "" {
		o.name = "local"
		if !o.virtual || o.data != "" || o.external() {
			o.name = "local-" + time.Now().UTC().Format("20060102T150405.000")
		}
	}
	return nil
}

// excluded reports flags that do not go together.
func (o *runOptions) excluded(changed func(flag string) bool) (problems []error) {
	report := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if o.input != "" {
		for _, flag := range []string{"job-seconds", "job-fails", "max-wait"} {
			if changed(flag) {
				report("--%s is part of the sample job's request, which --input replaces: give one of them", flag)
			}
		}
	}
	if o.definition == stdin && o.input == stdin {
		report("the definition and --input cannot both be -, the standard input")
	}
	if changed("seed") && !o.virtual {
		report("--seed is for a virtual run: the jitter of a real one is not repeatable")
	}
	if o.virtual && o.processes {
		report("--virtual and --processes exclude each other: a process has the real clock")
	}
	if o.data != "" && o.external() {
		report("--data is for the embedded S3 server, --s3-endpoint and --bucket for another: give one of them")
	}
	if o.s3Endpoint != "" && o.bucket == "" {
		report("--s3-endpoint needs --bucket, the bucket to use there")
	}
	return problems
}

// needsAWS tells whether the run uses the user's AWS settings.
func (o *runOptions) needsAWS() bool {
	return o.external() || o.job != lambdajob.Name && o.job != httpjob.Name
}

// external tells whether start records go to an S3 server that is not ours.
func (o *runOptions) external() bool { return o.s3Endpoint != "" || o.bucket != "" }

// runMachine runs the state machine and reports how it ended.
func runMachine(c *cobra.Command, o runOptions) (err error) {
	machine, err := o.readDefinition(c.InOrStdin())
	if err != nil {
		return err
	}
	input, err := o.readInput(c.InOrStdin())
	if err != nil {
		return err
	}
	o.job = requestJob(input)
	clock := sim.NewRealClock()
	if o.virtual {
		clock = sim.NewVirtualClock(sim.DefaultStart)
	}
	bench, err := newBench(c.Context(), o, clock, c.ErrOrStderr())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bench.Close()) }()

	began, err := bench.claimStart(c.Context(), c.ErrOrStderr())
	if err != nil {
		return err
	}
	r := newReporter(c.OutOrStdout(), o)
	r.begin(bench.access())
	if access := bench.access(); access != nil && !o.quiet && (o.data != "" || o.output != "text") {
		terminal.Fprintf(c.ErrOrStderr(), "%s\n", access.text())
	}
	p := newProgress(c.ErrOrStderr(), o, clock, waitLimit(input))
	start := clock.Now()
	result, err := sim.Run(c.Context(), machine, input, sim.Options{
		Clock: clock, Execution: o.name, StateMachine: stateMachineName, Seed: o.seed, Models: models.Load,
		StartTime: began,
		Handlers:  map[string]sim.Handler{lambdaInvoke: sim.LambdaInvoke(bench.functions(p.polled))},
		OnEvent: func(e sim.Event) {
			p.event(e)
			o.views.event(c.ErrOrStderr(), start, e)
			r.event(e)
		},
	})
	p.close()
	if err != nil {
		return runError(o, machine, err)
	}
	if err := r.result(bench.report(context.WithoutCancel(c.Context()), result)); err != nil {
		return &exitError{exitFailed, fmt.Errorf("write the result: %w", err)}
	}
	if err := o.views.write(machine, result); err != nil {
		return err
	}
	if code := exitCode(result); code != exitSucceeded {
		return &exitError{code, openArguments(machine)}
	}
	return nil
}

// openArguments is a hint for a run that did not succeed: placeholders without a
// value, such as the name of a function, went into its calls. Nil if there are
// none.
func openArguments(m *asl.StateMachine) error {
	names := openPlaceholders(m, false)
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("placeholders were left as they are: ${%s}%s", strings.Join(names, "}, ${"), substituteHint(names))
}

// runError tells an input or definition that cannot be run from a failure on
// the way.
func runError(o runOptions, m *asl.StateMachine, err error) error {
	if _, ok := errors.AsType[*sim.ResourceError](err); ok {
		return usage("%s: %w\nA file with answers for the Tasks can be given with --mocks%s", o.definition, err, substituteHint(openPlaceholders(m, false)))
	}
	if _, ok := errors.AsType[*sim.InputSizeError](err); ok {
		return usage("%w", err)
	}
	if _, ok := errors.AsType[asl.Problems](err); ok {
		if o.definition != "" {
			err = errorf("%s: %w", o.definition, err)
		}
		return usage("%w%s", err, substituteHint(openPlaceholders(m, true)))
	}
	return &exitError{exitFailed, err}
}

// stdin is the name of a file that stands for the standard input.
const stdin = "-"

// readFile reads a file, or the standard input.
func readFile(name string, in io.Reader) ([]byte, error) {
	if name == stdin {
		return io.ReadAll(in)
	}
	return os.ReadFile(name) //nolint:gosec // the user names it
}

func (o *runOptions) readDefinition(in io.Reader) (*asl.StateMachine, error) {
	if o.definition != "" {
		return readMachine(o.definition, in, o.substitutes)
	}
	machine, err := asl.Parse([]byte(statemachines.LambdaPoller))
	if err != nil {
		return nil, fmt.Errorf("the shipped definition: %w", err)
	}
	return machine, nil
}

// readInput returns the execution input: of the file, or a request for the
// sample job.
func (o *runOptions) readInput(in io.Reader) ([]byte, error) {
	if o.input != "" {
		text, err := readFile(o.input, in)
		if err != nil {
			return nil, usage("input: %w", err)
		}
		return text, nil
	}
	return json.Marshal(map[string]any{
		"job": lambdajob.Name,
		"arguments": map[string]any{
			"FunctionName": sampleJobFunction,
			"Payload":      sampleJobInput{Seconds: o.jobSeconds, Fail: o.jobFails},
		},
		"maxWaitSeconds": o.maxWait,
		"initialDelay":   1, // no job has ended before
	})
}

// isRequest tells whether a text looks like the request of a job.
func isRequest(text []byte) bool {
	var members map[string]json.RawMessage
	if json.Unmarshal(text, &members) != nil {
		return false
	}
	return members["job"] != nil && members["States"] == nil
}

// requestJob is the job that the input asks for; an input that is no request
// is for the sample job or for no job at all.
func requestJob(input []byte) string {
	request := struct {
		Job string `json:"job"`
	}{lambdajob.Name}
	if json.Unmarshal(input, &request) != nil {
		return lambdajob.Name
	}
	return request.Job
}

// waitLimit is the request's maxWaitSeconds, for the progress line; 0 if the
// input has none.
func waitLimit(input []byte) time.Duration {
	var request struct {
		MaxWaitSeconds int `json:"maxWaitSeconds"`
	}
	if json.Unmarshal(jsontree.DigitsOnly(input), &request) != nil {
		return 0
	}
	return time.Duration(request.MaxWaitSeconds) * time.Second
}
