// Package schema makes JSON Schemas of Go types, for the folder docs/reference/schema.
//
//	s, err := schema.Of(reflect.TypeFor[Report](), schema.Options{Described: schema.Lists(section, "")})
//
// The command does not link it: tests make the files and compare them.
package schema

import (
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// Options say what the types alone do not.
type Options struct {
	// Types are the schemas of types whose form their fields do not show.
	Types map[reflect.Type]*jsonschema.Schema
	// Least are the values of types with the fewest members in JSON, where that is not the zero value.
	Least map[reflect.Type]any
	// Described are the descriptions of members by their path, as "bound.kind".
	Described map[string]string
	// Comments gives members without a description the comment of their field.
	Comments bool
	// Closed refuses members that the types do not have.
	Closed bool
}

// Of is the schema of a type's JSON. All that Described has must be there.
func Of(t reflect.Type, o Options) (*jsonschema.Schema, error) {
	m := &maker{options: o, known: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage](): {},
		reflect.TypeFor[time.Time]():       {Type: "string", Format: "date-time"},
	}, parts: map[string]*jsonschema.Schema{}}
	maps.Copy(m.known, o.Types)
	if err := m.learn(t); err != nil {
		return nil, err
	}
	s, err := m.make(t)
	if err != nil {
		return nil, err
	}
	if len(m.parts) > 0 {
		s.Defs = m.parts
	}
	m.tidy(s)
	return s, Describe(s, o.Described)
}

// OneOf is the schema of JSON that is of one of several types.
func OneOf(o Options, types ...reflect.Type) (*jsonschema.Schema, error) {
	s := &jsonschema.Schema{}
	for _, t := range types {
		one, err := Of(t, Options{Types: o.Types, Least: o.Least, Comments: o.Comments, Closed: o.Closed})
		if err != nil {
			return nil, err
		}
		s.OneOf = append(s.OneOf, one)
	}
	return s, Describe(s, o.Described)
}

// maker makes the schemas of types.
type maker struct {
	options Options
	known   map[reflect.Type]*jsonschema.Schema // of types that are not as their fields
	parts   map[string]*jsonschema.Schema       // of types that have themselves as a part, by their names
	around  []reflect.Type                      // structs that are being learnt
	learnt  []reflect.Type
}

// learn finds the schemas of all types within a type that are not as their fields.
func (m *maker) learn(t reflect.Type) error {
	switch {
	case m.known[t] != nil:
		return nil
	case slices.Contains(m.around, t): // in itself
		m.parts[partName(t)] = nil
		m.known[t] = &jsonschema.Schema{Ref: "#/$defs/" + partName(t)}
		return nil
	case slices.Contains(m.learnt, t):
		return nil
	}
	isForm := t.Implements(reflect.TypeFor[json.Marshaler]()) && t.Kind() != reflect.Pointer
	switch {
	case isForm && t.Kind() != reflect.Struct:
		return fmt.Errorf("%v marshals itself: give its schema", t)
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) && t.Kind() != reflect.Pointer, t.Kind() == reflect.String && t.PkgPath() != "":
		words, err := wordsOf(t)
		m.known[t] = &jsonschema.Schema{Type: "string", Enum: words}
		return err
	}
	m.learnt = append(m.learnt, t)
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return m.learn(t.Elem())
	case reflect.Struct:
		m.around = append(m.around, t)
		for _, f := range members(t) {
			if err := m.learn(f.Type); err != nil {
				return err
			}
		}
		m.around = m.around[:len(m.around)-1]
		_, isPart := m.parts[partName(t)]
		if !isForm && !isPart && !m.options.Comments {
			return nil
		}
		s, err := m.object(t)
		if err != nil {
			return err
		}
		if isPart {
			m.parts[partName(t)] = s
		} else {
			m.known[t] = s
		}
	default:
	}
	return nil
}

// partName is the name of a type among the parts of a schema.
func partName(t reflect.Type) string {
	if t.Name() == "" {
		return ""
	}
	return lowerFirst(t.Name())
}

// make is the schema of a type that has been learnt.
func (m *maker) make(t reflect.Type) (*jsonschema.Schema, error) {
	return jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: m.known})
}

// members are the fields of a struct that JSON may have, those of embedded structs among them.
func members(t reflect.Type) []reflect.StructField {
	var all []reflect.StructField
	for _, f := range reflect.VisibleFields(t) {
		if f.IsExported() && !f.Anonymous && f.Tag.Get("json") != "-" {
			all = append(all, f)
		}
	}
	return all
}

// memberName is the name that a field has in JSON, and whether it may be absent. A field without one
// has its own, as a method writes it that sets the name.
func memberName(f reflect.StructField) (name string, optional bool) {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "" {
		name = lowerFirst(f.Name)
	}
	return name, strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
}

func lowerFirst(name string) string { return strings.ToLower(name[:1]) + name[1:] }

// object is the schema of a struct that may write its JSON itself.
func (m *maker) object(t reflect.Type) (*jsonschema.Schema, error) {
	s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
	for _, f := range members(t) {
		name, optional := memberName(f)
		property, err := m.make(f.Type)
		if err != nil {
			return nil, err
		}
		if m.options.Comments {
			if property.Description, err = commentOf(t, f.Name); err != nil {
				return nil, err
			}
		}
		s.Properties[name] = property
		s.PropertyOrder = append(s.PropertyOrder, name)
		if !optional {
			s.Required = append(s.Required, name)
		}
	}
	if !t.Implements(reflect.TypeFor[json.Marshaler]()) {
		return s, nil
	}
	full := reflect.New(t).Elem()
	Fill(full)
	least := m.options.Least[t]
	if least == nil {
		least = reflect.Zero(t).Interface()
	}
	sampled, err := Sampled(full.Interface(), least)
	if err != nil {
		return nil, err
	}
	for _, name := range sampled.PropertyOrder {
		if s.Properties[name] != nil {
			sampled.Properties[name] = s.Properties[name]
		}
	}
	return sampled, nil
}

// tidy leaves null out, which no member of ours is, and opens objects that are not closed.
func (m *maker) tidy(s *jsonschema.Schema) {
	visit(s, func(s *jsonschema.Schema) {
		s.Types = slices.DeleteFunc(slices.Clone(s.Types), func(name string) bool { return name == "null" })
		if len(s.Types) == 1 {
			s.Type = s.Types[0]
		}
		if len(s.Types) < 2 {
			s.Types = nil
		}
		if s.Properties == nil {
			return
		}
		s.AdditionalProperties = nil
		if m.options.Closed {
			s.AdditionalProperties = Nothing()
		}
	})
}

// AllowSchema lets an object have the member that names its schema.
func AllowSchema(s *jsonschema.Schema) {
	s.Properties["$schema"] = &jsonschema.Schema{Type: "string", Description: "this schema, for an editor; jobpoller ignores it"}
	s.PropertyOrder = slices.Insert(s.PropertyOrder, 0, "$schema")
}

// Nothing is the schema that no value has.
func Nothing() *jsonschema.Schema { return &jsonschema.Schema{Not: &jsonschema.Schema{}} }

// visit calls a function for a schema and all within it.
func visit(s *jsonschema.Schema, call func(*jsonschema.Schema)) {
	if s == nil {
		return
	}
	call(s)
	named := slices.Concat(slices.Collect(maps.Values(s.Defs)), slices.Collect(maps.Values(s.Properties)))
	for _, part := range slices.Concat(named, s.AnyOf, s.OneOf, []*jsonschema.Schema{s.Items, s.AdditionalProperties}) {
		visit(part, call)
	}
}
