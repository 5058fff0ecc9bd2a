package cdkapp

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
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
	where

	Job                                       Job
	Signal                                    Signal
	Strategy                                  compile.Strategy
	MaxWait, MinDelay, MaxDelay, InitialDelay awscdk.Duration
	Schedule                                  *pollcore.Planned
	Arguments                                 *map[string]any
	Start                                     *bool
	OnTimeout                                 OnTimeout
	CausePatterns                             *map[string]*string
	Events                                    *float64
	Fit                                       *bool
	Output                                    *string
	Scope                                     *string

	collected bool             // a collector can answer Tasks
	tried     compile.Strategy // that of SignalAuto
	whyPoll   string           // where SignalAuto is neither SYNC nor EVENTS
	started   map[string]any   // the arguments of the start call; nil are the input's
}

// form is what a waiter is compiled to.
type form struct {
	prefix string
	exits  map[pollcore.Status]string // of a fragment; nil for a whole machine
	// runJob and checkStatus are what the definition calls the functions by.
	runJob, checkStatus string
}

// bind looks the job up.
func (p *polling) bind() *bound {
	if p.Job == nil {
		p.refuse("Job", "it is required: pass what JobFromCatalog, JobFromDriver, JobFromWaiter, JobFromDefinition or JobFromShipped returns")
	}
	b, err := p.Job.bind()
	if err != nil {
		p.refuseFor(err, "Job", "%v", err)
	}
	return b
}

// compile turns the job into a state machine or a fragment of one.
func (p *polling) compile(b *bound, f form) *compile.Compiled {
	if b.waiter == nil {
		p.refuse("Job", "a definition is a whole state machine, and a waiter is needed here: use JobFromCatalog or JobFromWaiter")
	}
	if p.Signal == SignalAuto && p.tried == "" {
		return p.choose(b, f)
	}
	if b.driven && p.Signal != SignalEvents && !p.Strategy.UsesFunctions() && !p.tried.UsesFunctions() {
		p.refuse("Signal", "functions run the job %s: take %s", b.name, functionWays)
	}
	o := compile.Options{
		Prefix: f.prefix, Exits: f.exits, RunJobFunction: f.runJob, CheckStatusFunction: f.checkStatus,
		Fit: orElse(p.Fit, false), Output: text(p.Output),
	}
	var call compile.Call
	checkAll(func() {
		o.Strategy = p.strategy()
		checkAll(func() { call = p.call(b, o.Strategy) }, func() { o.CausePatterns = p.causePatterns(o.Strategy) })
	}, func() { o.Scope = p.scope() }, func() { p.schedule(&o) })
	compiled, err := compile.Compile(b.waiter, call, o)
	if err == nil {
		return compiled
	}
	if wrong, ok := errors.AsType[*compile.OptionError](err); ok && wrong.Field != "Waiter" {
		prop := wrong.Field // props have the names of options
		if prop == "Exits" {
			prop = "Prefix" // which the exits are named after
		}
		p.refuseFor(err, prop, "%s", wrong.Problem)
	}
	e := p.cannotCompile(err)
	blame := func(prop string, without func(*compile.Call, *compile.Options)) { // where it compiles without the prop
		otherCall, other := call, o
		without(&otherCall, &other)
		if _, err := compile.Compile(b.waiter, otherCall, other); err == nil {
			e.Prop = prop
		}
	}
	if p.Signal == SignalSync {
		blame("OnTimeout", func(c *compile.Call, _ *compile.Options) { c.Stop = nil })
		blame("Schedule", func(_ *compile.Call, o *compile.Options) { o.Schedule = nil })
		blame("InitialDelay", func(_ *compile.Call, o *compile.Options) { o.InitialDelay = 0 })
	}
	blame("Output", func(_ *compile.Call, o *compile.Options) { o.Output = "" })
	blame("Arguments", func(c *compile.Call, _ *compile.Options) {
		c.Arguments = nil
		if c.Start != nil {
			begin := *c.Start
			begin.Arguments = nil
			c.Start = &begin
		}
	})
	if f.exits != nil {
		blame("Prefix", func(_ *compile.Call, o *compile.Options) {
			o.Prefix, o.Exits = "P", map[pollcore.Status]string{pollcore.Succeeded: "S", pollcore.Failed: "F", pollcore.TimedOut: "T"}
		})
	}
	panic(e)
}

// scope is the expression of the prop Scope.
func (p *polling) scope() string {
	scope := text(p.Scope)
	if strings.Contains(scope, "${Token[") {
		if of := p.pathOf("Scope", "it", scope); of != "" {
			return p.inJSONata("Scope", "it", of)
		}
	}
	p.checkMembers("Scope", "it", scope)
	return scope
}

// call is what the machine calls: with Start false, or for a waiter, it does not
// start the job.
func (p *polling) call(b *bound, strategy compile.Strategy) compile.Call {
	call := b.call
	start := call.Start != nil
	if p.Start != nil {
		start = *p.Start
	}
	switch {
	case start && call.Start == nil:
		p.refuse("Start", "%s is a waiter, which starts no job: "+
			"give JobFromCatalog the operation that starts the job, or leave Start out", b.name)
	case start:
		begin := *call.Start
		begin.Arguments = p.arguments(begin.Operation, begin.Token, strategy)
		call.Start, p.started = &begin, begin.Arguments
	case call.Start != nil && strategy.UsesFunctions():
		p.refuse("Start", "with the strategy %s the functions always start %s: "+
			"name the waiter that waits for it, or take Signal %s with the strategy %s", strategy, b.name, SignalPoll, compile.Variables)
	default:
		call.Start, call.Stop = nil, nil
		call.Arguments = p.arguments(call.Operation, "", strategy)
	}
	if b.driven && p.OnTimeout != "" {
		p.refuse("OnTimeout", "the functions stop %s if its driver can: leave OnTimeout out", b.name)
	}
	switch p.OnTimeout {
	case OnTimeoutLeave:
		call.Stop = nil
	case OnTimeoutStop:
		if call.Stop == nil {
			p.refuse("OnTimeout", "the catalogue has no call that stops %s: leave OnTimeout out", b.name)
		}
	case "":
	default:
		p.refuse("OnTimeout", "it must be %q or %q, is %q", OnTimeoutStop, OnTimeoutLeave, p.OnTimeout)
	}
	return call
}

// schedule takes over the durations and the share of the history.
func (p *polling) schedule(o *compile.Options) {
	o.Schedule = p.Schedule
	var checks []func()
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
		checks = append(checks, func() { *d.to = p.wholeSeconds(d.prop, d.from) })
	}
	checkAll(append(checks, func() {
		if p.MaxWait == nil {
			p.refuse("MaxWait", "it is required: how long the job may take, such as awscdk.Duration_Hours(jsii.Number(2))")
		}
	}, func() {
		if p.Events != nil {
			o.Events = int(*p.Events)
			if float64(o.Events) != *p.Events || o.Events < 1 { // 0 means the default
				p.refuse("Events", "it must be a whole number from 1 to %d, is %v", asl.MaxEvents, *p.Events)
			}
		}
	})...)
}

func (p *polling) causePatterns(strategy compile.Strategy) map[string]string {
	if p.CausePatterns == nil || len(*p.CausePatterns) == 0 {
		return nil
	}
	if strategy.UsesFunctions() {
		p.refuse("CausePatterns", "the functions of the strategy %s see the codes of errors: leave it out", strategy)
	}
	patterns := make(map[string]string, len(*p.CausePatterns))
	for code, pattern := range *p.CausePatterns {
		if text(pattern) == "" {
			p.refuse("CausePatterns", "the pattern of %s is empty: give a text of the error's Cause, such as %q", code, "does not exist")
		}
		patterns[code] = *pattern
	}
	return patterns
}

// cannotCompile finds the prop that is to blame.
func (p *polling) cannotCompile(err error) *Error {
	e := &Error{Path: string(p.where), Prop: "Job", Problem: err.Error(), Err: err}
	not, ok := errors.AsType[*compile.NotCompiledError](err)
	if !ok {
		return e
	}
	switch {
	case len(not.Reasons) == 1 && not.FittingMaxDelay > 0:
		e.Prop = "MaxDelay"
		e.Problem += fmt.Sprintf("; give MaxDelay %s, or Fit true", not.FittingMaxDelay)
	case len(not.Reasons) == 1 && not.FittingMinDelay > 0:
		e.Prop = "MinDelay"
		e.Problem += fmt.Sprintf("; give MinDelay %s, or Fit true", not.FittingMinDelay)
	case len(not.Unmodeled) > 0:
		e.Prop = "CausePatterns"
		e.Problem += fmt.Sprintf("; give a pattern for each of %s, or take %s", strings.Join(not.Unmodeled, ", "), functionWays)
	case len(p.causesOf(not)) > 0:
		e.Prop = "CausePatterns"
	case signalOf(not.Strategy) != SignalPoll:
		e.Prop = "Signal"
		e.Problem += "; take another signal: " + quoteNames(slices.DeleteFunc(slices.Clone(signals), func(s Signal) bool { return s == p.Signal }))
	default:
		e.Prop = "Strategy"
		e.Problem += "; take another strategy: " + quoteNames(slices.DeleteFunc(polls(), func(s compile.Strategy) bool { return s == not.Strategy }))
	}
	return e
}

// causesOf are the codes of the prop CausePatterns that the compiler refused.
func (p *polling) causesOf(not *compile.NotCompiledError) []string {
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

func quoteNames[S ~string](names []S) string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = fmt.Sprintf("%q", string(name))
	}
	return strings.Join(all, ", ")
}
