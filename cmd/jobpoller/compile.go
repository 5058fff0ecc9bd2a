package main

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines"
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
	exits, causes                map[string]string
	runJob, checkStatus, scope   string
	waiter, check, output        string
	events                       int
}

var strategies = []statemachines.Strategy{
	statemachines.LambdaLoop, statemachines.LambdaRetry, statemachines.Loop, statemachines.Variables, statemachines.RetryTask,
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
		Use:   "compile (SERVICE NAME | --waiter FILE SERVICE OPERATION)",
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
another machine, which goes on in the states named. docs/compile.md says what a
compiled machine promises.

With --report it prints instead what the machine costs, and with --iam the policy
that its role needs.

Exit codes: 0 done, 1 the strategy cannot say what the waiter asks for, or
--check found a difference, 2 wrong usage.`,
		Example: `  jobpoller compile dynamodb ExportCompleted --strategy retry-task --max-wait 2h
  jobpoller compile dynamodb ExportTableToPointInTime --start --max-wait 2h >export.asl.json
  jobpoller compile athena StartQueryExecution --start --max-wait 30m --report -o json
  jobpoller compile dynamodb ExportTableToPointInTime --start --max-wait 2h --iam
  jobpoller compile --waiter mine.json dynamodb DescribeExport --max-wait 1h
  jobpoller compile dynamodb ExportCompleted --max-wait 2h --check export.asl.json`,
		Args: twoNames,
		RunE: func(c *cobra.Command, args []string) error { return runCompile(c, args, o) },
	}
	f := c.Flags()
	f.StringVar(&o.strategy, "strategy", string(statemachines.Variables), strings.Join(names, ", "))
	f.DurationVar(&o.maxWait, "max-wait", 0, "how long the job may take, such as 2h (required)")
	f.DurationVar(&o.minDelay, "delay", 0, "shortest delay between calls instead of the waiter's")
	f.DurationVar(&o.maxDelay, "max-delay", 0, "longest delay between calls instead of the waiter's")
	f.DurationVar(&o.initialDelay, "initial-delay", 0, "delay before the first call")
	f.BoolVar(&o.start, "start", false, "start the job first; the input is that of the start call")
	f.BoolVar(&o.noStop, "no-stop", false, "leave a job alone when its time is over")
	f.StringVar(&o.arguments, "arguments", "", "arguments of the first call as JSON, in PascalCase, instead of the machine's input")
	f.StringVar(&o.prefix, "prefix", "", "what the names of states and variables start with")
	f.IntVar(&o.events, "events", statemachines.DefaultEvents, "how many of the 25,000 events of an execution it may use")
	f.BoolVar(&o.fit, "fit", false, "lengthen the delay until the events suffice")
	f.StringToStringVar(&o.exits, "exits", nil, "make a fragment that goes on in these states: succeeded=A,failed=B,timed-out=C")
	f.StringToStringVar(&o.causes, "cause", nil, "CODE=TEXT: what the cause of an error has that only its code names; * is any text")
	f.StringVar(&o.runJob, "run-job", statemachines.RunJobFunction, "name or ARN of the function run-job")
	f.StringVar(&o.checkStatus, "check-status", statemachines.CheckStatusFunction, "name or ARN of the function check-status")
	f.StringVar(&o.scope, "scope", "", "for the functions inside a Map: an expression that differs for each item")
	f.StringVar(&o.waiter, "waiter", "", "file with a waiter of your own, in the Smithy form")
	f.StringVar(&o.check, "check", "", "file with the definition: say whether it is still the same")
	f.BoolVar(&o.report, "report", false, "print transitions, events, cost and lateness")
	f.BoolVar(&o.iam, "iam", false, "print the IAM policy that the machine's role needs")
	f.DurationVar(&o.jobFrom, "job-from", 0, "for --report: the shortest time that the job takes")
	f.DurationVar(&o.jobTo, "job-to", 0, "for --report: the longest time that the job takes")
	o.addTo(c, true)
	f.StringVarP(&o.output, "output", "o", "text", "text, json or yaml; the text of a definition is JSON")
	must(c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]cobra.Completion{"text", "json", "yaml"}, cobra.ShellCompDirectiveNoFileComp)))
	c.MarkFlagsMutuallyExclusive("report", "iam", "check")
	must(c.MarkFlagFilename("waiter", "json"))
	must(c.MarkFlagFilename("check", "json", "yaml"))
	must(c.RegisterFlagCompletionFunc("strategy", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp)))
	return c
}

func runCompile(c *cobra.Command, args []string, o compileOptions) error {
	if err := o.validate(); err != nil {
		return err
	}
	w, call, err := o.call(c, args)
	if err != nil {
		return err
	}
	exits, err := o.fragmentExits()
	if err != nil {
		return err
	}
	compiled, err := statemachines.Compile(w, call, statemachines.Options{
		Strategy: statemachines.Strategy(o.strategy), MaxWait: o.maxWait, MinDelay: o.minDelay, MaxDelay: o.maxDelay, InitialDelay: o.initialDelay,
		CausePatterns: o.causes, Prefix: o.prefix, Exits: exits, Events: o.events, Fit: o.fit, JobFrom: o.jobFrom, JobTo: o.jobTo,
		RunJobFunction: o.runJob, CheckStatusFunction: o.checkStatus, Scope: o.scope,
	})
	switch {
	case errors.Is(err, statemachines.ErrNotCompiled):
		return &exitError{exitFailed, err}
	case err != nil:
		return usage("%w", err)
	}
	return o.write(c, compiled)
}

// exitNames are the ends of a fragment as --exits names them.
var exitNames = map[string]pollcore.Status{"succeeded": pollcore.Succeeded, "failed": pollcore.Failed, "timed-out": pollcore.TimedOut}

func (o *compileOptions) fragmentExits() (map[pollcore.Status]string, error) {
	if len(o.exits) == 0 {
		return nil, nil //nolint:nilnil // no exits: a whole machine
	}
	exits := map[pollcore.Status]string{}
	for name, state := range o.exits {
		status, ok := exitNames[name]
		if !ok || state == "" {
			return nil, usage("--exits: expected succeeded=STATE,failed=STATE,timed-out=STATE, found %s=%s", name, state)
		}
		exits[status] = state
	}
	if len(exits) != len(exitNames) {
		return nil, usage("--exits needs a state for each of succeeded, failed and timed-out")
	}
	return exits, nil
}

func (o *compileOptions) validate() error {
	if !slices.Contains([]string{"text", "json", "yaml"}, o.output) {
		return usage("--output must be text, json or yaml, is %q", o.output)
	}
	if !slices.Contains(strategies, statemachines.Strategy(o.strategy)) {
		return usage("--strategy must be one of %s, is %q", strings.Join(strategyNames(), ", "), o.strategy)
	}
	if o.maxWait <= 0 {
		return usage("--max-wait is required and must be above 0: how long the job may take, such as 2h")
	}
	if o.waiter != "" && o.start {
		return usage("--start starts a job of the catalogue, and --waiter takes a waiter of your own")
	}
	return nil
}

// call finds the waiter and what it polls.
func (o *compileOptions) call(c *cobra.Command, args []string) (*pollcore.Waiter, statemachines.Call, error) {
	var arguments map[string]any
	if o.arguments != "" {
		if err := json.Unmarshal([]byte(o.arguments), &arguments); err != nil {
			return nil, statemachines.Call{}, usage("--arguments must be a JSON object: %w", err)
		}
	}
	if o.waiter != "" {
		return o.ownWaiter(c, args, arguments)
	}
	entry, err := o.entry(args[0], args[1])
	if err != nil {
		return nil, statemachines.Call{}, err
	}
	call := statemachines.CallOf(entry)
	switch {
	case !o.start:
		call.Start, call.Stop, call.Arguments = nil, nil, arguments
	case call.Start == nil:
		return nil, call, usage("--start: %s is a waiter, which does not say how its job is started; %s", entry.Name, jobsThatPoll(entry))
	default:
		call.Start.Arguments = arguments
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

func (o *compileOptions) ownWaiter(c *cobra.Command, args []string, arguments map[string]any) (*pollcore.Waiter, statemachines.Call, error) {
	text, err := readText(o.waiter, c.InOrStdin())
	if err != nil {
		return nil, statemachines.Call{}, err
	}
	w, err := pollcore.ParseWaiter(waiterName(o.waiter), text)
	if err != nil {
		return nil, statemachines.Call{}, usage("%s: %w", o.waiter, err)
	}
	found, err := o.open()
	if err != nil {
		return nil, statemachines.Call{}, err
	}
	service, err := found.Service(args[0])
	if err != nil {
		return nil, statemachines.Call{}, notFound(err, args[0])
	}
	operation := service.Operations[args[1]]
	if operation == nil {
		return nil, statemachines.Call{}, usage("the catalogue does not have the operation %q of %s: it has those that waiters and jobs call", args[1], service.Key)
	}
	return w, statemachines.Call{Operation: operation, Arguments: arguments}, nil
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
