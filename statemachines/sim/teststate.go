package sim

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// TestStatus is how the test of a state ended.
type TestStatus string

// The statuses of a tested state.
const (
	TestSucceeded TestStatus = "SUCCEEDED"
	TestFailed    TestStatus = "FAILED"
	TestRetriable TestStatus = "RETRIABLE"    // a retrier takes the failure
	TestCaught    TestStatus = "CAUGHT_ERROR" // a catcher takes it
)

// Mock is what a Task, Map or Parallel gives in a test: a result or a failure.
type Mock struct {
	// Result is any value that encoding/json takes: of a Parallel an array, of
	// a Map too, or an object if it has a ResultWriter.
	Result any
	Error  *TaskError // the failure; nil: the Result, even if that is nil
	// Validation is how the Result of a Task is checked against the API of its
	// integration, by the Models of the Options; empty is ValidateStrict. Members
	// that the API does not have are let through in each mode, and members go by
	// the names that Step Functions gives them: "ExecutionArn".
	Validation MockValidation
}

// MockValidation is AWS's fieldValidationMode.
type MockValidation string

// The modes.
const (
	ValidateStrict  MockValidation = "STRICT"  // required members must be there
	ValidatePresent MockValidation = "PRESENT" // members that are there: their types, enums and limits
	ValidateNone    MockValidation = "NONE"
)

// TestOptions are the circumstances of a test of one state. AWS's RevealSecrets
// is not among them: it shows the secrets that a Task of http:invoke gets from
// EventBridge, and nothing is called here; AWS refuses it beside a mock.
type TestOptions struct {
	// State names a state of the definition, which is then a whole machine;
	// empty if the definition is that of the state alone.
	State string
	Mock  *Mock // nil: a Task needs a handler and, as at AWS, the Role of the Options
	// Variables are those that the states before assigned: any values that
	// encoding/json takes.
	Variables map[string]any
	// Context is the context object, of values that encoding/json takes; nil:
	// one as Run makes it, for a state inside a Map with the first item.
	Context map[string]any
	// RetrierRetryCount is how often the retrier that takes the failure has
	// retried already.
	RetrierRetryCount int
	// MapIterationFailureCount is how many iterations of the Map failed; it
	// needs a Mock.
	MapIterationFailureCount *int
	// ItemReaderData is what the reader of a Map's items gives, a JSON array;
	// empty: a handler gives it.
	ItemReaderData []byte
	// Options are those of a run; its handlers answer a Task without Mock. There
	// is not a history, so MaxEvents and OnEvent play no part.
	Options Options
}

// TestResult is what came of one state.
type TestResult struct {
	Status       TestStatus
	Output       json.RawMessage // of SUCCEEDED and CAUGHT_ERROR
	Error, Cause string          // of the failure; empty where AWS has none
	Next         string          // the state that follows; empty at an end
	// Inspection is the data on its way through the state, by AWS's names:
	// "input", "afterInputPath", "afterParameters", "afterArguments",
	// "afterItemsPath", "afterItemSelector", "afterItemBatcher",
	// "maxConcurrency", "toleratedFailureCount", "toleratedFailurePercentage",
	// "result", "afterResultSelector", "afterResultPath", "variables", and of a
	// failure "errorDetails": an object with the number, from 0, of the retrier
	// ("retryIndex") or catcher ("catchIndex") that names it, and in whole
	// seconds how long the retrier waits ("retryBackoffIntervalSeconds").
	Inspection map[string]json.RawMessage
}

// TestState runs one state alone, as AWS's TestState does: with a result or
// failure of a Mock in place of its work, up to its output and the state that
// follows, or the retrier or catcher that takes its failure. On a virtual
// clock a state may take up to a year; AWS allows five minutes. Errors:
// *TestStateError, diag.Problems for a definition or input that is wrong, that
// of ctx, and those of Run.
func TestState(ctx context.Context, definition, input []byte, o TestOptions) (*TestResult, error) {
	m, s, err := parseTested(definition, o.State)
	if err != nil {
		return nil, err
	}
	options := o.Options
	if err := options.complete(); err != nil {
		return nil, err
	}
	problems := slices.DeleteFunc(openProblems(m, &options), func(p diag.Problem) bool { return !concerns(s, p.Pointer) })
	if err := problems.Err(); err != nil {
		return nil, err
	}
	p, err := newProbe(s, &o)
	if err != nil {
		return nil, err
	}
	payload, err := readInput(input)
	if err != nil {
		return nil, err
	}
	if o.Context == nil && inMap(&m.Flow, s, false) {
		p.item = itemContext(0, payload.Value())
	}
	p.answer(s, &options)
	if err := checkResources(func(yield func(*asl.State) bool) { yield(s) }, &options); err != nil {
		return nil, err
	}
	r := newRun(m, options, newRandom(options.Seed))
	if _, err := r.drive(ctx, func() { r.test(s, payload, p) }); err != nil {
		return nil, err
	}
	if p.result.Status == "" {
		return nil, fmt.Errorf("state %q: the test was stopped: %w", s.Name, context.Cause(ctx))
	}
	return p.report(s), nil
}

// parseTested reads the state, alone or in its machine.
func parseTested(definition []byte, name string) (*asl.StateMachine, *asl.State, error) {
	if name == "" {
		m, err := asl.ParseState(definition)
		if err != nil {
			return nil, nil, err
		}
		return m, m.States[0], nil
	}
	m, err := asl.Parse(definition)
	if err != nil {
		return nil, nil, err
	}
	for s := range m.All {
		if s.Name == name {
			return m, s, nil
		}
	}
	return nil, nil, refuse("State not found in definition")
}

// concerns tells whether a pointer leads into the state itself, not into one
// of the states inside of it, which a test does not run.
func concerns(s *asl.State, pointer string) bool {
	leads := func(to *asl.State) bool {
		return pointer == to.Position.Pointer || strings.HasPrefix(pointer, to.Position.Pointer+"/")
	}
	if !leads(s) {
		return false
	}
	for _, flow := range s.Flows() {
		for inner := range flow.All {
			if leads(inner) {
				return false
			}
		}
	}
	return true
}

// inMap tells whether the flow, which may be inside a Map, holds the state at
// a place inside a Map.
func inMap(flow *asl.Flow, s *asl.State, inside bool) bool {
	for _, at := range flow.States {
		if at == s {
			return inside
		}
		for _, inner := range at.Flows() {
			if inMap(inner, s, inside || at.Map != nil) {
				return true
			}
		}
	}
	return false
}

// test enters the state.
func (r *run) test(s *asl.State, input *Payload, p *probe) {
	x := r.newRoot(input)
	x.limit = unlimitedEvents
	delete(x.result.context, "RedriveCount") // as AWS has it
	if p.role == "" {
		x.result.context["RoleArn"] = nil
	}
	st := newStrand(x, &r.machine.Flow, newVariables(nil))
	st.state, st.input, st.item, st.probe = s, input, p.item, p
	if !st.variables.assign(p.variables) {
		r.fail(refuse("The variables exceed the maximum number of bytes service limit."))
		return
	}
	st.failed = func(f *failure) { p.fail(st, f) }
	p.data["input"] = input
	st.after(0, st.enter)
	r.after(asl.MaxStandardTime, func() { p.fail(st, &failure{name: asl.ErrorTimeout}) })
}
