package sim

import (
	"context"
	"maps"
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

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
func (p *probe) readMock(m *Mock, s *asl.State, models typecheck.Models) error {
	if m == nil {
		return nil
	}
	if m.Error != nil && m.Error.Name == "" && (s.Task == nil || !newIntegration(s.Task.Resource).token) {
		return refuse("The Error of a Mock needs a Name")
	}
	value, err := normalize(m.Result)
	if err != nil {
		return refuse("Mocked result must be valid JSON")
	}
	p.mock, p.mockedResult, p.mockedError = true, value, m.Error
	switch {
	case p.mockedError != nil:
		return nil //nolint:nilerr // the error is what the mock answers
	case s.Task != nil:
		return checkMock(value, s.Task, m.Validation, models)
	default:
		return checkItems(value, s)
	}
}

// checkMock refuses a result that the API of the Task cannot give.
func checkMock(result any, t *asl.Task, mode MockValidation, models typecheck.Models) error {
	switch mode {
	case "", ValidateStrict, ValidatePresent:
	case ValidateNone:
		return nil
	default:
		return refuse("The Validation of a Mock is %q; expected %s, %s or %s", mode, ValidateStrict, ValidatePresent, ValidateNone)
	}
	api, err := typecheck.FindAPI(t.Resource, models)
	if err != nil {
		return err
	}
	if err := api.CheckResult(result, mode != ValidatePresent); err != nil {
		return refuse("%v", err)
	}
	return nil
}

func (p *probe) readItems(text []byte, s *asl.State) error {
	if s.Map == nil || s.Map.ItemReader == nil {
		return refuse("ItemReaderData needs a Map with an ItemReader")
	}
	value, err := decode(text)
	if _, ok := value.([]any); err != nil || !ok {
		return refuse("ItemReaderData must be a JSON array")
	}
	p.items = value
	return nil
}

func (p *probe) readVariables(values map[string]any) error {
	p.variables = make(map[string]*Payload, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value, err := normalize(values[name])
		if err != nil {
			return refuse("The variable %q must be valid JSON: %v", name, err)
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
		return refuse(invalidContext+"%v", err)
	}
	p.context, _ = value.(map[string]any)
	return checkContext(p.context, s)
}

// answer lets the mock answer a Task, and the given data the reader of items.
func (p *probe) answer(s *asl.State, o *Options) {
	var h Handler
	switch {
	case s.Task != nil && p.mock && p.mockedError != nil:
		h = func(context.Context, Call) (Reply, error) { return Reply{}, p.mockedError }
	case s.Task != nil && p.mock:
		h = func(context.Context, Call) (Reply, error) { return Reply{Output: p.mockedResult}, nil }
	case p.items != nil:
		h = func(context.Context, Call) (Reply, error) { return Reply{Output: p.items}, nil }
	default:
		return
	}
	handlers := map[string]Handler{}
	maps.Copy(handlers, o.StateHandlers)
	handlers[s.Name] = h
	o.StateHandlers = handlers
}
