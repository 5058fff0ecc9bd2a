package jmespath

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Sample makes a JSON value that has what the expression reads: objects, lists
// of up to three elements, numbers, and strings that include those it compares
// with. Scalars may be null; lists are not, since a list of a Go struct never
// is. draw gives a number below n.
func (e *Expr) Sample(draw func(n int) int) any {
	root := &sample{}
	root.read(e.root)
	return root.make(draw)
}

// sample is what is known of a value from how an expression uses it.
type sample struct {
	kind    Kind // Null if it is used as nothing in particular
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
func (s *sample) read(n *node) *sample {
	switch n.op {
	case opCurrent:
		return s
	case opField:
		if s.kind, s.members = Object, orMake(s.members); s.members[n.name] == nil {
			s.members[n.name] = &sample{}
		}
		return s.members[n.name]
	case opSub, opPipe:
		return s.read(n.kids[0]).read(n.kids[1])
	case opValues:
		source := s.read(n.kids[0])
		source.kind, source.open = Object, true
		return &sample{kind: Array, elem: source.element()}
	case opProject:
		source := s.read(n.kids[0])
		source.kind = Array
		return &sample{kind: Array, elem: source.element().read(n.kids[1])}
	case opFlatten, opSlice:
		source := s.read(n.kids[0])
		source.kind = Array
		return source
	case opFilter:
		source := s.read(n.kids[0])
		source.kind = Array
		source.element().read(n.kids[1])
		return source
	case opIndex:
		source := s.read(n.kids[0])
		source.kind = Array
		return source.element()
	case opCompare:
		left, right := s.read(n.kids[0]), s.read(n.kids[1])
		left.like(right)
		right.like(left)
		return &sample{kind: Boolean}
	case opLiteral:
		v := &sample{kind: fromAny(n.value).kind}
		if word, ok := n.value.(string); ok {
			v.words = []string{word}
		}
		return v
	case opCall:
		for i, kid := range n.kids {
			if arg := s.read(kid); arg.kind == Null && n.fn.param(i).kinds&isArray != 0 {
				arg.kind = Array
			}
		}
		return &sample{kind: Number}
	default:
		for _, kid := range n.kids {
			s.read(kid)
		}
		return &sample{kind: Boolean}
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
	if s.kind == Null {
		s.kind = other.kind
		if s.kind == Null {
			s.kind = Number // two members compared
		}
	}
	s.words = append(s.words, other.words...)
}

func (s *sample) make(draw func(n int) int) any {
	switch s.kind {
	case Array:
		items := make([]any, draw(4))
		for i := range items {
			items[i] = s.element().make(draw)
		}
		return items
	case Object:
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
	case Number:
		return float64(draw(4))
	case Boolean:
		return draw(2) == 0
	default:
		words := append([]string{"", "ACTIVE", "FAILED"}, s.words...)
		if i := draw(len(words) + 1); i < len(words) {
			return words[i]
		}
		return nil
	}
}

// Capitalised is the expression with the first letter of every name in upper
// case, as the fields of Go structs are named.
func (e *Expr) Capitalised() *Expr { return &Expr{text: e.text, root: e.root.capitalised()} }

func (n *node) capitalised() *node {
	copied := *n
	if n.op == opField {
		copied.name = upperFirst(n.name)
	}
	copied.names = slices.Clone(n.names)
	for i, name := range n.names {
		copied.names[i] = upperFirst(name)
	}
	copied.kids = slices.Clone(n.kids)
	for i, kid := range n.kids {
		copied.kids[i] = kid.capitalised()
	}
	return &copied
}

func upperFirst(name string) string {
	if name != "" && 'a' <= name[0] && name[0] <= 'z' {
		return string(name[0]-'a'+'A') + name[1:]
	}
	return name
}

// Parts are the expressions of a list or an object that the expression makes,
// and the names of an object's.
func (e *Expr) Parts() (names []string, parts []*Expr) {
	if e.root.op == opMultiList || e.root.op == opMultiHash {
		for _, kid := range e.root.kids {
			parts = append(parts, &Expr{text: e.text, root: kid})
		}
	}
	return e.root.names, parts
}

// Tree writes the syntax tree without places in the text, and the names of
// members in it as they are.
func (e *Expr) Tree() string { return e.root.tree(func(name string) string { return name }) }

// TreeRenamed is Tree with the names of all members changed.
func (e *Expr) TreeRenamed(rename func(name string) string) string { return e.root.tree(rename) }

func (n *node) tree(rename func(string) string) string {
	name := n.name
	if n.op == opField {
		name = rename(name)
	}
	var slice []int
	for _, part := range n.slice {
		if part != nil {
			slice = append(slice, 1, *part)
		} else {
			slice = append(slice, 0)
		}
	}
	kids := make([]string, len(n.kids))
	for i, kid := range n.kids {
		kids[i] = kid.tree(rename)
	}
	return fmt.Sprintf("(%d %d %q %q %#v %d %v %d %s)", n.op, n.depth, name, n.names, n.value, n.index, slice, n.order, strings.Join(kids, " "))
}
