package sim

import (
	"context"
	"errors"
	"fmt"
)

// reading is the call of a handler that stands for the reader of a Map's items.
type reading struct {
	strand *strand
	data   data
	cancel context.CancelFunc
	done   bool
}

// readItems calls the handler that stands for the reader of the items. Its
// output is what the file holds, as JSON: an array.
func (s *strand) readItems(d data) *failure {
	r := s.x.run
	reader := s.state.Map.ItemReader
	field := "Parameters"
	if s.jsonata() {
		field = "Arguments"
	}
	arguments, f := s.applyTemplate(field, reader.Parameters, d, emptyObject())
	if f != nil {
		return f
	}
	handler := r.options.handler(s.state.Name, reader.Resource)
	if handler == nil { // in a World only
		handler = noHandler
	}
	ctx, cancel := context.WithCancel(r.ctx)
	call := &reading{strand: s, data: d, cancel: cancel}
	s.attempt = call
	r.handle(ctx, handler, Call{
		Resource: reader.Resource, State: s.state.Name, Arguments: arguments.Value(), Context: s.context(), Iterations: s.iterations, Time: r.now,
	}, call.reply)
	return nil
}

// abandon ends the call without an outcome.
func (c *reading) abandon() {
	c.done = true
	c.cancel()
}

// reply goes on with the items.
func (c *reading) reply(reply Reply, err error) {
	s := c.strand
	if c.done || !s.alive() {
		return
	}
	c.abandon()
	s.attempt, s.x.run.current = nil, s
	items, f := c.items(reply, err)
	if f == nil && s.alive() {
		f = s.mapItems(items, c.data)
	}
	s.failState(f)
}

func (c *reading) items(reply Reply, err error) ([]any, *failure) {
	s := c.strand
	reader := s.state.Map.ItemReader
	if err != nil {
		return nil, s.readerFailure(err)
	}
	value, err := normalize(reply.Output)
	items, ok := value.([]any)
	if err != nil || !ok {
		s.x.run.fail(fmt.Errorf("state %q: handler of the item reader %q: output is not an array of items", s.state.Name, reader.Resource))
		return nil, &failure{name: errorItemReader}
	}
	limit, f := s.integer(reader.Config.MaxItems, c.data)
	switch {
	case f != nil:
		return nil, f
	case limit < 0: // a text of AWS's
		return nil, &failure{name: errorItemReader, cause: "field MaxItems must be positive"}
	}
	if limit > 0 && int64(len(items)) > limit {
		items = items[:limit]
	}
	return items, nil
}

func (s *strand) readerFailure(err error) *failure {
	r := s.x.run
	failed, isTask := errors.AsType[*TaskError](err)
	switch {
	case isTask:
		return &failure{name: errorItemReader, cause: failed.Name + ": " + failed.Cause}
	case r.world != nil:
		return &failure{name: errorItemReader, cause: cutCause(err.Error())}
	case r.caller.Err() != nil:
		r.abort()
	default:
		r.fail(fmt.Errorf("state %q: handler of the item reader: %w", s.state.Name, err))
	}
	return &failure{name: errorItemReader}
}
