package sim

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// probe is the input that a test gives to its state, and what it
// finds out about it.
type probe struct {
	context      map[string]any // nil: that of the execution
	item         map[string]any // of the Map around the state
	variables    map[string]*Payload
	role         string
	retries      int64 // that the retrier has made
	failures     *int  // of the iterations
	items        any   // of the reader; nil: a handler reads them
	mock         bool
	mockedResult any
	mockedError  *TaskError

	data    map[string]*Payload
	details map[string]any
	result  *TestResult
}

func (p *probe) inspect(name string, value *Payload) { p.data[name] = value }

func (p *probe) contextObject() map[string]any { return p.context }

// mockMap gives a Map its mocked result, or the failure of its iterations.
func (p *probe) mockMap(s *strand, c *composite, items []any, d data) *failure {
	if f := p.inspectItems(s, items, d); f != nil {
		return f
	}
	failures := 0
	if p.failures != nil {
		failures = *p.failures
	}
	if failures > len(items) {
		s.x.run.fail(refuse("MapIterationFailureCount cannot exceed the number of items: %d of %d", failures, len(items)))
		return nil
	}
	// AWS fails a Map that says no tolerance for no number of failures.
	if p.mockedError == nil && c.tolerance != nil && !c.tolerance.allows(failures, len(items)) {
		return &failure{name: errorToleratedExceeded, cause: "The specified tolerated failure threshold was exceeded", inner: true}
	}
	return p.mockParallel(s)
}

// inspectItems keeps what the iterations of a Map would get.
func (p *probe) inspectItems(s *strand, items []any, d data) *failure {
	m := s.state.Map
	keep := func(field string, batches []batch) *failure {
		values := make([]any, len(batches))
		for i, b := range batches {
			value, f := b.input()
			if f != nil {
				return f
			}
			values[i] = value.Value()
		}
		s.inspectAfter(field, newPayload(values))
		return nil
	}
	if m.ItemSelector != nil {
		selected := make([]batch, len(items))
		for i, item := range items {
			selected[i] = batch{1, func() (*Payload, *failure) { return s.itemInput(i, item, d) }}
		}
		if f := keep("ItemSelector", selected); f != nil {
			return f
		}
	}
	if m.ItemBatcher == nil {
		return nil
	}
	batches, f := s.batches(items, d)
	if f != nil {
		return f
	}
	return keep("ItemBatcher", batches)
}

// mockParallel gives a Parallel, or a Map, its mocked result or failure.
func (p *probe) mockParallel(s *strand) *failure {
	if failed := p.mockedError; failed != nil {
		return &failure{name: failed.Name, cause: failed.Cause, fromTask: true, inner: true}
	}
	return s.complete(newPayload(p.mockedResult))
}

func (p *probe) detail(name string, n int64) {
	if p.details == nil {
		p.details = map[string]any{}
	}
	p.details[name] = json.Number(strconv.FormatInt(n, 10))
}

// retry ends the test if the retrier has attempts left.
func (p *probe) retry(s *strand, i int, f *failure) bool {
	r := s.state.Retry[i]
	p.detail("retryIndex", int64(i))
	if p.retries >= r.MaxAttempts {
		return false
	}
	p.detail("retryBackoffIntervalSeconds", int64(r.Delay(p.retries+1)))
	p.result.Status, p.result.Error, p.result.Cause = TestRetriable, f.name, f.cause
	p.end(s)
	return true
}

// catch notes that a catcher takes the failure.
func (p *probe) catch(i int, f *failure) {
	p.detail("catchIndex", int64(i))
	p.result.Status, p.result.Error, p.result.Cause = TestCaught, f.name, f.cause
}

// leave ends the test with the state's output.
func (p *probe) leave(s *strand, output *Payload, e exit) {
	if p.result.Status == "" {
		p.result.Status = TestSucceeded
	}
	p.result.Output, p.result.Next = output.JSON(), e.next
	p.end(s)
}

// fail ends the test with a failure that nothing takes.
func (p *probe) fail(s *strand, f *failure) {
	p.result.Status, p.result.Error, p.result.Cause = TestFailed, f.name, f.cause
	p.end(s)
}

func (p *probe) end(s *strand) {
	if visible := s.variables.all(); len(visible) > 0 {
		p.data["variables"] = newPayload(visible)
	}
	s.x.end(StatusSucceeded, ExecutionSucceeded, s.last, Details{})
}

// inspected are the names that AWS has for the data.
var inspected = []string{
	"input", "afterInputPath", "afterParameters", "afterArguments",
	"afterItemsPath", "afterItemSelector", "afterItemBatcher", "maxConcurrency", "toleratedFailureCount", "toleratedFailurePercentage",
	"result", "afterResultSelector", "afterResultPath", "variables",
}

// hidden is what AWS does not tell of a state, by its recorded answers.
func hidden(s *asl.State) []string {
	switch {
	case s.Parallel != nil:
		return []string{"afterInputPath", "afterParameters", "afterArguments", "result"}
	case s.Map != nil:
		return []string{"afterParameters", "afterArguments", "result"}
	case s.Pass != nil && s.Pass.HasResult:
		return []string{"afterInputPath", "afterParameters"}
	default:
		return nil
	}
}

func (p *probe) report(s *asl.State) *TestResult {
	p.result.Inspection = map[string]json.RawMessage{}
	names := hidden(s)
	for _, name := range inspected {
		if value := p.data[name]; value != nil && !slices.Contains(names, name) {
			p.result.Inspection[name] = value.JSON()
		}
	}
	if p.details != nil {
		p.result.Inspection["errorDetails"] = jsontree.Compact(p.details)
	}
	return p.result
}
