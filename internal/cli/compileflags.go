package cli

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// throughLambda tells whether the Lambda functions start, poll and stop.
func (o *compileOptions) throughLambda() bool {
	s := compile.Strategy(o.strategy)
	return s == compile.LambdaLoop || s == compile.LambdaRetry
}

// validate reports what is wrong with the flags, all at once.
func (o *compileOptions) validate(changed func(flag string) bool) error {
	problems := []error{checkOutput(o.output, "yaml"), o.checkStrategy()}
	report := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if o.maxWait <= 0 {
		report("--max-wait is required and must be above 0: how long the job may take, such as 2h")
	}
	for _, f := range []struct {
		flag  string
		value time.Duration
		least time.Duration
	}{
		{"max-wait", o.maxWait, 0},
		{"delay", o.minDelay, time.Second},
		{"max-delay", o.maxDelay, time.Second},
		{"initial-delay", o.initialDelay, 0},
		{"job-from", o.jobFrom, 0},
		{"job-to", o.jobTo, time.Second},
	} {
		switch {
		case !changed(f.flag):
		case f.value%time.Second != 0:
			report("--%s must be whole seconds, as the times of Step Functions are, is %s", f.flag, f.value)
		case f.value < f.least:
			report("--%s must be at least %s, is %s", f.flag, f.least, f.value)
		}
	}
	if o.minDelay > 0 && o.maxDelay > 0 && o.maxDelay < o.minDelay {
		report("--max-delay (%s) must not be below --delay (%s)", o.maxDelay, o.minDelay)
	}
	if o.maxWait > 0 && o.initialDelay >= o.maxWait {
		report("--initial-delay (%s) must be below --max-wait (%s)", o.initialDelay, o.maxWait)
	}
	if o.events < 1 || o.events > asl.MaxEvents {
		report("--events must be from 1 to %d, is %d", asl.MaxEvents, o.events)
	}
	if o.jobTo > 0 && o.jobTo < o.jobFrom {
		report("--job-to (%s) must not be below --job-from (%s)", o.jobTo, o.jobFrom)
	}
	if changed("job-from") && !changed("job-to") {
		report("--job-from needs --job-to, the longest time that the job takes")
	}
	if o.scope != "" && !strings.HasPrefix(o.scope, "{%") {
		report("--scope must be an expression of JSONata that differs for each item, such as '{%% $states.input.index %%}', is %q", o.scope)
	}
	if o.unmodeled != "refuse" && o.unmodeled != "fail" {
		report("--unmodeled must be refuse or fail, is %q", o.unmodeled)
	}
	if o.report && o.iam || o.check != "" && (o.report || o.iam) {
		report("--report, --iam and --check exclude each other")
	}
	problems = append(problems, o.checkMeaning(changed)...)
	return errors.Join(problems...)
}

func (o *compileOptions) checkStrategy() error {
	names := strategyNames()
	if slices.Contains(names, o.strategy) {
		return nil
	}
	return fmt.Errorf("--strategy must be one of %s, is %q%s", strings.Join(names, ", "), o.strategy, suggestion(o.strategy, names))
}

// checkMeaning refuses flags that would change nothing beside the others.
func (o *compileOptions) checkMeaning(changed func(flag string) bool) []error {
	problems := meaningless(changed, []meaning{
		{[]string{"run-job", "check-status", "scope"}, o.throughLambda(), "is for the strategies with Lambda functions"},
		{[]string{"cause", "unmodeled"}, !o.throughLambda(), "has no meaning with the Lambda functions, which see the codes of errors"},
		{[]string{"job-from", "job-to"}, o.report, "is for --report"},
		{[]string{"no-stop"}, o.start || o.throughLambda(), "needs --start: a job that somebody else has started is not stopped"},
	})
	if o.waiter != "" && o.start {
		problems = append(problems, errors.New("--start starts a job of the catalogue, and --waiter takes a waiter of your own"))
	}
	return problems
}

// causePatterns takes the values of --cause apart.
func (o *compileOptions) causePatterns() (map[string]string, error) {
	patterns := map[string]string{}
	for _, text := range o.causes {
		code, pattern, ok := strings.Cut(text, "=")
		if !ok || code == "" || pattern == "" {
			return nil, usage("--cause must be CODE=TEXT, is %q", text)
		}
		patterns[code] = pattern
	}
	return patterns, nil
}

// delays are the shortest and the longest delay, 0 for the waiter's own. One that
// is given alone wins over the other of the waiter.
func (o *compileOptions) delays(w *pollcore.Waiter) (low, high time.Duration) {
	own := pollcore.NewSchedule(w, o.maxWait)
	if o.maxDelay > 0 && o.minDelay == 0 && o.maxDelay < own.Min {
		return o.maxDelay, o.maxDelay
	}
	return o.minDelay, o.maxDelay
}

// fitHint says which flag takes the delay that fits into the history, where none
// does: a line of its own, or nothing.
func fitHint(err error) string {
	refused, ok := errors.AsType[*compile.NotCompiledError](err)
	if !ok || cmp.Or(refused.FittingMinDelay, refused.FittingMaxDelay) == 0 {
		return ""
	}
	return fmt.Sprintf("\n--fit takes a delay of %s", cmp.Or(refused.FittingMinDelay, refused.FittingMaxDelay))
}

// remedy says what to do about a waiter that cannot be compiled: a line of its own,
// or nothing.
func (o *compileOptions) remedy(err error, call compile.Call) string {
	refused, ok := errors.AsType[*compile.NotCompiledError](err)
	switch {
	case !ok:
		return ""
	case o.throughLambda() && o.waiter != "":
		return "\nthe Lambda functions run jobs by name: take one of the catalogue, or another strategy for a waiter of your own"
	case o.throughLambda() && call.Job == "":
		lack := awsjob.New(anyRegion).Check(call.Operation)
		if lack == nil {
			return ""
		}
		return "\n" + lackOf(&catalog.Entry{Service: call.Operation.Service}, lack) + ": take another strategy"
	case refused.Optional != nil:
		return fmt.Sprintf("\nname them with --arguments, such as --arguments '{\"%[1]s.$\": \"$.%[1]s\"}'", sampleMember(refused.Optional))
	case len(refused.Unmodeled) == 0:
		return ""
	}
	flags := make([]string, len(refused.Unmodeled))
	for i, code := range refused.Unmodeled {
		flags[i] = fmt.Sprintf("--cause '%s=TEXT'", code)
	}
	hint := "\nStep Functions hides these codes. Give the text to look for with " + strings.Join(flags, " ") +
		", or let such an error fail the wait with --unmodeled fail"
	if call.Job != "" {
		hint += ", or take a strategy with Lambda functions, which see the codes"
	}
	return hint
}

// pagingMembers are names of members that choose a page and no resource.
var pagingMembers = []string{"NextToken", "Marker", "PageSize", "MaxResults", "MaxRecords", "MaxItems", "Limit"}

// sampleMember is the first member that can name a resource.
func sampleMember(members []string) string {
	for _, name := range members {
		if !slices.Contains(pagingMembers, name) {
			return name
		}
	}
	return members[0]
}

// exitNames are the ends of a fragment as --exits names them.
var exitNames = map[string]pollcore.Status{"succeeded": pollcore.Succeeded, "failed": pollcore.Failed, "timed-out": pollcore.TimedOut}

func (o *compileOptions) fragmentExits() (map[pollcore.Status]string, error) {
	if len(o.exits) == 0 {
		return nil, nil //nolint:nilnil // no exits: a whole machine
	}
	exits := map[pollcore.Status]string{}
	for _, name := range slices.Sorted(maps.Keys(o.exits)) {
		status, ok := exitNames[name]
		if state := o.exits[name]; !ok || state == "" {
			return nil, usage("--exits: expected succeeded=STATE,failed=STATE,timed-out=STATE, found %s=%s", name, state)
		}
		exits[status] = o.exits[name]
	}
	if len(exits) != len(exitNames) {
		return nil, usage("--exits needs a state for each of succeeded, failed and timed-out")
	}
	return exits, nil
}
