package sim

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"

	"github.com/jobpoller/jobpoller/internal/jsontree"
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

// Mock is what a Task, Map or Parallel gives in a test.
type Mock struct {
	Result any        // any value that encoding/json takes; of a Map or Parallel an array
	Error  *TaskError // its failure, instead of a result
	// Type is the Go type of the output of the API action, such as
	// reflect.TypeFor[s3.HeadObjectOutput](): a result whose members have
	// other types is refused. Nil: anything goes.
	Type reflect.Type
}

// TestOptions are the circumstances of a test of one state.
type TestOptions struct {
	// State names a state of the definition, which is then a whole machine;
	// empty if the definition is that of the state alone.
	State     string
	Mock      *Mock          // nil: a Task needs a handler
	Variables map[string]any // what the states before assigned, as JSON values
	// Context is the context object; nil: one as Run makes it.
	Context map[string]any
	// RetrierRetryCount is how often the retrier that takes a failure has
	// retried already.
	RetrierRetryCount int
	// MapIterationFailureCount is how many iterations of the Map failed; it
	// needs a Mock.
	MapIterationFailureCount *int
	// ItemReaderData is what the reader of a Map's items gives, as JSON.
	ItemReaderData []byte
	// Options are those of a run; its handlers answer a Task without Mock.
	Options Options
}

// TestResult is what came of one state.
type TestResult struct {
	Status       TestStatus
	Output       json.RawMessage
	Error, Cause string
	Next         string // the state that follows; empty at an end
	// Inspection is the data on its way through the state, by AWS's names:
	// "input", "afterInputPath", "afterParameters", "afterArguments", "result",
	// "afterResultSelector", "afterResultPath", "variables", "maxConcurrency",
	// "toleratedFailureCount", "toleratedFailurePercentage", "errorDetails".
	Inspection map[string]json.RawMessage
}

// TestStateError is the error of TestState for a test that AWS refuses.
type TestStateError struct{ Message string }

func (e *TestStateError) Error() string { return e.Message }

func refused(format string, args ...any) error { return &TestStateError{fmt.Sprintf(format, args...)} }

// TestState runs one state alone, as AWS's TestState does: with a result or
// failure of a Mock in place of its work, up to its output and the state that
// follows, or the retrier or catcher that takes its failure. Errors:
// *TestStateError, asl.Problems for a definition or input that is wrong, and
// those of Run.
func TestState(ctx context.Context, definition, input []byte, o TestOptions) (*TestResult, error) {
	m, s, err := parseTested(definition, o.State)
	if err != nil {
		return nil, err
	}
	if err := o.check(s); err != nil {
		return nil, err
	}
	payload, err := readInput(input)
	if err != nil {
		return nil, err
	}
	p := &probe{options: o, context: o.Context, data: map[string]*Payload{}, result: &TestResult{}}
	options := o.Options
	if options.Clock == nil {
		options.Clock = NewVirtualClock(DefaultStart)
	}
	options.StateHandlers = maps.Clone(options.StateHandlers)
	if options.StateHandlers == nil {
		options.StateHandlers = map[string]Handler{}
	}
	p.handlers(s, options.StateHandlers)
	if err := options.complete(); err != nil {
		return nil, err
	}
	if s.Task != nil && options.handler(s.Name, s.Task.Resource) == nil {
		return nil, checkResources(&asl.StateMachine{Flow: asl.Flow{States: []*asl.State{s}}}, &options)
	}
	r := &run{machine: m, options: options, clock: options.Clock, random: newRandom(options.Seed)}
	if _, err := r.drive(ctx, func() { r.test(s, payload, p) }); err != nil {
		return nil, err
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

// check refuses what AWS refuses.
func (o *TestOptions) check(s *asl.State) error {
	if err := checkContext(o.Context, s); err != nil {
		return err
	}
	if o.Mock == nil {
		if o.MapIterationFailureCount != nil {
			return refused("TestState does not support MapIterationFailureCount when a mock is not specified.")
		}
		if s.Map != nil || s.Parallel != nil {
			return refused("State type '%s' is not supported when a mock is not specified", s.Type)
		}
		return nil
	}
	if !works(s) {
		return refused("State type '%s' is not supported when a mock is specified", s.Type)
	}
	if o.Mock.Error != nil {
		return nil //nolint:nilerr // the failure that the mock is
	}
	return o.Mock.check(s)
}

// check refuses a result that the state cannot have.
func (m *Mock) check(s *asl.State) error {
	value, err := normalize(m.Result)
	if err != nil {
		return refused("Mocked result must be valid JSON")
	}
	if s.Task != nil {
		return checkType(value, m.Type)
	}
	items, ok := value.([]any)
	if !ok {
		return refused("Mocked result must be an array.")
	}
	if s.Parallel != nil && len(items) != len(s.Parallel.Branches) {
		return refused("Mocked result must contain the same number of items as number of Parallel branches.")
	}
	return nil
}

// contextMembers is what a context object holds.
var contextMembers = map[string][]string{
	"Execution":    {"Id", "Input", "Name", "RoleArn", "StartTime", "RedriveCount", "RedriveTime"},
	"State":        {"EnteredTime", "Name", "RetryCount"},
	"StateMachine": {"Id", "Name"},
	"Task":         {"Token"},
}

func checkContext(object map[string]any, s *asl.State) error {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if name == "Map" {
			return refused("Invalid Context object provided: 'Map' field is not supported when mocking a Context object")
		}
		members, ok := contextMembers[name]
		if !ok {
			return refused("Invalid Context object provided: Field '%s' is not allowed", name)
		}
		if name == "Task" && (s.Task == nil || asl.ParseResource(s.Task.Resource).Pattern == "") {
			return refused("Invalid Context object provided: Context object contains 'Task' when state is not a Task state with a " +
				"'.sync' or '.waitForTaskToken' service integration pattern")
		}
		inner, _ := object[name].(map[string]any)
		for _, member := range slices.Sorted(maps.Keys(inner)) {
			if !slices.Contains(members, member) {
				return refused("Invalid Context object provided: Field '%s' is not allowed", member)
			}
		}
	}
	return nil
}

// test enters the state.
func (r *run) test(s *asl.State, input *Payload, p *probe) {
	x := newExecution(r, r.options.Execution, ExecutionARN(r.options), r.clock.Now(), input)
	x.definition = map[string]any{"Id": arn(r.options, "stateMachine") + r.options.StateMachine, "Name": r.options.StateMachine}
	x.limit = unlimitedEvents
	x.result.Visits, x.result.Edges = map[string]int{}, map[Edge]int{}
	x.ended = func() { r.stop() }
	r.root = x
	delete(x.result.context, "RedriveCount")
	if p.options.Options.Role == "" {
		x.result.context["RoleArn"] = nil
	}
	st := newStrand(x, &r.machine.Flow, newVariables(nil))
	st.probe = p
	values := make(map[string]*Payload, len(p.options.Variables))
	for name, value := range p.options.Variables {
		values[name] = newPayload(value)
	}
	st.variables.assign(values)
	st.failed = func(f *failure) {
		p.result.Status, p.result.Error, p.result.Cause = TestFailed, f.name, f.cause
		p.end(st)
	}
	st.state, st.input = s, input
	p.data["input"] = input
	st.after(0, st.enter)
}

// probe watches a state that is tested alone.
type probe struct {
	options TestOptions
	context map[string]any
	data    map[string]*Payload
	details map[string]any
	result  *TestResult
}

// inspect keeps a value on its way through the state.
func (s *strand) inspect(name string, p *Payload) {
	if s.probe != nil && p != nil {
		s.probe.data[name] = p
	}
}

// handlers lets the mock answer a Task, and the data the reader of items.
func (p *probe) handlers(s *asl.State, handlers map[string]Handler) {
	switch {
	case s.Task != nil && p.options.Mock != nil:
		handlers[s.Name] = func(context.Context, Call) (Reply, error) {
			if failed := p.options.Mock.Error; failed != nil {
				return Reply{}, failed
			}
			return Reply{Output: p.options.Mock.Result}, nil
		}
	case s.Map != nil && s.Map.ItemReader != nil:
		handlers[s.Name] = func(context.Context, Call) (Reply, error) {
			return Reply{Output: json.RawMessage(p.options.ItemReaderData)}, nil
		}
	}
}

// mapped gives a Map its mocked result, or the failure of its iterations.
func (p *probe) mapped(s *strand, c *composite) *failure {
	failures := 0
	if n := p.options.MapIterationFailureCount; n != nil {
		failures = *n
	}
	if p.options.Mock.Error == nil && failures > 0 && (c.tolerates == nil || !c.tolerates(failures)) {
		return &failure{name: errorToleratedExceeded, cause: "The specified tolerated failure threshold was exceeded", inner: true}
	}
	return p.mocked(s)
}

// mocked gives a Map or Parallel its mocked result or failure.
func (p *probe) mocked(s *strand) *failure {
	if failed := p.options.Mock.Error; failed != nil {
		return &failure{name: failed.Name, cause: failed.Cause, fromTask: true, inner: true}
	}
	value, err := normalize(p.options.Mock.Result)
	if err != nil {
		s.x.run.fail(err)
		return nil
	}
	return s.returned(newPayload(value))
}

// retried ends the test if the retrier has attempts left.
func (p *probe) retried(s *strand, i int, f *failure) bool {
	r := s.state.Retry[i]
	p.details = map[string]any{"retryIndex": json.Number(strconv.Itoa(i))}
	if int64(p.options.RetrierRetryCount) >= r.MaxAttempts {
		return false
	}
	seconds := float64(r.IntervalSeconds) * math.Pow(r.BackoffRate, float64(p.options.RetrierRetryCount))
	if r.MaxDelaySeconds > 0 {
		seconds = min(seconds, float64(r.MaxDelaySeconds))
	}
	p.details["retryBackoffIntervalSeconds"] = json.Number(strconv.FormatFloat(math.Floor(seconds), 'f', -1, 64))
	p.result.Status, p.result.Error, p.result.Cause = TestRetriable, f.name, f.cause
	p.end(s)
	return true
}

// caught notes that a catcher takes the failure.
func (p *probe) caught(i int, f *failure) {
	p.details = map[string]any{"catchIndex": json.Number(strconv.Itoa(i))}
	p.result.Status, p.result.Error, p.result.Cause = TestCaught, f.name, f.cause
}

// left ends the test with the state's output.
func (p *probe) left(s *strand, output *Payload, e exit) {
	if p.result.Status == "" {
		p.result.Status = TestSucceeded
	}
	p.result.Output, p.result.Next = output.JSON(), e.next
	p.end(s)
}

func (p *probe) end(s *strand) {
	if visible := s.variables.all(); len(visible) > 0 {
		p.data["variables"] = newPayload(visible)
	}
	s.x.end(StatusSucceeded, ExecutionSucceeded, s.last, Details{})
}

// hidden is what AWS does not tell of a type of state.
var hidden = map[asl.Type][]string{
	asl.TypeParallel: {"afterInputPath", "afterParameters", "afterArguments", "result"},
	asl.TypeMap:      {"result", "afterItemSelector", "afterParameters", "afterArguments"},
	asl.TypePass:     {"afterArguments"},
}

func (p *probe) report(s *asl.State) *TestResult {
	names := hidden[s.Type]
	switch {
	case s.Pass != nil && s.Pass.HasResult:
		names = append(slices.Clone(names), "afterInputPath", "afterParameters")
	case s.QueryLanguage == asl.JSONata:
		names = append(slices.Clone(names), "afterOutput")
	}
	p.result.Inspection = map[string]json.RawMessage{}
	for name, value := range p.data {
		if !slices.Contains(names, name) {
			p.result.Inspection[name] = value.JSON()
		}
	}
	if p.details != nil {
		p.result.Inspection["errorDetails"] = jsontree.Compact(p.details)
	}
	return p.result
}
