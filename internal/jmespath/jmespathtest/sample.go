package jmespathtest

import (
	"maps"
	"slices"

	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

// Sample makes a JSON value that has what the expression reads: objects, lists
// of up to three elements, numbers, and strings that include those it compares
// with. Scalars may be null; lists are not, since a list of a Go struct never
// is. draw gives a number below n.
func Sample(e *jmespath.Expr, draw func(n int) int) any {
	root := &sample{}
	root.read(e.Tree(nil))
	return root.make(draw)
}

// sample is what is known of a value from how an expression uses it.
type sample struct {
	kind    jsontype.Kind // Null if it is used as nothing in particular
	members map[string]*sample
	open    bool    // an object of any members, all like elem
	elem    *sample // of an array or an open object
	words   []string
}

func (s *sample) element() *sample {
	if s.elem == nil {
		s.elem = &sample{}
	}
	return s.elem
}

// read notes what the node does with the value, and returns what it gives.
func (s *sample) read(n *jmespath.Node) *sample {
	switch n.Op {
	case jmespath.OpCurrent:
		return s
	case jmespath.OpField:
		if s.kind, s.members = jsontype.Object, orMake(s.members); s.members[n.Name] == nil {
			s.members[n.Name] = &sample{}
		}
		return s.members[n.Name]
	case jmespath.OpSub, jmespath.OpPipe:
		return s.read(n.Kids[0]).read(n.Kids[1])
	case jmespath.OpValues:
		source := s.read(n.Kids[0])
		source.kind, source.open = jsontype.Object, true
		return &sample{kind: jsontype.Array, elem: source.element()}
	case jmespath.OpProject:
		source := s.read(n.Kids[0])
		source.kind = jsontype.Array
		return &sample{kind: jsontype.Array, elem: source.element().read(n.Kids[1])}
	case jmespath.OpFlatten, jmespath.OpSlice:
		source := s.read(n.Kids[0])
		source.kind = jsontype.Array
		return source
	case jmespath.OpFilter:
		source := s.read(n.Kids[0])
		source.kind = jsontype.Array
		source.element().read(n.Kids[1])
		return source
	case jmespath.OpIndex:
		source := s.read(n.Kids[0])
		source.kind = jsontype.Array
		return source.element()
	case jmespath.OpCompare:
		left, right := s.read(n.Kids[0]), s.read(n.Kids[1])
		left.like(right)
		right.like(left)
		return &sample{kind: jsontype.Boolean}
	case jmespath.OpLiteral:
		v := &sample{kind: kindOf(n.Value)}
		if word, ok := n.Value.(string); ok {
			v.words = []string{word}
		}
		return v
	case jmespath.OpCall:
		for i, kid := range n.Kids {
			if arg := s.read(kid); arg.kind == jsontype.Null && takesArray(n.Name, i) {
				arg.kind = jsontype.Array
			}
		}
		return &sample{kind: jsontype.Number}
	default:
		for _, kid := range n.Kids {
			s.read(kid)
		}
		return &sample{kind: jsontype.Boolean}
	}
}

func orMake(m map[string]*sample) map[string]*sample {
	if m == nil {
		return map[string]*sample{}
	}
	return m
}

// like takes over the kind of what the value is compared with.
func (s *sample) like(other *sample) {
	if s.kind == jsontype.Null {
		s.kind = other.kind
		if s.kind == jsontype.Null {
			s.kind = jsontype.Number // two members compared
		}
	}
	s.words = append(s.words, other.words...)
}

func (s *sample) make(draw func(n int) int) any {
	switch s.kind {
	case jsontype.Array:
		items := make([]any, draw(4))
		for i := range items {
			items[i] = s.element().make(draw)
		}
		return items
	case jsontype.Object:
		members := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(s.members)) { // so that a seed repeats
			members[name] = s.members[name].make(draw)
		}
		for _, name := range []string{"a", "b"}[:draw(3)] {
			if s.open {
				members[name] = s.element().make(draw)
			}
		}
		return members
	case jsontype.Number:
		return float64(draw(4))
	case jsontype.Boolean:
		return draw(2) == 0
	default:
		words := append([]string{"", "ACTIVE", "FAILED"}, s.words...)
		if i := draw(len(words) + 1); i < len(words) {
			return words[i]
		}
		return nil
	}
}

// kindOf is the kind of a JSON value.
func kindOf(v any) jsontype.Kind {
	switch v.(type) {
	case bool:
		return jsontype.Boolean
	case float64:
		return jsontype.Number
	case string:
		return jsontype.String
	case []any:
		return jsontype.Array
	case map[string]any:
		return jsontype.Object
	default:
		return jsontype.Null
	}
}

// takesArray reports whether a function takes an array as an argument.
func takesArray(name string, i int) bool {
	switch name {
	case "abs", "ceil", "floor", "starts_with", "ends_with", "keys", "values", "merge":
		return false
	case "join":
		return i == 1
	default:
		return true
	}
}

// Capitalise gives the members that an expression reads names with a first
// letter in upper case, as the fields of Go structs have.
func Capitalise(e *jmespath.Expr) (*jmespath.Expr, error) {
	return e.Rename(nil, func(_ *jsontype.Type, name string) string {
		if name != "" && 'a' <= name[0] && name[0] <= 'z' {
			return string(name[0]-'a'+'A') + name[1:]
		}
		return name
	})
}
