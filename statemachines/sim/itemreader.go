package sim

import (
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// reading reads the items of a distributed Map. A handler gives them, or the objects of S3
// that they are in.
type reading struct {
	strand    *strand
	data      data
	inside    *composite // nil for a state that is tested alone
	then      func(items []any) *failure
	arguments map[string]any
	limit     int64 // of items; 0: none
	items     []any
	config    *asl.ReaderConfig
	token     string   // of the next page of a list
	objects   []object // to be read
}

// readItems reads the items, and then goes through them. The composite is nil for a state
// that is tested alone.
func (s *strand) readItems(d data, inside *composite, then func(items []any) *failure) *failure {
	reader := s.state.Map.ItemReader
	field := "Parameters"
	if s.jsonata() {
		field = "Arguments"
	}
	c := &reading{strand: s, data: d, inside: inside, then: then, config: &reader.Config}
	return c.stop(c.begin(field))
}

// begin makes the first call.
func (c *reading) begin(field string) *failure {
	s := c.strand
	reader := s.state.Map.ItemReader
	arguments, f := s.applyTemplate(field, reader.Parameters, c.data, emptyObject())
	if f != nil {
		return f
	}
	c.arguments, _ = arguments.Value().(map[string]any)
	if c.limit, f = s.integer(reader.Config.MaxItems, c.data); f != nil {
		return f
	}
	if c.limit < 0 { // a text of AWS's
		return &failure{name: errorItemReader, cause: "field MaxItems must be positive"}
	}
	return c.call(reader.Resource, arguments.Value(), c.first)
}

// stop fails the Map Run, if there is a failure and a run.
func (c *reading) stop(f *failure) *failure {
	if f == nil || c.inside == nil || !c.strand.alive() {
		return f
	}
	c.inside.last = c.strand.last
	return c.inside.stop(f)
}

// call calls the handler of an operation. What take makes of the answer may be a failure
// of the state.
func (c *reading) call(resource string, arguments any, take func(answer any) error) *failure {
	s := c.strand
	o := &s.x.run.options
	h, of := o.objectHandler(resource, func(of string) Handler { return o.ownHandler(s.state.Name, of) })
	if h == nil { // in a World only
		h = noHandler
	}
	s.callObjects(h, of, arguments, func(reply Reply, err error) { s.failState(c.stop(c.reply(take, reply, err))) })
	return nil
}

func (c *reading) reply(take func(answer any) error, reply Reply, err error) *failure {
	s := c.strand
	reader := s.state.Map.ItemReader
	if err != nil {
		if _, isTask := errors.AsType[*TaskError](err); !isTask {
			err = fmt.Errorf("state %q: handler of the item reader: %w", s.state.Name, err)
		}
		return s.objectFailure(errorItemReader, err)
	}
	before := len(c.items)
	answer, err := normalize(reply.Output)
	if err == nil {
		err = take(answer)
	}
	switch {
	case errors.Is(err, errNoAnswer) || answer == nil:
		s.x.run.fail(fmt.Errorf("state %q: handler of the item reader %q: output is not an array of items and no answer of S3", s.state.Name, reader.Resource))
		return &failure{name: errorItemReader}
	case err != nil:
		return &failure{name: errorItemReader, cause: cutCause(err.Error())}
	}
	if err := s.x.run.options.budget.spend(1+len(c.items)-before, newPayload(c.items[before:]).bytes()); err != nil {
		s.x.run.fail(err)
		return sizeFailure(s.state.Name, false)
	}
	return c.next()
}

// next reads what is left, or goes through the items.
func (c *reading) next() *failure {
	s := c.strand
	resource := s.state.Map.ItemReader.Resource
	enough := c.limit > 0 && int64(len(c.items)) >= c.limit
	switch {
	case enough:
		c.items = c.items[:c.limit]
	case len(c.objects) > 0:
		from := c.objects[0]
		c.objects = c.objects[1:]
		get := resource[:strings.LastIndexByte(resource, ':')+1] + "getObject"
		return c.call(get, map[string]any{"Bucket": from.bucket, "Key": from.key}, c.object)
	case c.token != "":
		arguments := maps.Clone(c.arguments)
		arguments["ContinuationToken"] = c.token
		return c.call(resource, arguments, c.page)
	}
	return c.then(c.items)
}

// errNoAnswer means that a handler returned something that a reader cannot take.
var errNoAnswer = errors.New("no answer of S3")

// first takes the items, or the first answer of S3.
func (c *reading) first(answer any) error {
	if items, ok := answer.([]any); ok {
		c.items = items
		return nil
	}
	object, ok := answer.(map[string]any)
	switch {
	case !ok:
		return errNoAnswer
	case object["Body"] == nil:
		return c.page(answer)
	case c.config.InputType != formatManifest && c.config.ManifestType == "":
		return c.object(answer)
	}
	body, err := objectBody(object)
	if err != nil {
		return err
	}
	c.objects, c.config, err = parseManifest(c.config, body)
	return err
}

// object takes the items in an object.
func (c *reading) object(answer any) error {
	object, ok := answer.(map[string]any)
	if !ok {
		return errNoAnswer
	}
	body, err := objectBody(object)
	if err != nil {
		return err
	}
	items, err := parseItems(c.config, body)
	c.items = append(c.items, items...)
	return err
}

// page takes a page of a list of objects: each is an item, or holds some.
func (c *reading) page(answer any) error {
	page, _ := answer.(map[string]any)
	listed, isList := page["Contents"].([]any)
	_, counted := page["KeyCount"]
	if !isList && !counted {
		return errNoAnswer
	}
	for _, l := range listed {
		one, ok := l.(map[string]any)
		key, isText := one["Key"].(string)
		if !ok || !isText {
			return errNoAnswer
		}
		if c.config.Transformation == "LOAD_AND_FLATTEN" {
			bucket, _ := c.arguments["Bucket"].(string)
			c.objects = append(c.objects, object{bucket, key})
			continue
		}
		item, err := newListItem(one)
		if err != nil {
			return err
		}
		c.items = append(c.items, item)
	}
	c.token, _ = page["NextContinuationToken"].(string)
	return nil
}
