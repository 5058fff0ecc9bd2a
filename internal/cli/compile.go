package cli

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// compileOptions are the flags of "jobpoller compile".
type compileOptions struct {
	lookup

	strategy                     string
	maxWait, minDelay, maxDelay  time.Duration
	initialDelay, jobFrom, jobTo time.Duration
	start, noStop, fit           bool
	report, iam                  bool
	prefix, arguments            string
	exits                        map[string]string
	causes                       []string
	names                        map[string]string
	selected, unmodeled          string
	runJob, checkStatus, scope   string
	waiter, check, output        string
	events                       int
}

var strategies = []compile.Strategy{
	compile.LambdaLoop, compile.LambdaRetry, compile.Loop, compile.Variables, compile.RetryTask,
}

func strategyNames() []string {
	names := make([]string, len(strategies))
	for i, s := range strategies {
		names[i] = string(s)
	}
	return names
}

func newCompileCommand() *cobra.Command {
	var o compileOptions
	names := strategyNames()
	c := &cobra.Command{
		Use:   "compile (SERVICE NAME | WAITER.json SERVICE OPERATION)",
		Short: "Turn a waiter into a state machine",
		Long: `Compile prints a complete Step Functions state machine that waits for a job: it
calls the operation that the waiter polls until the waiter has a verdict or
--max-wait has passed. A job of the catalogue can be started first (--start) and
is then stopped when its time is over (unless --no-stop).

Strategies:
  variables     a loop of Task, Choice and Wait in JSONata: every waiter, backoff with jitter
  retry-task    one Task in JSONata whose Retry block is the loop: a third of the transitions
  loop          a loop in JSONPath with a fixed delay: waiters that compare members
  lambda-loop   the Lambda functions run-job and check-status in a loop
  lambda-retry  the same, where the Retry block of one Task is the loop; a redrive resumes it

The input of the machine is that of its first call, unless --arguments says
otherwise. With --exits it prints a fragment: states to be merged into those of
another machine, which goes on in the states named. docs/guide/compile.md says what a
compiled machine promises.

With --report it prints instead what the machine costs, and with --iam the policy
that its role needs.

Exit codes: 0 done, 1 the strategy cannot say what the waiter asks for, or
--check found a difference, 2 wrong usage.`,
		Example: `  jobpoller compile dynamodb ExportCompleted --strategy retry-task --max-wait 2h
  jobpoller compile dynamodb ExportTableToPointInTime --start --max-wait 2h >export.asl.json
  jobpoller compile athena StartQueryExecution --start --max-wait 30m --report -o json
  jobpoller compile dynamodb ExportTableToPointInTime --start --max-wait 2h --iam
  jobpoller compile mine.json dynamodb DescribeExport --max-wait 1h
  jobpoller compile dynamodb ExportCompleted --max-wait 2h --check export.asl.json`,
		Args: func(c *cobra.Command, args []string) error {
			args = o.withoutFile(args)
			if o.waiter != "" && len(args) != 2 {
				return usage("expected a service and the operation that the waiter polls, such as dynamodb DescribeExport, found %s", plural(len(args), "argument"))
			}
			return twoNames(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			args = o.withoutFile(args)
			return runCompile(c, args, o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.strategy, "strategy", string(compile.Variables), strings.Join(names, ", "))
	f.DurationVar(&o.maxWait, "max-wait", 0, "how long the job may take, such as 2h (required)")
	f.DurationVar(&o.minDelay, "delay", 0, "shortest delay between calls instead of the waiter's")
	f.DurationVar(&o.maxDelay, "max-delay", 0, "longest delay between calls instead of the waiter's, which counts up to 1m")
	f.DurationVar(&o.initialDelay, "initial-delay", 0, "delay before the first call")
	f.BoolVar(&o.start, "start", false, "start the job first; the input is that of the start call")
	f.BoolVar(&o.noStop, "no-stop", false, "leave a job alone when its time is over")
	f.StringVar(&o.arguments, "arguments", "", "arguments of the first call as JSON, instead of the machine's input")
	f.StringVar(&o.prefix, "prefix", "", "what the names of states and variables start with")
	f.StringToStringVar(&o.names, "names", nil, "names of states instead of those that it gives: DescribeExport=Exported?,...")
	f.StringVar(&o.selected, "select", "", "JMESPath of what the result has as its output, of the response, as the model spells it")
	f.IntVar(&o.events, "events", compile.DefaultEvents, "how many of the 25,000 events of an execution it may use")
	f.BoolVar(&o.fit, "fit", false, "lengthen the delay until the events suffice")
	f.StringToStringVar(&o.exits, "exits", nil, "make a fragment that goes on in these states: succeeded=A,failed=B,timed-out=C")
	f.StringArrayVar(&o.causes, "cause", nil, "CODE=TEXT: what the cause of an error has that only its code names; * is any text; may be given more than once")
	f.StringVar(&o.unmodeled, "unmodeled", "refuse",
		"errors whose code Step Functions hides and for which no text is known: refuse the waiter, or let them fail the wait: refuse, fail")
	f.StringVar(&o.runJob, "run-job", statemachines.RunJobFunction, "name or ARN of the function run-job")
	f.StringVar(&o.checkStatus, "check-status", statemachines.CheckStatusFunction, "name or ARN of the function check-status")
	f.StringVar(&o.scope, "scope", "", "for the functions inside a Map: an expression that differs for each item")
	f.StringVar(&o.waiter, "waiter", "", "file with a waiter of your own, in the Smithy form: as WAITER.json, under any name")
	f.StringVar(&o.check, "check", "", "file with the definition, in JSON or YAML: say whether it is still the same")
	f.BoolVar(&o.report, "report", false, "print transitions, events, cost and lateness")
	f.BoolVar(&o.iam, "iam", false, "print the IAM policy that the machine's role needs")
	f.DurationVar(&o.jobFrom, "job-from", 0, "for --report: the shortest time that the job takes")
	f.DurationVar(&o.jobTo, "job-to", 0, "for --report: the longest time that the job takes")
	o.addTo(c, true)
	addOutput(c, &o.output, "yaml")
	must(c.MarkFlagFilename("waiter", "json"))
	must(c.MarkFlagFilename("check", "json", "yaml", "yml"))
	must(c.RegisterFlagCompletionFunc("unmodeled", cobra.FixedCompletions([]string{"refuse", "fail"}, cobra.ShellCompDirectiveNoFileComp)))
	must(c.RegisterFlagCompletionFunc("strategy", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp)))
	return c
}

// withoutFile takes the file of a waiter of one's own from the front of the
// arguments. No service has a name that ends so.
func (o *compileOptions) withoutFile(args []string) []string {
	if len(args) == 0 || !strings.HasSuffix(args[0], ".json") || o.waiter != "" && o.waiter != args[0] {
		return args
	}
	o.waiter = args[0]
	return args[1:]
}

func runCompile(c *cobra.Command, args []string, o compileOptions) error {
	if err := o.validate(c.Flags().Changed); err != nil {
		return usage("%w", err)
	}
	w, call, err := o.call(c, args)
	if err != nil {
		return err
	}
	exits, err := o.fragmentExits()
	if err != nil {
		return err
	}
	causes, err := o.causePatterns()
	if err != nil {
		return err
	}
	low, high := o.delays(w)
	compiled, err := compile.Compile(w, call, compile.Options{
		Strategy: compile.Strategy(o.strategy), MaxWait: o.maxWait, MinDelay: low, MaxDelay: high, InitialDelay: o.initialDelay,
		CausePatterns: causes, UnmodeledFails: o.unmodeled == "fail",
		Prefix: o.prefix, Names: o.names, Output: o.selected, Exits: exits, Events: o.events, Fit: o.fit, JobFrom: o.jobFrom, JobTo: o.jobTo,
		RunJobFunction: o.runJob, CheckStatusFunction: o.checkStatus, Scope: o.scope,
	})
	switch {
	case errors.Is(err, compile.ErrNotCompiled):
		return &exitError{exitFailed, fmt.Errorf("%w%s%s", err, fitHint(err), o.remedy(err, call))}
	case err != nil:
		return usage("%w", err)
	}
	return o.write(c, compiled)
}

// call finds the waiter and what it polls.
func (o *compileOptions) call(c *cobra.Command, args []string) (*pollcore.Waiter, compile.Call, error) {
	if o.waiter != "" {
		return o.ownWaiter(c, args)
	}
	entry, err := o.entry(args[0], args[1])
	if err != nil {
		return nil, compile.Call{}, err
	}
	call := compile.CallOf(entry)
	starts := call.Start != nil && (o.start || o.throughLambda()) // the functions always start a job
	switch {
	case o.start && call.Start == nil:
		return nil, call, usage("--start: %s is a waiter, which does not say how its job is started; %s", entry.Name, jobsThatPoll(entry))
	case starts:
		call.Start.Arguments, err = o.readArguments(call.Start.Operation, call.Start.Token)
	default:
		call.Start, call.Stop = nil, nil
		call.Arguments, err = o.readArguments(call.Operation, "")
	}
	if err != nil {
		return nil, call, err
	}
	if o.noStop {
		call.Stop = nil
	}
	return entry.Waiter, call, nil
}

// jobsThatPoll names the jobs that a waiter's operation is polled for.
func jobsThatPoll(e *catalog.Entry) string {
	var names []string
	for name, job := range e.Service.Jobs {
		if job.Describe == e.Operation.Name {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "the catalogue has no job that is polled so"
	}
	slices.Sort(names)
	return "jobs that are polled so: " + strings.Join(names, ", ")
}

// ownWaiter reads a waiter from a file, for an operation of the catalogue.
func (o *compileOptions) ownWaiter(c *cobra.Command, args []string) (*pollcore.Waiter, compile.Call, error) {
	text, err := readText(o.waiter, c.InOrStdin())
	if err != nil {
		return nil, compile.Call{}, err
	}
	w, err := pollcore.ParseWaiter(waiterName(o.waiter), text)
	if err != nil && isRequest(text) {
		return nil, compile.Call{}, usage("%s is the request of a job, and no waiter", o.waiter)
	}
	if err != nil {
		return nil, compile.Call{}, usage("%s: %w", o.waiter, err)
	}
	found, err := o.open()
	if err != nil {
		return nil, compile.Call{}, err
	}
	service, err := found.Service(args[0])
	if err != nil {
		return nil, compile.Call{}, notFound(err, args[0])
	}
	operation := service.Operations[args[1]]
	if operation == nil {
		return nil, compile.Call{}, noOperation(service, args[1])
	}
	arguments, err := o.readArguments(operation, "")
	return w, compile.Call{Operation: operation, Arguments: arguments}, err
}

// noOperation says that the catalogue lacks an operation, and which are meant or
// there.
func noOperation(s *catalog.Service, name string) error {
	known := slices.Sorted(maps.Keys(s.Operations))
	if hint := suggestion(name, known); hint != "" {
		return usage("the catalogue does not have the operation %q of %s%s", name, s.Key, hint)
	}
	return usage("the catalogue does not have the operation %q of %s; it has those that waiters and jobs call: %s", name, s.Key, strings.Join(known, ", "))
}

// waiterName is the name of a waiter in a file, after the file if that has a
// name that a waiter can have.
func waiterName(file string) string {
	name := strings.TrimSuffix(filepath.Base(file), ".json")
	if !validWaiterName.MatchString(name) {
		return "Waiter"
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

var validWaiterName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*$`)
