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
	// seed is that of all that a run draws, so virtual runs are equal.
	seed = 1

	lambdaInvoke     = "arn:aws:states:::lambda:invoke"
	stateMachineName = "jobpoller"
)

// runOptions are the flags of "jobpoller run".
type runOptions struct {
	definition string // file, "-", or empty for the shipped poller

	input      string
	jobSeconds int
	jobFails   bool
	maxWait    time.Duration

	virtual   bool
	processes bool
	name      string

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
const maxWaitLimit = 45 * 24 * time.Hour

func newRunCommand() *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "run [FILE]",
		Short: "Run a state machine on this machine, in real or virtual time",
		Long: `Run executes a state machine on this machine. Without FILE it runs the shipped
poller (RunJob, Wait, CheckStatus, Choice) on a sample job. The Lambda functions
run here, and the start records go to an embedded S3 server. You need no AWS
account. "-" reads standard input.

FILE is a definition of yours. It can invoke the functions jobpoller-runjob,
jobpoller-checkstatus and jobpoller-sample-job. Its input is the request of the
sample job, or the file of --input.

A request can name any job of the Lambda functions. Except for lambda:Invoke and
http:Request, these CALL AWS with your credentials, as the AWS CLI does, and AWS
charges for them. lambda:Invoke reaches only jobpoller-sample-job. http:Request
reaches the hosts of JOBPOLLER_HTTP_HOSTS (and this machine with
JOBPOLLER_HTTP_LOOPBACK=true). With --virtual only lambda:Invoke works.

--mocks FILE answers all Tasks of your definition: by state or by resource, with
what they return, how they fail, or how long a job runs. FILE can also be AWS's
MockConfigFile.json. The input is {} or the file of --input. The duration of a
mocked call ("after") passes in virtual time only.

Output: progress goes to stderr, as one live line on a terminal, else as a line
a poll; --virtual shows none. The result goes to stdout.

Exit codes: 0 succeeded, 1 failed, 2 wrong usage, 3 timed out, 130 interrupted.`,
		Example: `  jobpoller run --job-seconds 6
  jobpoller run --virtual --job-seconds 86400 --max-wait 30h -o json
  jobpoller run poller.asl.json --virtual --mocks mocks.json --trace --html report.html
  jobpoller run --virtual --input request.json - <poller.asl.json
  jobpoller run poller.asl.json --input request.json --s3-endpoint http://127.0.0.1:9000 --bucket jobs`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("expected one definition at most, found %s", plural(len(args), "argument"))
			}
			return nil
		},
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
	addMaxWait(f, &o.maxWait, 5*time.Minute)
	f.StringVar(&o.input, "input", "", "file with the input of the execution, instead of the sample job's request; - reads standard input")
	f.StringVar(&o.mocks, "mocks", "", "file that answers the Tasks of the definition")
	f.StringVar(&o.testCase, "test-case", "", "test case of a MockConfigFile.json: \"machine#case\" or \"case\"")
	addSubstitutes(f, &o.substitutes)
	f.BoolVar(&o.express, "express", false, "run the definition as an Express workflow (with --mocks)")
	f.BoolVar(&o.views.trace, "trace", false, "print every event on stderr as it happens")
	f.StringVar(&o.views.html, "html", "", "write a report with pictures to this file")
	f.StringVar(&o.views.history, "history", "", "write the history to this file, in the form of GetExecutionHistory")
	f.BoolVar(&o.virtual, "virtual", false, "use virtual time: jump from timer to timer")
	f.BoolVar(&o.processes, "processes", false, "build the Lambda functions and run them as processes (needs the go command)")
	f.StringVar(&o.name, "name", "", "name of the execution; with --data or --bucket, a second run of the same name continues the first")
	f.StringVar(&o.data, "data", "", "folder of the embedded S3 server, instead of memory; run prints the server's URL and keys")
	f.StringVar(&o.s3Endpoint, "s3-endpoint", "", "URL of an S3 server, instead of the embedded one (with your AWS credentials)")
	f.StringVar(&o.bucket, "bucket", "", "bucket that exists, instead of one on the embedded S3 server")
	f.StringVarP(&o.output, "output", "o", "text", "text, json, or jsonl (every event, then the result)")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "show no progress")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "show the functions' logs on stderr")
	completeWords(c, "output", "text", "json", "jsonl")
	must(c.MarkFlagDirname("data"))
	completeNothing(c, "job-seconds", "max-wait", "test-case", "substitute", "name", "s3-endpoint", "bucket")
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
	if err := checkMaxWait(o.maxWait); err != nil {
		problems = append(problems, err)
	} else if o.maxWait > maxWaitLimit {
		report("--max-wait must be at most %s (45 days), is %s", shortDuration(maxWaitLimit), shortDuration(o.maxWait))
	} else if o.maxWait%time.Second != 0 {
		report("--max-wait must be whole seconds, as all times of Step Functions are, is %s", o.maxWait)
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
				report("--%s is for the sample job, and --input has another request: remove one of them", flag)
			}
		}
	}
	if o.definition == stdin && o.input == stdin {
		report("only one of the definition and --input can be -, the standard input")
	}
	if o.virtual && o.processes {
		report("--virtual and --processes exclude each other: a process runs in real time")
	}
	if o.data != "" && o.external() {
		report("--data is for the embedded S3 server, and --s3-endpoint and --bucket are for another: remove one of them")
	}
	if o.s3Endpoint != "" && o.bucket == "" {
		report("--s3-endpoint needs --bucket")
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
		Clock: clock, Execution: o.name, StateMachine: stateMachineName, Seed: seed, Models: models.Load,
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
	return fmt.Errorf("these placeholders have no value: ${%s}%s", strings.Join(names, "}, ${"), substituteHint(names))
}

// runError tells an input or definition that cannot be run from a failure on
// the way.
func runError(o runOptions, m *asl.StateMachine, err error) error {
	if _, ok := errors.AsType[*sim.ResourceError](err); ok {
		return usage("%s: %w\nTo answer the Tasks from a file, pass --mocks%s", o.definition, err, substituteHint(openPlaceholders(m, false)))
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
		"maxWaitSeconds": int(o.maxWait / time.Second),
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
