package compile

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// pagingMembers are names of members that choose a page and no resource.
var pagingMembers = []string{"NextToken", "Marker", "PageSize", "MaxResults", "MaxRecords", "MaxItems", "Limit"}

// exitNames are the exits of a fragment, by their names in --exits.
var exitNames = map[string]pollcore.Status{"succeeded": pollcore.Succeeded, "failed": pollcore.Failed, "timed-out": pollcore.TimedOut}

// compileOptions are the flags of "jobpoller compile".
type compileOptions struct {
	strategy                   string
	maxWait                    time.Duration
	delays                     kit.DelayFlags
	jobFrom, jobTo             time.Duration
	start, noStop, fit         bool
	report, iam                bool
	prefix, arguments          string
	exits                      map[string]string
	causes                     []string
	selected, unmodeled        string
	runJob, checkStatus, scope string
	check, output              string
	waiter                     string // a file with a waiter of the user's own
	task                       string // a file with a Task that polls
	events                     int
}

// throughLambda tells whether the Lambda functions start, poll and stop.
func (o *compileOptions) throughLambda() bool { return compile.Strategy(o.strategy).UsesFunctions() }

// options are the flags as options of Compile.
func (o *compileOptions) options() compile.Options {
	return compile.Options{
		Strategy: compile.Strategy(o.strategy), MaxWait: o.maxWait, MinDelay: o.delays.Min, MaxDelay: o.delays.Max, InitialDelay: o.delays.Initial,
		Schedule:       o.delays.Schedule,
		UnmodeledFails: o.unmodeled == "fail",
		Prefix:         o.prefix, Output: o.selected, Events: o.events, Fit: o.fit, JobFrom: o.jobFrom, JobTo: o.jobTo,
		RunJobFunction: o.runJob, CheckStatusFunction: o.checkStatus, Scope: o.scope,
	}
}

// optionFlag is the flag of an option, or of a call.
func optionFlag(field string) string {
	switch field {
	case "Output":
		return "--select"
	case "Waiter", "Operation", "Start", "Stop", "SelfFeeding":
		return field
	default:
		return "--" + kit.Kebab(field)
	}
}

// validate reports what is wrong with the flags, all at once.
func (o *compileOptions) validate(changed func(flag string) bool) error {
	options := o.options()
	problems := []error{kit.CheckOutput(o.output, "yaml")}
	if changed("max-wait") && o.maxWait <= 0 {
		problems = append(problems, kit.CheckMaxWait(o.maxWait))
		options.MaxWait = time.Second // its own message says all
	}
	problems = append(problems, compile.Relabel(options.Validate(), optionFlag))
	report := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	for _, f := range []struct {
		flag  string
		value time.Duration
	}{{"min-delay", o.delays.Min}, {"max-delay", o.delays.Max}, {"job-to", o.jobTo}} {
		if changed(f.flag) && f.value == 0 {
			report("--%s must be at least 1s, is 0", f.flag)
		}
	}
	if o.events == 0 {
		report("--events must be from 1 to %d, is 0", asl.MaxEvents)
	}
	if changed("job-from") && !changed("job-to") {
		report("--job-from needs --job-to, the longest time that the job takes")
	}
	if o.scope != "" && !strings.HasPrefix(o.scope, "{%") {
		report("--scope must be a JSONata expression that differs for each item, such as '{%% $states.input.index %%}', is %q", o.scope)
	}
	if o.unmodeled != "refuse" && o.unmodeled != "fail" {
		report("--unmodeled must be refuse or fail, is %q", o.unmodeled)
	}
	if o.report && o.iam || o.check != "" && (o.report || o.iam) {
		report("--report, --iam and --check exclude each other: give one of them")
	}
	problems = append(problems, o.checkMeaning(changed)...)
	return errors.Join(problems...)
}

// checkMeaning refuses flags that would change nothing beside the others.
func (o *compileOptions) checkMeaning(changed func(flag string) bool) []error {
	problems := kit.Meaningless(changed, []kit.Meaning{
		{Flags: []string{"run-job", "check-status"}, Means: o.throughLambda(), Why: "is for the strategies lambda-loop, lambda-retry and events"},
		{
			Flags: []string{"cause", "unmodeled"}, Means: !o.throughLambda(),
			Why: "is not for lambda-loop, lambda-retry and events: the Lambda functions see the codes of errors",
		},
		{Flags: []string{"job-from", "job-to"}, Means: o.report, Why: "needs --report"},
		{Flags: []string{"no-stop"}, Means: o.start || o.throughLambda(), Why: "needs --start: without it the machine stops no job"},
	})
	if o.waiter != "" && o.start {
		problems = append(problems, errors.New("--start is for jobs that jobpoller knows, not for WAITER.json"))
	}
	return problems
}

// causePatterns takes the values of --cause apart.
func (o *compileOptions) causePatterns() (map[string]string, error) {
	patterns := map[string]string{}
	for _, text := range o.causes {
		code, pattern, ok := strings.Cut(text, "=")
		if !ok || code == "" || pattern == "" {
			return nil, kit.Usage("--cause must be CODE=TEXT, is %q", text)
		}
		patterns[code] = pattern
	}
	return patterns, nil
}

// fitHint says which flag takes the delay that fits into the history, where none
// does: a line of its own, or nothing.
func fitHint(err error) string {
	refused, ok := errors.AsType[*compile.NotCompiledError](err)
	if !ok || cmp.Or(refused.FittingMinDelay, refused.FittingMaxDelay) == 0 {
		return ""
	}
	return fmt.Sprintf("\n--fit would take a delay of %s", cmp.Or(refused.FittingMinDelay, refused.FittingMaxDelay))
}

// remedy says what to do about a waiter that cannot be compiled: a line of its own,
// or nothing.
func (o *compileOptions) remedy(err error, call compile.Call) string {
	refused, ok := errors.AsType[*compile.NotCompiledError](err)
	switch {
	case !ok:
		return ""
	case o.throughLambda() && o.waiter != "":
		return "\nThe Lambda functions run jobs by name. Take another strategy for a waiter of your own."
	case refused.Strategy.Waits() && call.Start == nil:
		return "\nPass --start."
	case refused.Strategy.Waits() && call.Stop != nil && catalog.ReadsStartOutput(call.Stop.Arguments):
		return "\nPass --no-stop, and Step Functions alone decides what becomes of the job when the max wait is over."
	case refused.Optional != nil:
		return fmt.Sprintf("\nName them with --arguments, such as --arguments '{\"%[1]s.$\": \"$.%[1]s\"}'", sampleMember(refused.Optional))
	case len(refused.Unmodeled) == 0:
		return ""
	}
	flags := make([]string, len(refused.Unmodeled))
	for i, code := range refused.Unmodeled {
		flags[i] = fmt.Sprintf("--cause '%s=TEXT'", code)
	}
	hint := "\nStep Functions hides these codes. Give the text to look for: " + strings.Join(flags, " ") +
		". Or pass --unmodeled fail: such an error then fails the wait"
	if call.Job != "" {
		hint += ". Or take lambda-loop, lambda-retry or events: the Lambda functions see the codes"
	}
	return hint
}

// sampleMember is the first member that can name a resource.
func sampleMember(members []string) string {
	for _, name := range members {
		if !slices.Contains(pagingMembers, name) {
			return name
		}
	}
	return members[0]
}

func (o *compileOptions) fragmentExits() (map[pollcore.Status]string, error) {
	if len(o.exits) == 0 {
		return nil, nil //nolint:nilnil // no exits: a whole machine
	}
	exits := map[pollcore.Status]string{}
	for _, name := range slices.Sorted(maps.Keys(o.exits)) {
		status, ok := exitNames[name]
		if state := o.exits[name]; !ok || state == "" {
			return nil, kit.Usage("--exits must be succeeded=STATE,failed=STATE,timed-out=STATE, has %s=%s", name, state)
		}
		exits[status] = o.exits[name]
	}
	if len(exits) != len(exitNames) {
		return nil, kit.Usage("--exits needs a state for each of succeeded, failed and timed-out")
	}
	return exits, nil
}
