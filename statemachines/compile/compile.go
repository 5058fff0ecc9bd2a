// Package compile makes state machines of waiters: definitions that call an
// operation until the waiter says that the job has ended.
package compile

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// Strategy is how a compiled state machine polls.
type Strategy string

// The strategies.
const (
	// LambdaLoop invokes the Lambda function run-job, and then check-status in a
	// loop of Task, Choice and Wait. It takes what their drivers can do.
	LambdaLoop Strategy = "lambda-loop"
	// LambdaRetry is LambdaLoop with a single Task whose Retry block is the loop:
	// a third of the transitions and events. A redrive resumes it.
	LambdaRetry Strategy = "lambda-retry"
	// Loop is a loop of Task, Choice and Wait in JSONPath, with a fixed delay
	// and a number of calls. It takes waiters that compare members with strings
	// or booleans.
	Loop Strategy = "loop"
	// Variables is a loop of Task, Choice and Wait in JSONata. It takes every
	// waiter whose errors Step Functions tells apart, and waits as the waiter
	// says: exponential backoff with jitter up to a deadline.
	Variables Strategy = "variables"
	// RetryTask is a single Task in JSONata whose Retry block is the loop: a
	// third of the transitions, and less than half of the events.
	RetryTask Strategy = "retry-task"
)

// Options are how a waiter is compiled. MaxWait is required.
type Options struct {
	Strategy Strategy
	// MaxWait is how long the job may take, in whole seconds, a year at most.
	MaxWait time.Duration
	// MinDelay and MaxDelay replace the waiter's, InitialDelay is waited before
	// the first call; in whole seconds. The delays of the strategy Loop are MinDelay.
	MinDelay, MaxDelay, InitialDelay time.Duration
	// CausePatterns tell errors apart that the service's model does not declare,
	// by their codes: Step Functions gives all of them one name, and a Cause with
	// the message but not the code. A pattern is a text that the Cause has
	// somewhere; * stands for any text, \* for an asterisk, \\ for a backslash.
	// Those of [KnownCausePatterns] have a source and are taken for codes that have
	// none here. The strategies with Lambda functions know the codes and do without.
	CausePatterns map[string]string
	// UnmodeledFails lets an error fail the wait whose code the service's model does
	// not declare, for which there is no pattern, and for which the waiter has another
	// verdict. Without it the waiter is refused. A warning names the errors.
	UnmodeledFails bool
	// Prefix stands before the names of states and, where there are any, of
	// variables: then it is a letter, and letters, digits and _. Names of
	// variables begin with a small letter, so two
	// fragments of one machine need prefixes that differ in more than the case of
	// the first.
	Prefix string
	// Names are names of states instead of those that Compile gives, by the
	// latter without Prefix: {"DescribeExport": "Is the export done?"}.
	Names map[string]string
	// Output is a JMESPath expression over the response of the polled operation,
	// in the model's spelling: what the result has as its output instead of all of
	// it, with members in PascalCase. The result of a machine, as all that states
	// pass on, has 256 KiB at most. Nothing is null. The strategy Loop takes paths of
	// members alone, and leaves the output out where there is nothing.
	Output string
	// Exits makes a fragment of it: states to be merged into those of another
	// machine, which goes on in the states of these names.
	Exits map[pollcore.Status]string
	// Events is the poller's share of the 25,000 events of an execution;
	// DefaultEvents if 0. A schedule that can need more is refused, or with Fit
	// gets a longer MaxDelay, and a longer MinDelay where that is not enough.
	Events int
	Fit    bool
	// RunJobFunction and CheckStatusFunction are names or ARNs of the two Lambda
	// functions; those of the shipped definitions if empty. Scope is the
	// scope of the start record, for a poller inside a Map: an expression over
	// the item, which is the input, that differs for each.
	RunJobFunction, CheckStatusFunction, Scope string
	// JobFrom and JobTo are how long the job takes, for the report; 0 and
	// MaxWait if JobTo is 0.
	JobFrom, JobTo time.Duration
}

// DefaultEvents leaves some of the 25,000 events of an execution to others.
const DefaultEvents = 24_000

// ErrNotCompiled means that a strategy cannot say what a waiter asks for.
var ErrNotCompiled = errors.New("not compiled")

// A NotCompiledError is the ErrNotCompiled of a waiter: all that stands against
// it.
type NotCompiledError struct {
	Waiter   string
	Strategy Strategy
	Reasons  []string
	// Unmodeled are all codes of errors, if that is among the reasons, that the
	// service's model does not declare, so that Step Functions does not pass them
	// on. With Options.CausePatterns for each, or with UnmodeledFails, this reason is
	// none.
	Unmodeled []string
	// Optional are the members of the first call's input, if that is among the
	// reasons: it requires none, and the strategy Loop passes on only members that
	// the operation requires or Arguments name.
	Optional []string
	// FittingMinDelay or FittingMaxDelay is the MinDelay or the MaxDelay with which
	// the history has room for the schedule, if it has none, which is among the
	// reasons then; else both are 0. Options.Fit takes it.
	FittingMinDelay, FittingMaxDelay time.Duration
}

func (e *NotCompiledError) Error() string {
	return fmt.Sprintf("%s cannot be compiled to %s: %s", e.Waiter, e.Strategy, strings.Join(e.Reasons, "; "))
}

// Unwrap returns ErrNotCompiled.
func (*NotCompiledError) Unwrap() error { return ErrNotCompiled }

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

	poller *poller
}

// Compile returns a state machine that calls the operation until the waiter
// says that the job has ended, or MaxWait has passed.
//
// Its output is an object with status, reason, attempt, startedAt,
// elapsedSeconds and output, as that of the Lambda functions; it ends in the
// errors JobPoller.Failed and JobPoller.TimedOut. A fragment goes on in its
// exits with this object.
//
// Its error is a [*NotCompiledError] if the strategy cannot say what the waiter
// asks for, and matches [ErrWrongOptions] if the call or the options are wrong,
// whatever the strategy.
func Compile(w *pollcore.Waiter, call Call, o Options) (*Compiled, error) {
	p, err := plan(w, call, o)
	if err != nil {
		return nil, err
	}
	p.fits() // which may change the delays
	if err := p.refused(); err != nil {
		return nil, err
	}
	var all states
	language := "JSONata"
	switch o.Strategy {
	case LambdaLoop, LambdaRetry:
		p.driverNeeded()
		all = p.lambda()
	case Loop:
		all, language = p.loop(), "JSONPath"
	case Variables:
		all = p.variables()
	case RetryTask:
		all = p.retryTask()
	}
	if err := p.refused(); err != nil {
		return nil, err
	}
	if err := p.checkNames(all); err != nil {
		return nil, err
	}
	start := all[0].name
	if o.Exits != nil { // the other machine may have another language
		for _, s := range all {
			s.fields["QueryLanguage"] = language
		}
		language = "JSONPath"
	}
	for _, name := range slices.Compact(slices.Sorted(maps.Values(o.Exits))) {
		all = append(all, state{name, object{"Type": "Pass", "End": true}})
	}
	text, err := json.Marshal(object{"Comment": p.comment(), "QueryLanguage": language, "StartAt": start, "States": all})
	if err != nil {
		return nil, err
	}
	m, err := asl.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: the compiled definition is not valid, which is a bug unless it is for the arguments, exits or scope given: %w", w.Name, err)
	}
	return &Compiled{Machine: m, StartAt: start, Strategy: o.Strategy, Warnings: p.warnings(), Policy: p.policy(), poller: p}, nil
}

// object is a JSON object of a definition. Its order does not matter: asl.Print
// has one of its own.
type object map[string]any

// states are the states of a definition, in the order in which a reader meets
// them.
type states []state

type state struct {
	name   string
	fields object
}

// MarshalJSON implements json.Marshaler.
func (s states) MarshalJSON() ([]byte, error) {
	var b strings.Builder
	b.WriteByte('{')
	for i, state := range s {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(state.name)
		if err != nil {
			return nil, err
		}
		fields, err := json.Marshal(state.fields)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(fields)
	}
	b.WriteByte('}')
	return []byte(b.String()), nil
}
