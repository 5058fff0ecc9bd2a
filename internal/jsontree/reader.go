package jsontree

import (
	"slices"
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// Reader takes a tree apart strictly and collects every problem on the way.
// Its methods return readers of one value, to be combined:
//
//	r.Object(doc.Root, "a job", map[string]func(*jsontree.Node){
//		"name":  r.Text(&job.Name),
//		"limit": r.Int(&job.Limit, 1, 10),
//	}, "name")
type Reader struct {
	Problems diag.Problems
	// HideStrings keeps the text of wrong values that are strings out of the
	// messages, for documents that must not reach a log.
	HideStrings bool
	// Spell, if it is not nil, gives the names of members the spelling that Object
	// knows them by. Object then renames them in the tree.
	Spell func(name string) string
}

// Report adds a problem.
func (r *Reader) Report(p diag.Problem) { r.Problems = append(r.Problems, p) }

// Knows tells whether something at or below the pointer is known to be
// wrong.
func (r *Reader) Knows(pointer string) bool {
	return slices.ContainsFunc(r.Problems, func(p diag.Problem) bool {
		return p.Pointer == pointer || strings.HasPrefix(p.Pointer, pointer+"/")
	})
}

// Object reads the members of n by the given readers and reports unknown and
// missing ones. what names the object in messages: "a waiter".
func (r *Reader) Object(n *Node, what string, members map[string]func(*Node), required ...string) {
	if n.Kind != Object {
		r.Report(n.Problem("expected %s, found %s", diag.Word(what), r.describe(n)))
		return
	}
	names := make([]string, 0, len(members))
	for name := range members {
		names = append(names, name)
	}
	slices.Sort(names)
	r.respell(n, members)
	for _, m := range n.Members {
		if read, ok := members[m.Name]; ok {
			read(m.Value)
		} else {
			p := n.MemberProblem(m, "%s has no member %q", what, m.Name).Suggest(m.Name, names...)
			p.OwnWords = what + " has no such member"
			r.Report(p)
		}
	}
	for _, name := range required {
		if n.Get(name) == nil {
			r.Report(n.Missing(name, "%s needs the member %q", diag.Word(what), diag.Word(name)))
		}
	}
}

// Text reads a string.
func (r *Reader) Text(to *string) func(*Node) {
	return func(n *Node) {
		if n.Kind != String {
			r.Report(n.Problem("expected a string, found %s", r.describe(n)))
			return
		}
		*to = n.Text
	}
}

// OneOf reads a string that must be one of the values.
func (r *Reader) OneOf(to *string, values ...string) func(*Node) {
	return func(n *Node) {
		if n.Kind != String || !slices.Contains(values, n.Text) {
			r.Report(n.Problem("expected one of %s, found %s", diag.Word(strings.Join(values, ", ")), r.describe(n)).Suggest(n.Text, values...))
			return
		}
		*to = n.Text
	}
}

// Bool reads a boolean.
func (r *Reader) Bool(to *bool) func(*Node) {
	return func(n *Node) {
		if n.Kind != Bool {
			r.Report(n.Problem("expected true or false, found %s", r.describe(n)))
			return
		}
		*to = n.Text == "true"
	}
}

// Int reads a whole number between lo and hi, both included, in any spelling.
func (r *Reader) Int(to *int, lo, hi int) func(*Node) {
	return func(n *Node) {
		i, ok := integer(n, strconv.IntSize)
		if !ok || int(i) < lo || int(i) > hi {
			r.Report(n.Problem("expected a whole number from %d to %d, found %s", lo, hi, r.describe(n)))
			return
		}
		*to = int(i)
	}
}

// List reads an array, each item by item.
func (r *Reader) List(item func(*Node)) func(*Node) {
	return func(n *Node) {
		if n.Kind != Array {
			r.Report(n.Problem("expected an array, found %s", r.describe(n)))
			return
		}
		for _, i := range n.Items {
			item(i)
		}
	}
}

// respell renames the members of n that are known in another spelling.
func (r *Reader) respell(n *Node, members map[string]func(*Node)) {
	if r.Spell == nil {
		return
	}
	for i, m := range n.Members {
		name := r.Spell(m.Name)
		if members[m.Name] != nil || members[name] == nil {
			continue
		}
		if n.Get(name) != nil {
			r.Report(n.MemberProblem(m, "the member %s is there twice", diag.Word(name)))
			continue
		}
		n.Members[i].Name = name
	}
}

// describe names a value for a message: by its kind, or by a quotation.
func (r *Reader) describe(n *Node) any {
	if r.HideStrings && n.Kind == String {
		return n.Kind
	}
	return diag.Quotation{Text: n.Describe(), Kind: n.Kind.String()}
}

// Nearest returns the value at the pointer below n, or the deepest one on the
// way to it that is there.
func (n *Node) Nearest(pointer string) *Node {
	rest, below := strings.CutPrefix(pointer, n.Pointer()+"/")
	for below {
		var step string
		step, rest, below = strings.Cut(rest, "/")
		next := n.at(step)
		if next == nil {
			break
		}
		n = next
	}
	return n
}

// at returns the item or member whose pointer is that of n and the step, or nil.
func (n *Node) at(step string) *Node {
	for _, item := range n.Items {
		if item.step() == step {
			return item
		}
	}
	for _, m := range n.Members {
		if m.Value.step() == step {
			return m.Value
		}
	}
	return nil
}
