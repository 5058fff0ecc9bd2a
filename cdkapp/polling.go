package cdkapp

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines"
)

// OnTimeout is what becomes of a job whose time is over.
type OnTimeout string

// What becomes of a job whose time is over.
const (
	// OnTimeoutStop stops the job, if the catalogue knows a call that does.
	OnTimeoutStop OnTimeout = "STOP"
	// OnTimeoutLeave leaves the job alone.
	OnTimeoutLeave OnTimeout = "LEAVE"
)

// polling is what the props of all constructs say about the wait. The names of
// its fields are those of the props.
type polling struct {
	Job                                       Job
	Strategy                                  statemachines.Strategy
	MaxWait, MinDelay, MaxDelay, InitialDelay awscdk.Duration
	Arguments                                 *map[string]any
	Start                                     *bool
	OnTimeout                                 OnTimeout
	CausePatterns                             *map[string]*string
	Events                                    *float64
	Fit                                       *bool
	Output                                    *string
	Scope                                     *string
}

// form is what a waiter is compiled to.
type form struct {
	prefix string
	exits  map[pollcore.Status]string // of a fragment; nil for a whole machine
	// runJob and checkStatus are what the definition calls the functions by.
	runJob, checkStatus string
}

// strategies are those that the prop Strategy can say.
var strategies = []statemachines.Strategy{
	statemachines.Variables, statemachines.RetryTask, statemachines.Loop, statemachines.LambdaLoop, statemachines.LambdaRetry,
}

// throughLambda tells whether a machine of this strategy needs the functions.
func throughLambda(s statemachines.Strategy) bool {
	return s == statemachines.LambdaLoop || s == statemachines.LambdaRetry
}

// refuse is an Error without the path of the construct.
func refuse(prop, format string, args ...any) *Error {
	return &Error{Prop: prop, Problem: fmt.Sprintf(format, args...)}
}

// bind looks the job up.
func (p *polling) bind() (*bound, error) {
	if p.Job == nil {
		return nil, refuse("Job", "it is required: give what JobFromCatalog, JobFromWaiter, JobFromDefinition or JobFromShipped returns")
	}
	b, err := p.Job.bind()
	if err != nil {
		return nil, &Error{Prop: "Job", Problem: err.Error(), Err: err}
	}
	return b, nil
}

// strategy is the one that is used.
func (p *polling) strategy() (statemachines.Strategy, error) {
	if p.Strategy == "" {
		return statemachines.Variables, nil
	}
	if !slices.Contains(strategies, p.Strategy) {
		return "", refuse("Strategy", "it must be one of %s, is %q", quoted(strategies), p.Strategy)
	}
	return p.Strategy, nil
}

// compile turns the job into a state machine or a fragment of one. Every error
// of a prop is an [*Error] without its path.
func (p *polling) compile(b *bound, f form) (*statemachines.Compiled, error) {
	if b.waiter == nil {
		return nil, refuse("Job", "a definition is a whole state machine, and what is needed here is a waiter: give JobFromCatalog or JobFromWaiter")
	}
	strategy, err := p.strategy()
	if err != nil {
		return nil, err
	}
	o := statemachines.Options{
		Strategy: strategy, Prefix: f.prefix, Exits: f.exits, RunJobFunction: f.runJob, CheckStatusFunction: f.checkStatus,
		Fit: orElse(p.Fit, false), Output: text(p.Output), Scope: text(p.Scope),
	}
	if err := p.schedule(b, &o); err != nil {
		return nil, err
	}
	if o.CausePatterns, err = p.causePatterns(strategy); err != nil {
		return nil, err
	}
	if text(p.Scope) != "" && !throughLambda(strategy) {
		return nil, refuse("Scope", "it tells the records of Lambda functions apart, and the strategy %s has none: leave it out", strategy)
	}
	call, err := p.call(b, strategy)
	if err != nil {
		return nil, err
	}
	compiled, err := statemachines.Compile(b.waiter, call, o)
	if err == nil {
		return compiled, nil
	}
	e := p.cannotCompile(err)
	blame := func(prop string, without func(*statemachines.Options)) { // where it compiles without the prop
		other := o
		without(&other)
		if _, err := statemachines.Compile(b.waiter, call, other); err == nil {
			e.Prop = prop
		}
	}
	blame("Output", func(o *statemachines.Options) { o.Output = "" })
	if f.exits != nil {
		blame("Prefix", func(o *statemachines.Options) {
			o.Prefix, o.Exits = "P", map[pollcore.Status]string{pollcore.Succeeded: "S", pollcore.Failed: "F", pollcore.TimedOut: "T"}
		})
	}
	return nil, e
}

// call is what the machine calls: with Start false, or for a waiter, it does not
// start the job.
func (p *polling) call(b *bound, strategy statemachines.Strategy) (statemachines.Call, error) {
	call := b.call
	arguments, err := plainArguments(p.Arguments)
	if err != nil {
		return call, err
	}
	start := call.Start != nil
	if p.Start != nil {
		start = *p.Start
	}
	switch {
	case start && call.Start == nil:
		return call, refuse("Start", "%s is a waiter, which does not say how its job is started: "+
			"give JobFromCatalog the name of the operation that starts it, or leave Start out", b.name)
	case start:
		begin := *call.Start
		begin.Arguments = arguments
		call.Start = &begin
	case call.Start != nil && throughLambda(strategy):
		return call, refuse("Start", "with the strategy %s a function looks after the job from its start, and cannot be told not to start %s: "+
			"name the waiter that waits for it, or take the strategy %s", strategy, b.name, statemachines.Variables)
	default:
		call.Start, call.Stop, call.Arguments = nil, nil, arguments
	}
	switch p.OnTimeout {
	case OnTimeoutLeave:
		call.Stop = nil
	case OnTimeoutStop:
		if call.Stop == nil {
			return call, refuse("OnTimeout", "the catalogue has no call that stops %s: leave OnTimeout out", b.name)
		}
	case "":
	default:
		return call, refuse("OnTimeout", "it must be %q or %q, is %q", OnTimeoutStop, OnTimeoutLeave, p.OnTimeout)
	}
	return call, nil
}

// schedule takes over the durations and the share of the history.
func (p *polling) schedule(b *bound, o *statemachines.Options) error {
	for _, d := range []struct {
		prop string
		from awscdk.Duration
		to   *time.Duration
	}{
		{"MaxWait", p.MaxWait, &o.MaxWait},
		{"MinDelay", p.MinDelay, &o.MinDelay},
		{"MaxDelay", p.MaxDelay, &o.MaxDelay},
		{"InitialDelay", p.InitialDelay, &o.InitialDelay},
	} {
		var err error
		if *d.to, err = wholeSeconds(d.prop, d.from); err != nil {
			return err
		}
	}
	shortest := o.MinDelay
	if shortest == 0 {
		shortest = pollcore.NewSchedule(b.waiter, o.MaxWait).Min
	}
	switch {
	case o.MaxWait == 0:
		return refuse("MaxWait", "it is required: how long the job may take, such as awscdk.Duration_Hours(jsii.Number(2))")
	case o.MaxDelay != 0 && o.MaxDelay < shortest:
		return refuse("MaxDelay", "it must not be below the shortest delay, %s, is %s: raise it or lower MinDelay", shortest, o.MaxDelay)
	case o.InitialDelay >= o.MaxWait:
		return refuse("InitialDelay", "it must be below MaxWait, which is %s, is %s", o.MaxWait, o.InitialDelay)
	case o.MinDelay > o.MaxWait:
		return refuse("MinDelay", "it must not be above MaxWait, which is %s, is %s", o.MaxWait, o.MinDelay)
	}
	if p.Events != nil {
		o.Events = int(*p.Events)
		if float64(o.Events) != *p.Events || o.Events < 1 || o.Events > historyLimit {
			return refuse("Events", "it must be a whole number from 1 to %d, is %v", historyLimit, *p.Events)
		}
	}
	return nil
}

// historyLimit is how many events the history of an execution can have.
const historyLimit = 25_000

// wholeSeconds reads a duration; 0 if it is not given.
func wholeSeconds(prop string, d awscdk.Duration) (time.Duration, error) {
	if d == nil {
		return 0, nil
	}
	if *d.IsUnresolved() {
		return 0, refuse(prop, "it must be known when the definition is made, and is a token: give a literal duration")
	}
	fractions := false
	seconds := *d.ToSeconds(&awscdk.TimeConversionOptions{Integral: &fractions})
	whole := time.Duration(seconds) * time.Second
	if seconds != float64(whole/time.Second) || seconds < 1 || whole > longestWait {
		return 0, refuse(prop, "it must be whole seconds, from 1 to a year, is %vs", seconds)
	}
	return whole, nil
}

func (p *polling) causePatterns(strategy statemachines.Strategy) (map[string]string, error) {
	if p.CausePatterns == nil || len(*p.CausePatterns) == 0 {
		return nil, nil //nolint:nilnil // none
	}
	if throughLambda(strategy) {
		return nil, refuse("CausePatterns", "the functions of the strategy %s see the codes of errors: leave it out", strategy)
	}
	patterns := make(map[string]string, len(*p.CausePatterns))
	for code, pattern := range *p.CausePatterns {
		if text(pattern) == "" {
			return nil, refuse("CausePatterns", "the pattern of %s is empty: say what a Cause with this error has, such as %q", code, "does not exist")
		}
		patterns[code] = *pattern
	}
	return patterns, nil
}

// cannotCompile finds the prop that is to blame.
func (p *polling) cannotCompile(err error) *Error {
	e := &Error{Prop: "Job", Problem: err.Error(), Err: err}
	not, ok := errors.AsType[*statemachines.NotCompiledError](err)
	if !ok {
		return e
	}
	switch {
	case len(not.Reasons) == 1 && not.FittingDelay > 0:
		e.Prop = "MinDelay"
		e.Problem += fmt.Sprintf("; give MinDelay %s, or Fit true", not.FittingDelay)
	case len(not.Unmodeled) > 0:
		e.Prop = "CausePatterns"
		e.Problem += fmt.Sprintf("; give a pattern for each of %s (statemachines.KnownCausePatterns has those with a source), or take the strategy %s",
			strings.Join(not.Unmodeled, ", "), statemachines.LambdaRetry)
	case len(p.causesOf(not)) > 0:
		e.Prop = "CausePatterns"
	default:
		e.Prop = "Strategy"
		others := slices.DeleteFunc(slices.Clone(strategies), func(s statemachines.Strategy) bool { return s == not.Strategy })
		e.Problem += "; take another strategy: " + quoted(others)
	}
	return e
}

// causesOf are the codes of the prop CausePatterns that the compiler refused.
func (p *polling) causesOf(not *statemachines.NotCompiledError) []string {
	if p.CausePatterns == nil {
		return nil
	}
	var codes []string
	for _, code := range slices.Sorted(maps.Keys(*p.CausePatterns)) {
		if slices.ContainsFunc(not.Reasons, func(reason string) bool { return strings.Contains(reason, " "+code) }) {
			codes = append(codes, code)
		}
	}
	return codes
}

func quoted[S ~string](names []S) string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = fmt.Sprintf("%q", string(name))
	}
	return strings.Join(all, ", ")
}

// plainArguments are the arguments without the pointers of the CDK. Nil stays
// nil: the arguments are the machine's input.
func plainArguments(arguments *map[string]any) (map[string]any, error) {
	if arguments == nil || *arguments == nil {
		return nil, nil //nolint:nilnil // not given
	}
	plain, err := plainValue("Arguments", reflect.ValueOf(*arguments))
	if err != nil {
		return nil, err
	}
	return plain.(map[string]any), nil
}

// plainValue follows the pointers of a value of JSON. A string may have tokens
// in it, which are filled in when the stack is deployed.
func plainValue(path string, v reflect.Value) (any, error) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return nil, nil
		}
		if _, ok := reflect.TypeAssert[awscdk.IResolvable](v); ok {
			return nil, refuse("Arguments", "%s is a token that is no string: give awscdk.Token_AsString of it", path)
		}
		v = v.Elem()
	}
	switch v.Kind() { //nolint:exhaustive // the rest is no JSON
	case reflect.Map:
		if v.Type().Key().Kind() != reflect.String {
			break
		}
		object := make(map[string]any, v.Len())
		for _, key := range v.MapKeys() {
			member, err := plainValue(path+"."+key.String(), v.MapIndex(key))
			if err != nil {
				return nil, err
			}
			object[key.String()] = member
		}
		return object, nil
	case reflect.Slice, reflect.Array:
		list := make([]any, v.Len())
		for i := range list {
			item, err := plainValue(fmt.Sprintf("%s[%d]", path, i), v.Index(i))
			if err != nil {
				return nil, err
			}
			list[i] = item
		}
		if len(list) == 1 && isToken(list) {
			return nil, refuse("Arguments", "%s is a list that is known only when the stack is deployed: "+
				"join it to a string, and in a strategy with JSONata write %q", path, "{% $split('…', ',') %}")
		}
		return list, nil
	case reflect.String:
		return v.String(), nil
	case reflect.Bool:
		return v.Bool(), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return v.Int(), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return v.Uint(), nil
	case reflect.Float32, reflect.Float64:
		if v.Float() < 0 && isToken(v.Float()) {
			return nil, refuse("Arguments", "%s is a number that is known only when the stack is deployed: "+
				"make it a string with awscdk.Token_AsString, and in a strategy with JSONata write %q", path, "{% $number('…') %}")
		}
		return v.Float(), nil
	}
	return nil, refuse("Arguments", "%s is %s, which JSON does not have: give maps, lists, strings, numbers and booleans", path, v.Type())
}

// isToken asks the CDK.
func isToken(v any) bool { return *awscdk.Token_IsUnresolved(v) }
