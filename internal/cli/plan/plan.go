// Package plan is "jobpoller plan": the schedule that fits a job.
package plan

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/nearest"
	"github.com/jobpoller/jobpoller/pollcore/plan"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// planOptions are the flags of "jobpoller plan".
type planOptions struct {
	duration    string
	durations   string
	late        string
	jitter      time.Duration
	strategy    string
	executions  executionOptions
	service     serviceOptions
	aws         kit.AwsFlags
	region      string // of prices, quotas and calls
	only        string
	input       string
	concurrent  int
	substitutes []string
	statuses    []string
	said        map[string]lint.Meaning // by --status
	output      string

	check    bool
	schedule string
	earlier  string
}

const planHelp = `Plan prints when to poll jobs whose durations are known, so that --late is met with
few calls. A table compares this schedule with a fixed delay and with a backoff that
doubles; with SERVICE NAME, or with a definition that polls, also with today's, which
a run on simulated jobs shows. docs/guide/plan.md explains each part.

Durations:
  --duration         as one of constant(10m), uniform(15m, 30m), exponential(20m),
                     lognormal(15m, 0.5), weibull(20m, 3),
                     mix(80% lognormal(1m, 0.25), 20% lognormal(1h, 0.25))
  --durations        a file, or - for the standard input: a duration a line, such as
                     15m3s or 903 for seconds; CSV with the columns start and end, or
                     duration; or JSON with times, such as the lists of a service, what
                     wait and run print, histories, the log of the Lambda functions.
                     Times without a zone are in UTC.
  --from-executions  past executions of a state machine
  --from-service     past jobs, as the service lists them ("jobpoller show SERVICE NAME")
The last two CALL AWS with your credentials, and change nothing. So does a DEFINITION
that is the ARN of a state machine, a version or an execution.

--late is a time, or a share of the job's length such as 5%. It is the mean, unless
p50, p95 or worst follows: --late '30s p95'.

--check says whether the schedule in --schedule still holds: whether the jobs of
--durations, --from-executions or --from-service are seen later than it promises, and
whether their durations have drifted from --duration or --earlier, for which it was
planned. It needs 20 jobs. Each test is wrong in 1 % of the checks.

Exit codes: 0 printed, or with --check the plan holds; 1 it does not; 2 wrong usage,
such as a file without durations; 4 could not ask AWS, or too few jobs to check; 130
interrupted.`

// New is "jobpoller plan".
func New() *cobra.Command {
	var o planOptions
	c := &cobra.Command{
		Use:   "plan [SERVICE NAME | DEFINITION] (--duration TEXT | --durations FILE | --from-executions ARN | --from-service)",
		Short: "Find the delays between polls that fit how long jobs take",
		Long:  planHelp,
		Example: `  jobpoller plan --duration 'lognormal(15m, 0.5)' --late 30s
  jobpoller plan glue StartJobRun --durations past.txt --late 5%
  aws glue get-job-runs --job-name nightly | jobpoller plan glue StartJobRun --durations -
  jobpoller plan glue StartJobRun --from-service --param JobName=nightly
  jobpoller plan --from-executions arn:aws:states:us-east-1:123456789012:stateMachine:nightly --keep past.jsonl
  jobpoller plan athena StartQueryExecution --duration 'uniform(15m, 30m)' --concurrent 100000
  jobpoller plan poller.asl.json --durations past.csv -o schedule >schedule.json
  jobpoller plan arn:aws:states:us-east-1:123456789012:stateMachine:nightly --durations past.csv
  jobpoller plan --check --schedule schedule.json --earlier past.csv --durations new.csv`,
		Args: kit.SomeArguments(0, 2, "a service and the name of a job, or a definition"), //nolint:mnd // SERVICE NAME
		RunE: func(c *cobra.Command, args []string) error { return runPlan(c, args, o) },
	}
	o.addTo(c)
	return c
}

func (o *planOptions) addTo(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&o.duration, "duration", "", "how long jobs take, such as 'lognormal(15m, 0.5)': the median, and the deviation of the logarithm")
	f.StringVar(&o.durations, "durations", "", "`FILE` with how long past jobs took")
	f.StringVar(&o.late, "late", "30s", "how late a poll may see the end: a time or a share such as 5%, and p50, p95 or worst if not the mean")
	kit.AddDuration(f, &o.jitter, "jitter", 0, "spread the polls of jobs that start together over this time")
	f.StringVar(&o.strategy, "strategy", string(compile.Variables), "of the table's costs: "+kit.OrList(kit.StrategyNames(pollingStrategies())))
	o.aws.AddTo(c)
	f.Lookup("region").Usage = "`REGION` of the prices and quotas (default that of --from-executions or --from-service, or " + asl.DefaultRegion + ")"
	o.addExecutions(c)
	o.addService(c)
	f.IntVar(&o.concurrent, "concurrent", 0, "how many jobs run at once: check every quota that they need")
	f.StringVar(&o.only, "only", "", "`TASK` whose loop to plan, and whose jobs alone to count, where a definition polls with several")
	f.StringVar(&o.input, "input", "", "`INPUT` of the definition, JSON or a file: plan runs it on simulated jobs to see when it polls")
	f.BoolVar(&o.check, "check", false, "say whether the plan in --schedule still holds")
	f.StringVar(&o.schedule, "schedule", "", "`FILE` with the schedule to check, as -o schedule prints it")
	f.StringVar(&o.earlier, "earlier", "", "`FILE` with the durations that the schedule to check was planned for")
	kit.SetOwn(c, "only")
	kit.Must(c.MarkFlagFilename("schedule", "json"))
	kit.AddSubstitutes(f, &o.substitutes)
	kit.AddStatuses(f, &o.statuses)
	kit.AddOutput(c, &o.output, planOutputs...)
	kit.CompleteEntries(c, false)
	kit.CompleteWords(c, "strategy", kit.StrategyNames(pollingStrategies())...)
	kit.CompleteNothing(c, "duration", "late", "jitter", "only", "concurrent", "substitute", "status", "input")
}

// pollingStrategies are those that have delays.
func pollingStrategies() []compile.Strategy {
	return slices.DeleteFunc(compile.Strategies(), compile.Strategy.Waits)
}

// mostConcurrent is the largest number of --concurrent.
const mostConcurrent = 1_000_000_000

// planOutputs are the outputs besides text and JSON.
var planOutputs = []string{"svg", "schedule"}

func (o *planOptions) validate(args []string) (plan.Goal, error) {
	var problems []error
	if err := kit.CheckOutput(o.output, planOutputs...); err != nil {
		problems = append(problems, err)
	}
	problems = append(problems, o.checkProblems()...)
	problems = append(problems, o.sourceProblems(args)...)
	files := append([]string{o.schedule, o.durations, o.earlier, strings.TrimPrefix(o.input, "@")}, args...)
	if files = slices.DeleteFunc(files, func(name string) bool { return name != kit.Stdin }); len(files) > 1 {
		problems = append(problems, errors.New("only one file can be the standard input"))
	}
	switch names := kit.StrategyNames(pollingStrategies()); {
	case compile.Strategy(o.strategy).Waits():
		problems = append(problems, fmt.Errorf("--strategy %s has no delays to plan: Step Functions waits, and nobody has measured how late. "+
			"To compare it with strategies that poll, see docs/guide/signals.md, or pass --concurrent with one of them", o.strategy))
	case !slices.Contains(names, o.strategy):
		problems = append(problems, fmt.Errorf("--strategy must be %s, is %q%s", kit.OrList(names), o.strategy, nearest.DidYouMean(o.strategy, names)))
	}
	var err error
	if o.said, err = kit.ReadStatuses(o.statuses); err != nil {
		problems = append(problems, err)
	}
	if err := o.settleRegion(args); err != nil {
		problems = append(problems, err)
	}
	if o.concurrent < 0 || o.concurrent > mostConcurrent {
		problems = append(problems, fmt.Errorf("--concurrent must be from 1 to %d, is %d", mostConcurrent, o.concurrent))
	}
	if o.jitter < 0 || o.jitter > plan.MaxJitter || o.jitter%time.Second != 0 {
		problems = append(problems, fmt.Errorf("--jitter must be whole seconds from 0 to %s, is %s", kit.ShortDuration(plan.MaxJitter), kit.ShortDuration(o.jitter)))
	}
	goal, err := plan.ParseGoal(o.late)
	if err != nil {
		problems = append(problems, fmt.Errorf("--late: %w", err))
	}
	return goal, errors.Join(problems...)
}

func runPlan(c *cobra.Command, args []string, o planOptions) error {
	goal, err := o.validate(args)
	if err != nil {
		return kit.Usage("%w", err)
	}
	today, err := o.today(c, args)
	if err != nil {
		return err
	}
	if o.check {
		return o.runCheck(c, args, today)
	}
	known, err := o.readKnowledge(c, today)
	if err != nil {
		return err
	}
	if err := today.run(c.Context(), known); err != nil {
		return err
	}
	p, err := newPlanReport(o, goal, today, known)
	if err != nil {
		return err
	}
	return o.print(c, p)
}

// namesDefinition tells whether an argument is the name of a file or an ARN, and not
// SERVICE:NAME.
func namesDefinition(name string) bool {
	if !strings.Contains(name, ":") || source.IsARN(name) {
		return true
	}
	file, _, _ := strings.Cut(name, "#")
	_, err := os.Stat(file)
	return err == nil
}
