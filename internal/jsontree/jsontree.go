// Package jsontree reads JSON into a tree that keeps what encoding/json drops:
// the order of members, duplicate members, and where in the text each value
// stands. Strict readers (waiters, state machine definitions, Lambda events)
// walk the tree and report every problem with its JSON pointer and position.
package jsontree

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// Kind is the JSON type of a value.
type Kind uint8

// The JSON types.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

// String names the type as people say it in messages.
func (k Kind) String() string {
	return [...]string{"null", "a boolean", "a number", "a string", "an array", "an object"}[k]
}

// Node is a JSON value and its place.
type Node struct {
	Kind    Kind
	Offset  int    // of the first byte
	End     int    // after the last byte
	Text    string // String: decoded; Number: the literal; Bool: "true" or "false"
	Items   []*Node
	Members []Member

	doc    *Document
	parent *Node
	place  int // the index in the parent's items, or where the member's name stands
}

// Member is a name and value of an object, in document order.
type Member struct {
	Name   string
	Offset int // of the name
	Value  *Node
}

// Document is a parsed text. It serves one reader at a time.
type Document struct {
	Root     *Node
	text     []byte
	decoded  string // the text; strings without escapes are part of it
	problems int    // told of so far
}

// IsRoot tells whether the value is the whole document.
func (n *Node) IsRoot() bool { return n.parent == nil }

// Pointer returns the RFC 6901 pointer of the value in the text as it was read.
func (n *Node) Pointer() string { return string(n.appendPointer(nil)) }

// Problem returns a problem that stands at the value.
func (n *Node) Problem(format string, args ...any) diag.Problem {
	return n.doc.at(n.Offset, n.Pointer(), format, args...)
}

// Missing returns the problem that the value lacks a member.
func (n *Node) Missing(member, format string, args ...any) diag.Problem {
	p := n.Problem(format, args...)
	p.Missing = member
	return p
}

// MemberProblem returns a problem that stands at the member's name.
func (n *Node) MemberProblem(m Member, format string, args ...any) diag.Problem {
	return n.doc.at(m.Offset, m.Value.Pointer(), format, args...)
}

// Get returns the value of the member, or nil.
func (n *Node) Get(name string) *Node {
	for _, m := range n.Members {
		if m.Name == name {
			return m.Value
		}
	}
	return nil
}

// Drop removes the members whose names begin with the prefix.
func (n *Node) Drop(prefix string) {
	n.Members = slices.DeleteFunc(n.Members, func(m Member) bool { return strings.HasPrefix(m.Name, prefix) })
}

// SchemaMember is the member by which an editor finds the JSON Schema of a file.
const SchemaMember = "$schema"

// SkipSchema removes a text that names the JSON Schema of the value.
func (n *Node) SkipSchema() {
	n.Members = slices.DeleteFunc(n.Members, func(m Member) bool { return m.Name == SchemaMember && m.Value.Kind == String })
}

// Child returns the member of that name or the item of that index, or nil: one
// step of a JSON pointer, unescaped.
func (n *Node) Child(step string) *Node {
	if n.Kind == Array {
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(n.Items) {
			return n.Items[i]
		}
	}
	return n.Get(step)
}

// Raw returns the value's own text.
func (n *Node) Raw() json.RawMessage { return json.RawMessage(n.doc.text[n.Offset:n.End]) }

// Value returns the value as encoding/json would decode it into an any, with
// numbers as json.Number so that none loses digits.
func (n *Node) Value() any {
	switch n.Kind {
	case Bool:
		return n.Text == "true"
	case Number:
		return json.Number(n.Text)
	case String:
		return n.Text
	case Array:
		out := make([]any, len(n.Items))
		for i, item := range n.Items {
			out[i] = item.Value()
		}
		return out
	case Object:
		out := make(map[string]any, len(n.Members))
		for _, m := range n.Members {
			out[m.Name] = m.Value.Value()
		}
		return out
	default:
		return nil
	}
}

// Describe names a value for a message: its type, and its text if it is short.
func (n *Node) Describe() string {
	const limit = 40
	if raw := n.Raw(); n.Kind < Array && n.Kind != Null && len(raw) <= limit {
		return fmt.Sprintf("%s (%s)", n.Kind, raw)
	}
	return n.Kind.String()
}

func (n *Node) appendPointer(b []byte) []byte {
	if n.parent == nil {
		return b
	}
	b = append(n.parent.appendPointer(b), '/')
	return append(b, n.step()...)
}

// step is the last part of the pointer.
func (n *Node) step() string {
	if n.parent.Kind == Array {
		return strconv.Itoa(n.place)
	}
	name, _, _ := readString(n.doc.decoded, n.place)
	return pointerEscapes.Replace(name)
}

func (d *Document) at(offset int, pointer, format string, args ...any) diag.Problem {
	if d.problems++; d.problems > diag.MaxShown {
		return diag.Hidden(pointer, fmt.Sprintf(format, args...))
	}
	p := diag.At(d.text, offset, pointer, fmt.Sprintf(format, args...))
	p.OwnWords = diag.OwnWords(format, args...)
	return p
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")
