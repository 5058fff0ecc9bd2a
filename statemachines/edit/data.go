package edit

import (
	"bytes"

	"github.com/jobpoller/jobpoller/internal/jsontree"
)

// planned is an edit and where it is made.
type planned struct {
	Edit

	node  *node
	value *jsontree.Node
	// name and text are what is written: Fn::Sub reads them.
	name string
	text *jsontree.Node
}

// changesOf are the edits of a definition's values. It makes them as data, for what the
// text says afterwards to be compared with.
type changesOf map[*jsontree.Node][]planned

// apply writes a value with its edits.
func (c changesOf) apply(n *jsontree.Node) []byte {
	for _, p := range c[n] {
		if p.Op == Replace {
			return p.Value
		}
	}
	switch n.Kind {
	case jsontree.Object:
		var members [][]byte
		for _, m := range n.Members {
			members = append(members, c.around(m.Value, m.Name, true)...)
		}
		return list('{', append(members, c.inserted(n, Append)...), '}')
	case jsontree.Array:
		var items [][]byte
		for _, item := range n.Items {
			items = append(items, c.around(item, "", false)...)
		}
		return list('[', append(items, c.inserted(n, Append)...), ']')
	default:
		return n.Raw()
	}
}

func list(open byte, parts [][]byte, closing byte) []byte {
	return append(append([]byte{open}, bytes.Join(parts, []byte(","))...), closing)
}

// around are a member or an item, and what is inserted beside it.
func (c changesOf) around(n *jsontree.Node, name string, isMember bool) [][]byte {
	removed := false
	for _, p := range c[n] {
		switch p.Op {
		case Rename:
			name = p.Name
		case Remove:
			removed = true
		case Replace, Before, Behind, Append:
		}
	}
	out := c.inserted(n, Before)
	if !removed {
		out = append(out, part(name, c.apply(n), isMember))
	}
	return append(out, c.inserted(n, Behind)...)
}

func (c changesOf) inserted(n *jsontree.Node, op Op) [][]byte {
	var out [][]byte
	for _, p := range c[n] {
		if p.Op == op {
			out = append(out, part(p.Name, p.Value, p.Name != ""))
		}
	}
	return out
}

func part(name string, value []byte, isMember bool) []byte {
	if !isMember {
		return value
	}
	return append(append(jsontree.Quote(name), ':'), value...)
}

// equal compares two values, with the order of members.
func equal(a, b *jsontree.Node) bool {
	if a.Kind != b.Kind || a.Text != b.Text || len(a.Items) != len(b.Items) || len(a.Members) != len(b.Members) {
		return false
	}
	for i := range a.Items {
		if !equal(a.Items[i], b.Items[i]) {
			return false
		}
	}
	for i := range a.Members {
		if a.Members[i].Name != b.Members[i].Name || !equal(a.Members[i].Value, b.Members[i].Value) {
			return false
		}
	}
	return true
}
