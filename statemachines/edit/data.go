package edit

import "github.com/jobpoller/jobpoller/internal/jsontree"

// planned is an edit and where it is made.
type planned struct {
	Edit

	node *node
	to   *node // of a Move
	// arrives tells that the Move puts value in front of the node.
	arrives bool
	value   *jsontree.Node
	// name and text are what is written: Fn::Sub reads them.
	name string
	text *jsontree.Node
}

// changesOf are the edits of a definition's values. It makes them as data, for what the
// text says afterwards to be compared with.
type changesOf map[*jsontree.Node][]planned

// apply makes the edits of the definition.
func (c changesOf) apply(root *jsontree.Node) *jsontree.Node {
	around := map[*jsontree.Node]bool{} // values in which an edit is made
	for _, made := range c {
		for n := made[0].node; n != nil; n = n.parent {
			around[n.data] = true
		}
	}
	return c.change(root, around)
}

// change is a value with its edits.
func (c changesOf) change(n *jsontree.Node, around map[*jsontree.Node]bool) *jsontree.Node {
	if !around[n] {
		return n
	}
	for _, p := range c[n] {
		if p.Op == Replace {
			return p.value
		}
	}
	out := &jsontree.Node{Kind: n.Kind, Text: n.Text}
	for _, m := range n.Members {
		out.Members = append(out.Members, c.withNeighbours(m, around)...)
	}
	for _, item := range n.Items {
		for _, m := range c.withNeighbours(jsontree.Member{Value: item}, around) {
			out.Items = append(out.Items, m.Value)
		}
	}
	for _, m := range c.inserted(n, Append) {
		if n.Kind == jsontree.Object {
			out.Members = append(out.Members, m)
		} else {
			out.Items = append(out.Items, m.Value)
		}
	}
	return out
}

// withNeighbours are a member, or an item, which has no name, and what is inserted beside it.
func (c changesOf) withNeighbours(m jsontree.Member, around map[*jsontree.Node]bool) []jsontree.Member {
	n, removed := m.Value, false
	for _, p := range c[n] {
		switch p.Op {
		case Rename:
			m.Name = p.Name
		case Remove:
			removed = true
		case Move:
			removed = removed || !p.arrives
		case Replace, Before, Behind, Append:
		}
	}
	out := append(c.inserted(n, Before), c.inserted(n, Move)...)
	if !removed {
		out = append(out, jsontree.Member{Name: m.Name, Value: c.change(n, around)})
	}
	return append(out, c.inserted(n, Behind)...)
}

func (c changesOf) inserted(n *jsontree.Node, op Op) []jsontree.Member {
	var out []jsontree.Member
	for _, p := range c[n] {
		if p.Op == op && (op != Move || p.arrives) {
			out = append(out, jsontree.Member{Name: p.Name, Value: p.value})
		}
	}
	return out
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
