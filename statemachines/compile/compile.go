// Package compile makes state machines of waiters: definitions that call an
// operation until the waiter says that the job has ended.
package compile

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// Compiled is a waiter as a state machine.
type Compiled struct {
	// Machine is the definition. If Options.Exits is set, it is a fragment: its
	// states are to be merged into those of another machine, which has the
	// states that the exits name; Machine has them as states that end.
	Machine *asl.StateMachine
	// StartAt is the first state.
	StartAt string
	// Strategy is how it polls.
	Strategy Strategy
	// Warnings say what may keep Step Functions from taking the definition, and what
	// it does other than its users may expect.
	Warnings []string
	// Policy is what the role of the state machine has to be allowed. What the
	// Lambda functions call is for their own role.
	Policy Policy
	// Unnamed are the members of the start call's input that name a resource of an
	// action when the machine runs: its Policy has an asterisk for that. By action.
	Unnamed map[string][]string
	// Choice says which delay or strategy the history made Compile take, why, and which
	// it would have taken; empty if none.
	Choice string

	plan *plan
}

// Compile returns a state machine that calls the operation until the waiter
// says that the job has ended, or MaxWait has passed.
//
// Its output is an object with status, reason, attempt, startedAt,
// elapsedSeconds and output, as that of the Lambda functions; it ends in the
// errors JobPoller.Failed and JobPoller.TimedOut. A fragment goes on in its
// exits with this object.
//
// What the options leave open is chosen so that the history has room: a longer delay,
// or where they name the delays, another strategy. Compiled.Choice says so.
//
// The error is a [*NotCompiledError] if the strategy cannot say what the waiter
// asks for, and [OptionErrors] if the call or the options are wrong, whatever the
// strategy.
func Compile(w *pollcore.Waiter, call Call, o Options) (*Compiled, error) {
	named := o.Strategy
	o.Strategy = cmp.Or(named, defaultStrategy)
	c, err := compileAs(w, call, o)
	full, ok := errors.AsType[*NotCompiledError](err)
	if !ok || full.Events == 0 || len(full.Reasons) > 1 {
		return c, err
	}
	other := fitting(w, call, o)
	switch {
	case other == nil:
	case named == "":
		why := choice("strategy", string(other.Strategy), string(o.Strategy), full.Events, o.share())
		if other.Strategy.traits().untried {
			why += "; no recording of AWS shows it"
		}
		if other.Choice != "" {
			why += "; " + other.Choice
		}
		other.Choice = why
		return other, nil
	default:
		full.FittingStrategy = other.Strategy
		full.Reasons[0] += fmt.Sprintf("; the strategy %s fits", other.Strategy)
	}
	return nil, err
}

// fitting compiles by the first other strategy for which the history has room. It calls
// through the Lambda functions if that of the options does, and reads the same arguments,
// if there are any.
func fitting(w *pollcore.Waiter, call Call, o Options) *Compiled {
	from := o.Strategy.traits()
	reads := call.Arguments != nil || call.Start != nil && call.Start.Arguments != nil
	for _, row := range strategies {
		t := row.traits()
		if row.name == o.Strategy || t.told || t.functions != from.functions || reads && t.language != from.language {
			continue
		}
		o.Strategy = row.name
		if c, err := compileAs(w, call, o); err == nil {
			return c
		}
	}
	return nil
}

// compileAs compiles by the strategy of the options.
func compileAs(w *pollcore.Waiter, call Call, o Options) (*Compiled, error) {
	p, err := newPlan(w, call, o)
	if err != nil {
		return nil, err
	}
	d := &draft{plan: p, refusal: p.refusal, used: map[string]bool{}}
	p.strategy.take(d)
	if err := d.err(); err != nil {
		return nil, err
	}
	all := p.strategy.states(d)
	if err := d.err(); err != nil {
		return nil, err
	}
	if err := d.checkNames(all); err != nil {
		return nil, err
	}
	m, err := p.machine(all)
	if err != nil {
		return nil, err
	}
	policy, unnamed := p.policy()
	return &Compiled{
		Machine: m, StartAt: all[0].name, Strategy: o.Strategy, Warnings: p.warnings(), Policy: policy, Unnamed: unnamed, Choice: p.choice, plan: p,
	}, nil
}

// machine puts states together, for a fragment with its exits as states that end.
func (p *plan) machine(all states) (*asl.StateMachine, error) {
	language, start := p.language, all[0].name
	if p.options.Exits != nil { // the other machine may have another language
		for _, s := range all {
			if s.fields["QueryLanguage"] == nil {
				s.fields["QueryLanguage"] = language
			}
		}
		language = asl.JSONPath
	}
	for _, name := range slices.Compact(slices.Sorted(maps.Values(p.options.Exits))) {
		all = append(all, state{name, object{"Type": "Pass", "End": true}})
	}
	definition := object{"Comment": p.comment(), "QueryLanguage": language, "StartAt": start, "States": all}
	if p.options.Exits == nil {
		definition["TimeoutSeconds"] = p.limit(all)
	}
	text, err := json.Marshal(definition)
	if err != nil {
		return nil, err
	}
	m, err := asl.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: the compiled definition is not valid; check the arguments, exits and scope, else this is a bug: %w", p.waiter.Name, err)
	}
	return m, nil
}
