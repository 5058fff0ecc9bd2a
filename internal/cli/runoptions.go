package cli

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/lambdas/jobs/httpjob"
	"github.com/jobpoller/jobpoller/lambdas/jobs/lambdajob"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/s3store"
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
	simulated   simulated
	seed        uint64
	testCase    string
	substitutes []string
	express     bool
	lenient     bool
	views       views

	job string // that the input asks for
}

// executionName is what names of executions are made of here; AWS allows a
// little more.
var executionName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\w.-]{1,80}$`) })

// maxWaitLimit keeps a start record's retention above the wait and the 14 days
// in which an execution can be redriven.
const maxWaitLimit = 45 * 24 * time.Hour

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
	if o.name != "" && !executionName().MatchString(o.name) {
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
	problems = append(problems, o.conflicts(changed)...)
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

// conflicts reports flags that do not go together.
func (o *runOptions) conflicts(changed func(flag string) bool) (problems []error) {
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

// usesMocks tells whether Tasks are answered here and not by the functions.
func (o *runOptions) usesMocks() bool { return o.mocks != "" || o.simulated.isGiven() }

// checkMocked reports what is wrong with the flags about mocks.
func (o *runOptions) checkMocked(changed func(flag string) bool) error {
	var problems []error
	if o.testCase != "" && o.mocks == "" {
		problems = append(problems, errors.New("--test-case needs --mocks"))
	}
	if o.simulated.ends != "" && !o.simulated.isGiven() {
		problems = append(problems, errors.New("--ends needs --simulate: say how long jobs run, such as --simulate 12m"))
	}
	if !o.usesMocks() {
		if o.express {
			problems = append(problems, errors.New("--express needs --simulate or --mocks: the shipped poller is a Standard workflow"))
		}
		return errors.Join(problems...)
	}
	by := "--mocks"
	if o.simulated.isGiven() {
		by = "--simulate"
	}
	if o.definition == "" {
		problems = append(problems, fmt.Errorf("%s needs a definition, such as: jobpoller run poller.asl.json --simulate 12m", by))
	}
	for _, flag := range []string{"job-seconds", "job-fails", "max-wait", "processes", "data", "s3-endpoint", "bucket"} {
		if changed(flag) {
			problems = append(problems, fmt.Errorf("--%s is for the sample job and its functions, and %s replaces them: remove one of them", flag, by))
		}
	}
	return errors.Join(problems...)
}
