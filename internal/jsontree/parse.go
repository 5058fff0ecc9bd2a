package jsontree

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// MaxDepth is how deep a document may nest before Parse refuses it.
const MaxDepth = 512

// Parse reads exactly one JSON value, as strictly as encoding/json and to the
// same values. Its error is a diag.Problems: a syntax error, a nesting above
// MaxDepth, or every duplicate member name. The document keeps the text, which
// must not change after.
func Parse(text []byte) (*Document, error) {
	p := newParser(text)
	p.doc.Root = p.value(nil, 0, 0)
	switch {
	case p.tooDeep:
	case p.doc.Root == nil || p.next() != 0 || p.at < len(text):
		return nil, diag.Problems{syntaxProblem(text)}
	}
	if err := p.problems.Err(); err != nil {
		return nil, err
	}
	return p.doc, nil
}

// parser makes the tree in one pass over the text. Its methods return nil or
// false where the text is no JSON, or nests too deep.
type parser struct {
	doc      *Document
	text     string
	at       int // what is read next
	problems diag.Problems
	tooDeep  bool

	// The children of the containers that are still open.
	items   []*Node
	members []Member

	nodeSlab   slab[Node]
	itemSlab   slab[*Node]
	memberSlab slab[Member]
}

func newParser(text []byte) *parser {
	// A value is the document, the first of a container, or stands after a comma.
	values := 1 + bytes.Count(text, []byte{'['}) + bytes.Count(text, []byte{'{'}) + bytes.Count(text, []byte{','})
	p := &parser{text: string(text)}
	p.doc = &Document{text: text, decoded: p.text}
	p.nodeSlab.left, p.itemSlab.left, p.memberSlab.left = values, values, values
	return p
}

// slab makes many slices with few allocations.
type slab[T any] struct {
	free []T
	left int // how many more are needed at most
}

// take returns n elements.
func (s *slab[T]) take(n int) []T {
	const most = 256
	if n > len(s.free) {
		size := max(n, min(s.left, most))
		s.free, s.left = make([]T, size), s.left-size
	}
	taken := s.free[:n:n]
	s.free = s.free[n:]
	return taken
}

// next skips white space and returns the byte that stands there, or 0 at the end.
func (p *parser) next() byte {
	for ; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// value reads a value. Place is as in Node.
func (p *parser) value(parent *Node, place, depth int) *Node {
	c := p.next()
	n := &p.nodeSlab.take(1)[0]
	n.Offset, n.doc, n.parent, n.place = p.at, p.doc, parent, place
	var ok bool
	switch c {
	case '{', '[':
		if depth == MaxDepth {
			p.tooDeep = true
			p.problems = append(p.problems, n.Problem("nested deeper than %d values", MaxDepth))
			return nil
		}
		p.at++
		if c == '{' {
			ok = p.object(n, depth)
		} else {
			ok = p.array(n, depth)
		}
	case '"':
		n.Kind = String
		n.Text, p.at, ok = readString(p.text, p.at)
	case 't':
		ok = p.literal(n, Bool, "true")
	case 'f':
		ok = p.literal(n, Bool, "false")
	case 'n':
		ok = p.literal(n, Null, "null")
		n.Text = ""
	default:
		n.Kind = Number
		p.at, ok = skipNumber(p.text, p.at)
		n.Text = p.text[n.Offset:p.at]
	}
	if !ok {
		return nil
	}
	n.End = p.at
	return n
}

func (p *parser) literal(n *Node, kind Kind, word string) bool {
	n.Kind, n.Text = kind, word
	p.at += len(word)
	return strings.HasPrefix(p.text[n.Offset:], word)
}

// array reads the items of n and the closing bracket.
func (p *parser) array(n *Node, depth int) bool {
	n.Kind = Array
	first := len(p.items)
	if p.next() == ']' {
		p.at++
		return true
	}
	for i := 0; ; i++ {
		item := p.value(n, i, depth+1)
		if item == nil {
			return false
		}
		p.items = append(p.items, item)
		if p.next() != ',' {
			break
		}
		p.at++
	}
	n.Items = p.itemSlab.take(len(p.items) - first)
	copy(n.Items, p.items[first:])
	p.items = p.items[:first]
	return p.closes(']')
}

// object reads the members of n and the closing brace.
func (p *parser) object(n *Node, depth int) bool {
	n.Kind = Object
	first := len(p.members)
	if p.next() == '}' {
		p.at++
		return true
	}
	var many map[string]bool
	for {
		if p.next() != '"' {
			return false
		}
		m := Member{Offset: p.at}
		var ok bool
		m.Name, p.at, ok = readString(p.text, p.at)
		if !ok || p.next() != ':' {
			return false
		}
		p.at++
		if m.Value = p.value(n, m.Offset, depth+1); m.Value == nil {
			return false
		}
		if many = grow(many, p.members[first:]); has(p.members[first:], many, m.Name) {
			p.problems = append(p.problems, n.MemberProblem(m, "member %q stands twice in this object; keep one", m.Name))
		}
		if many != nil {
			many[m.Name] = true
		}
		p.members = append(p.members, m)
		if p.next() != ',' {
			break
		}
		p.at++
	}
	n.Members = p.memberSlab.take(len(p.members) - first)
	copy(n.Members, p.members[first:])
	p.members = p.members[:first]
	return p.closes('}')
}

// grow returns the names of members once they are too many to look at each.
func grow(names map[string]bool, members []Member) map[string]bool {
	const few = 16
	if names != nil || len(members) < few {
		return names
	}
	names = make(map[string]bool, 2*few)
	for _, m := range members {
		names[m.Name] = true
	}
	return names
}

// has tells whether a member has the name. Names, if there are any, are those of
// all members.
func has(members []Member, names map[string]bool, name string) bool {
	if names != nil {
		return names[name]
	}
	for i := range members {
		if members[i].Name == name {
			return true
		}
	}
	return false
}

func (p *parser) closes(bracket byte) bool {
	if p.next() != bracket {
		return false
	}
	p.at++
	return true
}

// skipNumber returns where the number ends that begins at the offset.
func skipNumber(text string, at int) (end int, ok bool) {
	if at < len(text) && text[at] == '-' {
		at++
	}
	if at < len(text) && text[at] == '0' {
		at++
	} else if at, ok = skipDigits(text, at); !ok {
		return at, false
	}
	if at < len(text) && text[at] == '.' {
		if at, ok = skipDigits(text, at+1); !ok {
			return at, false
		}
	}
	if at < len(text) && (text[at] == 'e' || text[at] == 'E') {
		at++
		if at < len(text) && (text[at] == '+' || text[at] == '-') {
			at++
		}
		return skipDigits(text, at)
	}
	return at, true
}

// skipDigits returns where the digits end, of which there must be one.
func skipDigits(text string, at int) (end int, ok bool) {
	end = at
	for end < len(text) && '0' <= text[end] && text[end] <= '9' {
		end++
	}
	return end, end > at
}

// syntaxProblem says what is wrong with a text that is no JSON: in the words of
// encoding/json, but for a text that ends too early.
func syntaxProblem(text []byte) diag.Problem {
	err := json.Unmarshal(text, new(json.RawMessage))
	offset := len(text)
	message := "not valid JSON: " + strings.TrimPrefix(err.Error(), "json: ")
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok && !strings.Contains(err.Error(), "unexpected end") {
		offset = max(0, int(syntax.Offset)-1)
	} else if len(bytes.TrimSpace(text)) == 0 {
		message = "not valid JSON: the text is empty"
	} else {
		message = "not valid JSON: the text ends before its value does"
	}
	switch {
	case bytes.HasPrefix(text, []byte("\ufeff")):
		message += "; the text starts with a byte-order mark: save it as UTF-8 without one"
	case bytes.HasPrefix(text, []byte("\xff\xfe")), bytes.HasPrefix(text, []byte("\xfe\xff")):
		message += "; the text is in UTF-16: save it as UTF-8"
	}
	return diag.At(text, offset, "", message)
}
