package catalog

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// ShapeType is the type of a shape, by the names of Smithy.
type ShapeType string

// The types of shapes. Those from Blob on have no parts, and a member that
// targets one without a name of its own names the type instead.
const (
	Structure ShapeType = "structure"
	Union     ShapeType = "union"
	List      ShapeType = "list"
	Map       ShapeType = "map" // with strings for keys
	Blob      ShapeType = "blob"
	Boolean   ShapeType = "boolean"
	String    ShapeType = "string"
	Integer   ShapeType = "integer"
	Long      ShapeType = "long"
	Float     ShapeType = "float"
	Double    ShapeType = "double"
	Timestamp ShapeType = "timestamp"
	Document  ShapeType = "document" // any JSON value
)

// simple are the shapes that have nothing but a type.
var simple = func() map[ShapeType]*Shape {
	shapes := map[ShapeType]*Shape{}
	for _, t := range []ShapeType{Blob, Boolean, String, Integer, Long, Float, Double, Timestamp, Document} {
		shapes[t] = &Shape{Name: string(t), Type: t}
	}
	return shapes
}()

// Shape is a type of a service's model. Shapes can contain themselves.
type Shape struct {
	Name string    `json:"-"`
	Type ShapeType `json:"type"`
	// Members are those of a structure or union, sorted by name.
	Members Members `json:"members,omitempty"`
	// Element is what a list or map holds.
	Element *Member `json:"element,omitempty"`
	// Key is what XML and queries call the keys of a map, if not "key".
	Key string `json:"key,omitempty"`
	// Namespace is declared in XML on a structure, nil for none.
	Namespace *Namespace `json:"namespace,omitempty"`
	// Enum are the values that the model knows of a string. Services add some.
	Enum []string `json:"enum,omitempty"`
	// Min and Max bound a number, or the length of a string, a blob, a list or a
	// map; empty means no bound. Only package models has them, and the Pattern of
	// a token and of a name that a caller makes up: a regular expression in the dialect of Java or of Python.
	Min     json.Number `json:"min,omitempty"`
	Max     json.Number `json:"max,omitempty"`
	Pattern string      `json:"pattern,omitempty"`
}

// Member returns the member of that name, or nil.
func (s *Shape) Member(name string) *Member {
	if s == nil {
		return nil
	}
	i, found := slices.BinarySearchFunc(s.Members, name, func(m Member, name string) int { return strings.Compare(m.Name, name) })
	if !found {
		return nil
	}
	return &s.Members[i]
}

// Members are members sorted by name. In JSON they are an object.
type Members []Member

// Member is a member of a structure or union, or what a list or map holds.
type Member struct {
	// Name is the member's in the model, empty in a list or map.
	Name  string `json:"-"`
	Shape *Shape `json:"-"`
	// Target is the name of the shape.
	Target   string `json:"target"`
	Required bool   `json:"required,omitempty"`
	// Token is set on the member that makes a request idempotent.
	Token bool `json:"token,omitempty"`
	// In is where the member is in an HTTP message, the body if empty.
	In Location `json:"in,omitempty"`
	// Wire is what a message calls the member, if not by its name: an item of a
	// list, if not "member", or a value of a map, if not "value". What differs in
	// EC2's XML only in the case of the first letter is left out there.
	Wire string `json:"wire,omitempty"`
	// Query is what EC2's queries call the member, if not by its wire name with a
	// capital.
	Query string `json:"query,omitempty"`
	// Flat tells that XML and queries have no element around a list or map.
	Flat bool `json:"flat,omitempty"`
	// Attribute tells that the member is an attribute in XML.
	Attribute bool `json:"attribute,omitempty"`
	// Format is how a timestamp is written: "iso8601", "rfc822" or
	// "unixTimestamp"; empty means as the protocol does.
	Format string `json:"format,omitempty"`
}

// Namespace is a namespace of XML.
type Namespace struct {
	Prefix string `json:"prefix,omitempty"`
	URI    string `json:"uri"`
}

// WireName is what a message calls the member.
func (m Member) WireName() string {
	if m.Wire != "" {
		return m.Wire
	}
	return m.Name
}

// Location is a part of an HTTP message.
type Location string

// The locations of members besides the body's own members.
const (
	InPath    Location = "path"    // a label of the path
	InQuery   Location = "query"   // a parameter of the query; a map is many
	InHeader  Location = "header"  // one header
	InHeaders Location = "headers" // headers with the member's wire name for a prefix
	InStatus  Location = "status"  // the status of the response
	InPayload Location = "payload" // the member is the whole body
)

// memberJSON is the long form of a Member in the data; the short one is the
// name of its shape, with a mustHave behind it where the member is required.
type memberJSON Member

const mustHave = "!"

// MarshalJSON implements json.Marshaler.
func (m Member) MarshalJSON() ([]byte, error) {
	if m != (Member{Name: m.Name, Shape: m.Shape, Target: m.Target, Required: m.Required}) {
		return json.Marshal(memberJSON(m))
	}
	if m.Required {
		return json.Marshal(m.Target + mustHave)
	}
	return json.Marshal(m.Target)
}

// UnmarshalJSON implements json.Unmarshaler.
func (m *Member) UnmarshalJSON(text []byte) error {
	if len(text) == 0 || text[0] != '"' {
		return json.Unmarshal(text, (*memberJSON)(m))
	}
	var short string
	err := json.Unmarshal(text, &short)
	m.Target, m.Required = strings.CutSuffix(short, mustHave)
	return err
}

// MarshalJSON implements json.Marshaler.
func (m Members) MarshalJSON() ([]byte, error) {
	object := make(map[string]Member, len(m))
	for _, member := range m {
		object[member.Name] = member
	}
	return json.Marshal(object)
}

// UnmarshalJSON implements json.Unmarshaler.
func (m *Members) UnmarshalJSON(text []byte) error {
	var object map[string]Member
	if err := json.Unmarshal(text, &object); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		member := object[name]
		member.Name = name
		*m = append(*m, member)
	}
	return nil
}
