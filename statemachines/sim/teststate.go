package sim

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/taskapi"
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

func (m *Mock) fails() bool { return m.Error != nil }

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
	// is no history, so MaxEvents and OnEvent play no part.
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
// *TestStateError, asl.Problems for a definition or input that is wrong, that
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
	r := &run{machine: m, options: options, clock: options.Clock, random: newRandom(options.Seed)}
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
	return nil, nil, refused("State not found in definition")
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

// newProbe checks the options, and refuses what AWS refuses.
func newProbe(s *asl.State, o *TestOptions) (*probe, error) {
	if err := checkRequest(s, o); err != nil {
		return nil, err
	}
	p := &probe{
		failures: o.MapIterationFailureCount, retries: int64(o.RetrierRetryCount), role: o.Options.Role,
		data: map[string]*Payload{}, result: &TestResult{},
	}
	if err := p.readContext(o.Context, s); err != nil {
		return nil, err
	}
	if err := p.readVariables(o.Variables); err != nil {
		return nil, err
	}
	if len(o.ItemReaderData) > 0 {
		if err := p.readItems(o.ItemReaderData, s); err != nil {
			return nil, err
		}
	}
	if err := p.readMock(o.Mock, s, o.Options.Models); err != nil {
		return nil, err
	}
	return p, nil
}

// readMock takes the mock, if the state can have it.
func (p *probe) readMock(m *Mock, s *asl.State, models taskapi.Models) error {
	if m == nil {
		return nil
	}
	if m.fails() && m.Error.Name == "" && (s.Task == nil || !integrationOf(s.Task.Resource).token) {
		return refused("The Error of a Mock needs a Name")
	}
	value, err := normalize(m.Result)
	if err != nil {
		return refused("Mocked result must be valid JSON")
	}
	p.mock, p.mockedResult, p.mockedError = true, value, m.Error
	switch {
	case m.fails():
		return nil
	case s.Task != nil:
		return checkMock(value, s.Task, m.Validation, models)
	default:
		return checkItems(value, s)
	}
}

// checkMock refuses a result that the API of the Task cannot give.
func checkMock(result any, t *asl.Task, mode MockValidation, models taskapi.Models) error {
	switch mode {
	case "", ValidateStrict, ValidatePresent:
	case ValidateNone:
		return nil
	default:
		return refused("The Validation of a Mock is %q; expected %s, %s or %s", mode, ValidateStrict, ValidatePresent, ValidateNone)
	}
	api, err := taskapi.Of(t.Resource, models)
	if err != nil {
		return err
	}
	if err := api.CheckResult(result, mode != ValidatePresent); err != nil {
		return refused("%v", err)
	}
	return nil
}

func (p *probe) readItems(text []byte, s *asl.State) error {
	if s.Map == nil || s.Map.ItemReader == nil {
		return refused("ItemReaderData needs a Map with an ItemReader")
	}
	value, err := decode(text)
	if _, ok := value.([]any); err != nil || !ok {
		return refused("ItemReaderData must be a JSON array")
	}
	p.items = value
	return nil
}

func (p *probe) readVariables(values map[string]any) error {
	p.variables = make(map[string]*Payload, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value, err := normalize(values[name])
		if err != nil {
			return refused("The variable %q must be valid JSON: %v", name, err)
		}
		p.variables[name] = newPayload(value)
	}
	return nil
}

// readContext takes the context object, if it is one.
func (p *probe) readContext(given map[string]any, s *asl.State) error {
	if given == nil {
		return nil
	}
	value, err := normalize(given)
	if err != nil {
		return refused(invalidContext+"%v", err)
	}
	p.context, _ = value.(map[string]any)
	return checkContext(p.context, s)
}
