package kit

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/internal/nearest"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// Params are the values of --param, each NAME=VALUE: members of a call's input.
type Params []string

// AddParams gives a command the flag --param.
func AddParams(f *pflag.FlagSet, to *Params, call string) {
	f.StringArrayVar((*[]string)(to), "param", nil, "`NAME=VALUE` for a member of the "+call+" call's input; repeat it for more")
}

// Spell writes the flags as a shell reads them.
func (p Params) Spell() (words []string) {
	for _, text := range p {
		words = append(words, "--param", text)
	}
	return words
}

// Names are the members of the input that are given.
func (p Params) Names(shape *catalog.Shape) []string {
	var names []string
	for _, text := range p {
		name, _, _ := strings.Cut(text, "=")
		name, _, _ = strings.Cut(name, ".")
		if m := memberOf(shape, name); m != nil {
			names = append(names, m.Name)
		}
	}
	return names
}

// Set puts the values into an input of the shape, in the model's spelling. It refuses
// what the model does not know.
func (p Params) Set(input map[string]any, shape *catalog.Shape) error {
	if len(p) > 0 && shape == nil {
		return fmt.Errorf("--param %s: the call takes no input", p[0])
	}
	for _, text := range p {
		name, value, found := strings.Cut(text, "=")
		if !found || name == "" {
			return fmt.Errorf("--param %q: expected NAME=VALUE", text)
		}
		s := paramSetter{name: name, text: value}
		if err := s.setMember(input, shape, strings.Split(name, ".")); err != nil {
			return fmt.Errorf("--param %s: %w", name, err)
		}
	}
	return nil
}

// paramSetter puts one value to its place.
type paramSetter struct{ name, text string }

// setMember sets the member of a structure that the path leads to.
func (s *paramSetter) setMember(object map[string]any, shape *catalog.Shape, path []string) error {
	m := memberOf(shape, path[0])
	if m == nil {
		var names []string
		for _, known := range shape.Members {
			names = append(names, known.Name)
		}
		hint := nearest.DidYouMean(path[0], names)
		if hint == "" && len(names) <= mostNames {
			hint = "; it has " + strings.Join(names, ", ")
		}
		return fmt.Errorf("%s has no member %q%s", shape.Name, path[0], hint)
	}
	return s.setValue(object, m.Name, m.Shape, path[1:])
}

// mostNames is how many members a message lists.
const mostNames = 12

// setValue sets what the rest of the path leads to, below a member of an object.
func (s *paramSetter) setValue(object map[string]any, name string, shape *catalog.Shape, rest []string) error {
	before, has := object[name]
	if len(rest) > 0 {
		inner, isObject := before.(map[string]any)
		if has && !isObject {
			return fmt.Errorf("%s is given twice", name)
		}
		if inner = maps.Clone(inner); inner == nil { // the inputs of several IDs share what --input says
			inner = map[string]any{}
		}
		object[name] = inner
		switch shape.Type {
		case catalog.Structure, catalog.Union:
			return s.setMember(inner, shape, rest)
		case catalog.Map:
			element := shape.Element.Shape
			if IsPart(element) { // a key may have dots
				return s.setValue(inner, rest[0], element, rest[1:])
			}
			return s.setValue(inner, strings.Join(rest, "."), element, nil)
		default:
			return fmt.Errorf("%s is %s: it has no member %q", name, kindOfShape(shape), rest[0])
		}
	}
	if shape.Type == catalog.List {
		list, isList := before.([]any)
		if has && !isList {
			return fmt.Errorf("%s is given twice", name)
		}
		more, err := s.items(shape)
		if err != nil {
			return err
		}
		object[name] = slices.Concat(list, more)
		return nil
	}
	if has {
		return fmt.Errorf("%s is given twice", name)
	}
	value, err := s.value(shape)
	if err != nil {
		return err
	}
	object[name] = value
	return nil
}

// IsPart tells whether a value of the shape can be the text of one --param.
func IsPart(shape *catalog.Shape) bool {
	return shape.Type == catalog.Structure || shape.Type == catalog.Union || shape.Type == catalog.Map
}

// items are what the text adds to a list: the items of a JSON array, or one.
func (s *paramSetter) items(shape *catalog.Shape) ([]any, error) {
	if element := shape.Element.Shape; IsPart(element) && !strings.HasPrefix(s.text, "[") && !strings.HasPrefix(s.text, "{") {
		return nil, fmt.Errorf("%s is a list: pass each item as JSON, as in --param '%s={...}'", s.name, s.name)
	}
	if !strings.HasPrefix(s.text, "[") {
		item, err := s.value(shape.Element.Shape)
		return []any{item}, err
	}
	value, err := s.parse(jsontree.Array, shape)
	if err != nil {
		return nil, err
	}
	return value.([]any), nil //nolint:forcetypeassert // parse wants an array
}

// value reads the text as a value of the shape.
func (s *paramSetter) value(shape *catalog.Shape) (any, error) {
	switch shape.Type {
	case catalog.Structure, catalog.Union, catalog.Map:
		return s.parse(jsontree.Object, shape)
	case catalog.List: // an item of a list
		return s.parse(jsontree.Array, shape)
	case catalog.Boolean:
		if s.text != "true" && s.text != "false" {
			return nil, fmt.Errorf("expected true or false, found %q", s.text)
		}
		return s.text == "true", nil
	case catalog.Integer, catalog.Long:
		if _, err := strconv.ParseInt(s.text, 10, 64); err != nil {
			return nil, fmt.Errorf("expected a whole number, found %q", s.text)
		}
		return json.Number(s.text), nil
	case catalog.Float, catalog.Double:
		if _, err := strconv.ParseFloat(s.text, 64); err != nil {
			return nil, fmt.Errorf("expected a number, found %q", s.text)
		}
		if !json.Valid([]byte(s.text)) {
			return s.text, nil // NaN
		}
		return json.Number(s.text), nil
	case catalog.Timestamp:
		if _, err := strconv.ParseFloat(s.text, 64); err == nil && json.Valid([]byte(s.text)) {
			return json.Number(s.text), nil
		}
		return s.text, nil
	case catalog.Document:
		if doc, err := jsontree.Parse([]byte(s.text)); err == nil {
			return doc.Root.Value(), nil
		}
		return s.text, nil
	default:
		if len(shape.Enum) > 0 && !slices.Contains(shape.Enum, s.text) {
			return nil, fmt.Errorf("%s is never %q%s", shape.Name, s.text, s.listEnum(shape))
		}
		return s.text, nil
	}
}

// listEnum says which values an enum has.
func (s *paramSetter) listEnum(shape *catalog.Shape) string {
	if hint := nearest.DidYouMean(s.text, shape.Enum); hint != "" {
		return hint
	}
	if len(shape.Enum) > mostNames {
		return ""
	}
	return ": expected " + OrList(shape.Enum)
}

// parse reads a text that has to be JSON of a kind.
func (s *paramSetter) parse(kind jsontree.Kind, shape *catalog.Shape) (any, error) {
	doc, err := jsontree.Parse([]byte(s.text))
	switch {
	case err != nil && IsPart(shape) && !strings.HasPrefix(s.text, "{"):
		return nil, fmt.Errorf("%s is %s: pass JSON, as in --param '%s={...}', or its members, as in --param %s.NAME=VALUE",
			s.name, kindOfShape(shape), s.name, s.name)
	case err != nil:
		return nil, err
	case doc.Root.Kind != kind:
		return nil, fmt.Errorf("expected %s, found %s", kind, doc.Root.Describe())
	}
	return doc.Root.Value(), nil
}

// kindOfShape is what people call the type.
func kindOfShape(shape *catalog.Shape) string {
	switch shape.Type {
	case catalog.Structure, catalog.Union:
		return "an object"
	case catalog.Integer:
		return "an integer"
	default:
		return "a " + string(shape.Type)
	}
}

// memberOf finds a member of a structure by its name in the model or in Step
// Functions.
func memberOf(shape *catalog.Shape, name string) *catalog.Member {
	if m := shape.Member(name); m != nil || shape == nil {
		return m
	}
	for i := range shape.Members {
		if javasdk.MemberName(shape.Members[i].Name) == javasdk.MemberName(name) {
			return &shape.Members[i]
		}
	}
	return nil
}
