// Package compile is "jobpoller compile": it writes state machines that poll.
package compile

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// New is "jobpoller compile".
func New() *cobra.Command {
	var o compileOptions
	c := &cobra.Command{
		Use:   "compile (SERVICE NAME | WAITER.json (SERVICE OPERATION | --task TASK.json)) --max-wait DURATION",
		Short: "Turn a waiter into a state machine",
		Long: `Compile prints a state machine that polls until the waiter says success or
failure, or until --max-wait is over. With --start the machine starts the job
first, and stops it when --max-wait is over (unless --no-stop).

Strategies:
` + kit.StrategyHelp(compile.Strategies()) + `
The machine's input is the input of its first call, unless you pass --arguments.
With --exits compile prints a fragment: states to merge into your own machine.
With --task a Task of yours polls, in JSONata: it may call a Lambda function, an HTTP
API or another state machine. The paths of WAITER.json lead into what it returns.
--report prints what the machine costs, --iam the policy that its role needs.

Where the wait could fill the history of an execution, compile takes a longer delay,
or another strategy if you pass the delays, and says so.

Exit codes: 0 succeeded, 1 the strategy cannot express the waiter, or --check
found a difference, 2 wrong usage.`,
		Example: `  jobpoller compile dynamodb ExportCompleted --strategy retry-task --max-wait 2h
  jobpoller compile dynamodb ExportTableToPointInTime --start --max-wait 2h >export.asl.json
  jobpoller compile athena StartQueryExecution --start --max-wait 30m --report -o json
  jobpoller compile dynamodb ExportTableToPointInTime --start --max-wait 2h --iam
  jobpoller compile mine.json dynamodb DescribeExport --max-wait 1h
  jobpoller compile mine.json --task ask-function.json --max-wait 1h
  jobpoller compile dynamodb ExportCompleted --max-wait 2h --check export.asl.json`,
		Args: func(c *cobra.Command, args []string) error {
			args = o.takeFile(args)
			switch {
			case o.task != "" && o.waiter == "":
				return kit.Usage("--task needs WAITER.json, which says when the job has ended: compile waiter.json --task %s", o.task)
			case o.task != "" && len(args) > 0:
				return kit.Usage("--task polls: leave %s out", strings.Join(args, " "))
			case o.task != "":
				return nil
			case o.waiter != "" && len(args) != 2:
				return kit.Usage("expected WAITER.json, a service and the operation to poll, such as waiter.json dynamodb DescribeExport, found %s",
					kit.Plural(len(args)+1, "argument"))
			}
			return kit.RequireName(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			args = o.takeFile(args)
			return runCompile(c, args, o)
		},
	}
	o.addTo(c)
	return c
}

// addTo gives the command its flags.
func (o *compileOptions) addTo(c *cobra.Command) {
	f := c.Flags()
	names := kit.StrategyNames(compile.Strategies())
	f.StringVar(&o.strategy, "strategy", "", kit.OrList(names)+"; default variables, or what the history has room for")
	kit.AddMaxWait(f, &o.maxWait, 0)
	o.delays.AddTo(f)
	f.BoolVar(&o.start, "start", false, "start the job first; the machine's input is that of the start call")
	f.BoolVar(&o.noStop, "no-stop", false, "do not stop the job when --max-wait is over")
	f.StringVar(&o.arguments, "arguments", "", "`JSON` of the first call's arguments, instead of the machine's input")
	f.StringVar(&o.task, "task", "", "`FILE` with a Task of ASL in JSONata that polls, for WAITER.json")
	f.StringVar(&o.prefix, "prefix", "", "`PREFIX` of the names of states and variables")
	kit.SetOwn(c, "prefix")
	f.StringVar(&o.selected, "select", "", "`EXPRESSION` of JMESPath that selects the output from the response")
	f.IntVar(&o.events, "events", compile.DefaultEvents, "events that the wait may write, of the 25,000 of an execution")
	f.BoolVar(&o.fit, "fit", false, "lengthen also a delay that you pass until the events suffice")
	f.StringToStringVar(&o.exits, "exits", nil, "`STATES` in which the fragment that compile prints goes on: succeeded=A,failed=B,timed-out=C")
	f.StringArrayVar(&o.causes, "cause", nil, "`CODE=TEXT`: text in the cause of an error whose code Step Functions hides; * is any text; repeatable")
	f.StringVar(&o.unmodeled, "unmodeled", "refuse", "what an error with a hidden code and no known text does: refuse (do not compile) or fail (the wait)")
	f.StringVar(&o.runJob, "run-job", statemachines.RunJobFunction, "`NAME` or ARN of the function run-job")
	f.StringVar(&o.checkStatus, "check-status", statemachines.CheckStatusFunction, "`NAME` or ARN of the function check-status")
	f.StringVar(&o.scope, "scope", "", "`EXPRESSION` that differs for each item, for the Lambda strategies inside a Map")
	f.StringVar(&o.check, "check", "", "`FILE` with a definition, or template.yaml#LogicalId: report whether it is what compile prints")
	f.BoolVar(&o.report, "report", false, "print transitions, events, cost and lateness")
	f.BoolVar(&o.iam, "iam", false, "print the IAM policy that the machine's role needs")
	kit.AddDuration(f, &o.jobFrom, "job-from", 0, "for --report: the shortest time that the job takes")
	kit.AddDuration(f, &o.jobTo, "job-to", 0, "for --report: the longest time that the job takes")
	kit.CompleteEntriesOr(c, func(args []string) ([]string, bool) {
		behind := (&compileOptions{}).takeFile(args)
		return behind, len(behind) < len(args)
	})
	kit.AddOutput(c, &o.output, "yaml")
	kit.Must(c.MarkFlagFilename("check", "json", "yaml", "yml"))
	kit.Must(c.MarkFlagFilename("task", "json"))
	kit.Must(c.MarkFlagFilename("schedule", "json"))
	kit.CompleteWords(c, "unmodeled", "refuse", "fail")
	kit.CompleteWords(c, "strategy", names...)
	kit.CompleteNothing(c, "max-wait", "min-delay", "max-delay", "initial-delay", "arguments", "prefix", "select", "events", "exits", "cause",
		"run-job", "check-status", "scope", "job-from", "job-to")
}

// takeFile takes WAITER.json from the front of the arguments. No service has a name
// that ends so.
func (o *compileOptions) takeFile(args []string) []string {
	if len(args) == 0 || !strings.HasSuffix(args[0], ".json") {
		return args
	}
	o.waiter = args[0]
	return args[1:]
}

func runCompile(c *cobra.Command, args []string, o compileOptions) error {
	if err := o.delays.ReadSchedule(c.InOrStdin()); err != nil {
		return err
	}
	if err := o.validate(c.Flags().Changed); err != nil {
		return kit.Usage("%w", err)
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
	options := o.options()
	options.CausePatterns, options.Exits = causes, exits
	compiled, err := compile.Compile(w, call, options)
	switch {
	case errors.Is(err, compile.ErrNotCompiled):
		return kit.WithCode(kit.ExitFailed, fmt.Errorf("%w%s%s", err, fitHint(err), o.remedy(err, call)))
	case err != nil:
		return kit.Usage("%w", compile.Relabel(err, optionFlag))
	}
	return o.write(c, compiled)
}

// call finds the waiter and what it polls.
func (o *compileOptions) call(c *cobra.Command, args []string) (*pollcore.Waiter, compile.Call, error) {
	if o.waiter != "" {
		return o.ownWaiter(c, args)
	}
	entry, err := kit.LookupAny(args, c.ErrOrStderr())
	if err != nil {
		return nil, compile.Call{}, err
	}
	if entry.Kind == catalog.Derived && o.throughLambda() {
		return nil, compile.Call{}, kit.Usage("the Lambda functions know no derived jobs: take another --strategy than %s", o.strategy)
	}
	call := compile.CallOf(entry)
	starts := call.Start != nil && (o.start || o.throughLambda()) // the functions always start a job
	switch {
	case o.start && call.Start == nil:
		return nil, call, kit.Usage("--start needs a job, and %s is a waiter: %s", entry.Name, jobsThatPoll(entry))
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

// jobsThatPoll names the jobs that poll the operation of a waiter.
func jobsThatPoll(e *catalog.Entry) string {
	var names []string
	for name, job := range e.Service.Jobs {
		if job.Describe == e.Operation.Name {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "jobpoller knows no job that it could wait for"
	}
	slices.Sort(names)
	return "take " + kit.OrList(names)
}

// ownWaiter reads a waiter from a file, for an operation of any service.
func (o *compileOptions) ownWaiter(c *cobra.Command, args []string) (*pollcore.Waiter, compile.Call, error) {
	text, err := kit.ReadText(o.waiter, c.InOrStdin())
	if err != nil {
		return nil, compile.Call{}, err
	}
	w, err := pollcore.ParseWaiter(waiterName(o.waiter), text)
	if err != nil && kit.IsRequest(text) {
		return nil, compile.Call{}, kit.Usage("%s is a request of the Lambda functions, not a waiter", o.waiter)
	}
	if err != nil {
		return nil, compile.Call{}, kit.Usage("%s: %w", o.waiter, err)
	}
	if o.task != "" {
		call, err := o.ownTask(c)
		return w, call, err
	}
	operation, err := kit.FindOperation(args[0], args[1])
	if err != nil {
		return nil, compile.Call{}, err
	}
	if known, err := catalog.AWS().Service(operation.Service.Key); o.iam && (err != nil || known != operation.Service) {
		terminal.Fprintf(c.ErrOrStderr(), "warning: the policy has the IAM action %s after the name of the operation, and a few services name it otherwise: "+
			"look it up in the Service Authorization Reference\n", strings.Join(operation.Actions, ", "))
	}
	arguments, err := o.readArguments(operation, "")
	return w, compile.Call{Operation: operation, Arguments: arguments}, err
}

// waiterName is the name of a waiter in a file, after the file if that has a
// name that a waiter can have.
func waiterName(file string) string {
	name := strings.TrimSuffix(filepath.Base(file), ".json")
	if !validWaiterName().MatchString(name) {
		return "Waiter"
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

var validWaiterName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*$`) })
