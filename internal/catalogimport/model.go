package catalogimport

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/nearest"
	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// model is a service as one source describes it. Operations and shapes are
// converted when they are asked for: the catalogue needs few of them.
type model struct {
	// origin names the file, for messages.
	origin string
	// service has the names, protocols and endpoint, no operations yet.
	service catalog.Service
	// signing is what the IAM prefix is where no table says it.
	signing    string
	operations []string // names, sorted
	// operation converts an operation, without its IAM actions.
	operation func(name string) (*catalog.Operation, error)
	// shape converts a shape. Its members' targets are names of the model.
	shape func(name string) (rawShape, error)
	// endpoint works out the endpoint of an operation; nil if the model says no
	// more than the service has.
	endpoint func(operation string) (catalog.Endpoint, error)
	// waiters are those that come with the model.
	waiters []catalog.Definition
}

// wrong is an error of the model.
func (m *model) wrong(err error) error { return &FileError{m.origin, ErrModel, err} }

// declares returns an operation of the model.
func (m *model) declares(name string) (*catalog.Operation, error) {
	if !slices.Contains(m.operations, name) {
		return nil, m.wrong(fmt.Errorf("there is no operation %q%s", name, nearest.DidYouMean(name, m.operations)))
	}
	o, err := m.operation(name)
	if err != nil {
		return nil, m.wrong(fmt.Errorf("operation %s: %w", name, err))
	}
	return o, nil
}

// throttled finds the exception of the code by which AWS denies calls that are too frequent; nil if no operation
// declares it. An operation that cannot be read declares nothing here: it is reported if it is needed.
func (m *model) throttled() *catalog.Error {
	for _, name := range m.operations {
		o, err := m.operation(name)
		if err != nil {
			continue
		}
		if i := slices.IndexFunc(o.Errors, func(e catalog.Error) bool { return awserror.IsCommonThrottling(e.Shape) }); i >= 0 {
			return &o.Errors[i]
		}
	}
	return nil
}

// rawShape is a shape of a model.
type rawShape struct {
	shape *catalog.Shape
	// format is that of a timestamp, which members take over.
	format string
}

// simple tells whether a member needs to know no more than the type's name.
func (r rawShape) simple() bool {
	switch r.shape.Type {
	case catalog.Structure, catalog.Union, catalog.List, catalog.Map:
		return false
	default:
		return len(r.shape.Enum) == 0 && r.shape.Min == "" && r.shape.Max == "" && r.shape.Pattern == ""
	}
}

// simpleTypes are names that a shape with parts cannot have in the catalogue,
// where they stand for the types themselves.
var simpleTypes = []catalog.ShapeType{
	catalog.Blob, catalog.Boolean, catalog.String, catalog.Integer, catalog.Long, catalog.Float, catalog.Double,
	catalog.Timestamp, catalog.Document,
}

// closure collects operations of a model with all shapes that they reach.
type closure struct {
	model *model
	// limits tells to keep the bounds of shapes, and patterned are those whose pattern is kept, too.
	limits    bool
	patterned map[string]bool
	shapes    map[string]*catalog.Shape
}

// shape converts a shape of the model.
func (c *closure) shape(name string) (rawShape, error) {
	raw, err := c.model.shape(name)
	if err != nil {
		return raw, err
	}
	if !c.limits {
		raw.shape.Min, raw.shape.Max = "", ""
	}
	if !c.patterned[name] {
		raw.shape.Pattern = ""
	}
	return raw, nil
}

// add converts an operation and all that it reaches.
func (c *closure) add(name string) (*catalog.Operation, error) {
	o, err := c.model.declares(name)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(o.Errors, func(a, b catalog.Error) int { return strings.Compare(a.Shape, b.Shape) })
	for _, shape := range []string{o.InputShape, o.OutputShape} {
		if shape == "" {
			continue
		}
		if err := c.reach(shape); err != nil {
			return nil, c.model.wrong(fmt.Errorf("operation %s: %w", name, err))
		}
	}
	return o, nil
}

// reach converts a shape with parts and all shapes below it.
func (c *closure) reach(name string) error {
	for pending := []string{name}; len(pending) > 0; {
		name := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		if c.shapes[c.name(name)] != nil {
			continue
		}
		raw, err := c.shape(name)
		if err != nil {
			return err
		}
		if !c.limits && c.name(name) != name {
			return fmt.Errorf("shape %s: the catalogue keeps this name for the type", name)
		}
		c.shapes[c.name(name)] = raw.shape
		members := raw.shape.Members
		if raw.shape.Element != nil {
			members = append(slices.Clone(members), *raw.shape.Element)
		}
		for i := range members {
			next, err := c.target(&members[i])
			if err != nil {
				return fmt.Errorf("shape %s: member %s: %w", name, members[i].Name, err)
			}
			if next != "" {
				pending = append(pending, next)
			}
		}
		if raw.shape.Element != nil {
			*raw.shape.Element = members[len(members)-1]
		}
	}
	return nil
}

// name is what the catalogue calls a shape with parts or limits: as the model
// does, but for a name that the catalogue keeps for a type.
func (c *closure) name(shape string) string {
	if slices.Contains(simpleTypes, catalog.ShapeType(shape)) {
		return "_" + shape
	}
	return shape
}

// target gives a member the form of the catalogue and returns the name of the
// shape to reach through it, or empty.
func (c *closure) target(m *catalog.Member) (string, error) {
	raw, err := c.shape(m.Target)
	if err != nil {
		return "", err
	}
	if m.Format == "" {
		m.Format = raw.format
	}
	if m.Wire == m.Name {
		m.Wire = ""
	}
	if raw.simple() {
		m.Target = string(raw.shape.Type)
		return "", nil
	}
	name := m.Target
	m.Target = c.name(name)
	return name, nil
}

// namesOf returns the names of a map in order.
func namesOf[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
