package edit

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// placeholders are what a template puts a value in for.
var placeholders = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{[^}]*\}?`) })

// document is a definition, and the text that is edited.
type document struct {
	*source.Definition

	file    []byte
	writing source.Writing
	// text is the file, or what a string in quotes says.
	text []byte
	root *node
}

// node is a value of the definition, and where it stands in the text.
type node struct {
	data     *jsontree.Node
	kind     jsontree.Kind
	parent   *node
	label    string // the name of a member
	children []*node

	name, from, to int // name is -1 if there is none
	// literal tells that the value stands there as it is, and bracket that an object or
	// array stands in brackets.
	literal, bracket bool
}

// start is where the member or item begins.
func (n *node) start() int {
	if n.name >= 0 {
		return n.name
	}
	return n.from
}

// role is what a value is for: values with one role are written alike.
func (n *node) role() string {
	switch {
	case n.parent == nil:
		return ""
	case n.parent.kind == jsontree.Array:
		return itemOf(n.parent.role())
	case n.parent.label == "States":
		return "state"
	default:
		return n.label
	}
}

func itemOf(role string) string { return role + "[]" }

// find is the node that a JSON pointer names, or nil.
func (n *node) find(pointer string) *node {
	if pointer == "" {
		return n
	}
	for step := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		i := slices.IndexFunc(n.children, func(c *node) bool { return c.label == step })
		if n.kind == jsontree.Array {
			var err error
			if i, err = strconv.Atoi(step); err != nil || i >= len(n.children) {
				i = -1
			}
		}
		if i < 0 {
			return nil
		}
		n = n.children[i]
	}
	return n
}

// siblings are the node before this one, and the one behind it; nil where none is.
func (n *node) siblings() (before, behind *node) {
	all := n.parent.children
	i := slices.Index(all, n)
	if i > 0 {
		before = all[i-1]
	}
	if i+1 < len(all) {
		behind = all[i+1]
	}
	return before, behind
}

// open finds the values of a definition in its file.
func open(file []byte, read Read) (*document, error) {
	d, err := read(file)
	if err != nil {
		return nil, err
	}
	if d.Text == nil {
		return nil, d.Problems
	}
	out := &document{Definition: d, file: file, writing: d.Writing(), text: file}
	if out.writing.Pieces {
		return nil, &Error{Reason: "a function of the template puts the definition together from several strings"}
	}
	if out.isMapped() {
		out.text = d.Text
	}
	root, places, err := d.Places()
	if err != nil {
		return nil, d.LocateError(err)
	}
	out.root = out.node(nil, root, jsontree.Member{Offset: -1}, places)
	return out, nil
}

// isMapped tells whether the text is not the file, but what a string or a template there
// says.
func (d *document) isMapped() bool {
	return d.writing.Quote != 0 || d.writing.Template && !d.writing.Tree
}

// node finds a value and those inside of it.
func (d *document) node(parent *node, data *jsontree.Node, m jsontree.Member, places map[*jsontree.Node]source.Place) *node {
	n := &node{data: data, kind: data.Kind, parent: parent, label: m.Name, name: -1, literal: true}
	switch {
	case d.writing.Tree:
		p := places[data]
		n.name, n.from, n.to, n.literal = p.Name, p.From, p.To, p.Literal
	case d.isMapped():
		n.name, n.from, n.to = m.Offset, data.Offset, data.End
	default:
		if m.Offset >= 0 {
			n.name, _ = d.Span(m.Offset, m.Offset)
		}
		n.from, n.to = d.Span(data.Offset, data.End)
	}
	switch {
	case d.writing.Tree:
	case d.writing.Template: // the brackets are those of an object or array
		n.literal = d.IsWritten(data.Offset, data.Offset+1) && d.IsWritten(data.End-1, data.End) &&
			(n.kind >= jsontree.Array || d.IsWritten(data.Offset, data.End))
	case n.kind < jsontree.Array:
		from, to := d.Span(data.Offset, data.End)
		n.literal = d.writing.Quote != 0 && to-from >= data.End-data.Offset || bytes.Equal(d.file[from:to], data.Raw())
	}
	n.bracket = n.from < len(d.text) && (d.text[n.from] == '{' || d.text[n.from] == '[')
	for _, item := range data.Items {
		n.children = append(n.children, d.node(n, item, jsontree.Member{Offset: -1}, places))
	}
	for _, member := range data.Members {
		n.children = append(n.children, d.node(n, member.Value, member, places))
	}
	return n
}

// check tells whether the text of a node is its own: no anchor gives it to others, and no
// function or alias gives it to the node.
func (d *document) check(at string, n *node) error {
	for first := n; n != nil; n = n.parent {
		switch {
		case d.writing.HCL && n.literal: // a reference may give what is around it
			return nil
		case anchored().Match(d.text[min(n.from, len(d.text)):]):
			return d.refuse(at, n, "an anchor (&) gives its value to other places, which would change, too")
		case !n.literal:
			return d.refuse(at, n, "a function or placeholder gives the value")
		case !n.isPlaced():
			return d.refuse(at, first, "%s gives the value", d.elsewhere(n))
		}
	}
	return nil
}

// elsewhere is a function or a variable that gives a value from another place of the file.
func (d *document) elsewhere(n *node) string {
	if d.writing.HCL {
		return "an expression"
	}
	for n = n.parent; n != nil; n = n.parent {
		if !n.literal {
			return "a function or variable"
		}
	}
	return "an alias (*) or a merge key (<<)"
}

var anchored = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:![^ \t\r\n]*[ \t]+)?&`) })

// hasAnchor tells whether a value, or one inside of it, has an anchor.
func (d *document) hasAnchor(n *node) bool {
	return n.isPlaced() && anchored().Match(d.text[min(n.from, len(d.text)):]) || slices.ContainsFunc(n.children, d.hasAnchor)
}

// isPlaced tells whether a node stands where its parent has it: an alias and a merge key
// have it from elsewhere.
func (n *node) isPlaced() bool {
	if n.parent == nil {
		return true
	}
	after := n.parent.from
	if before, _ := n.siblings(); before != nil && before.from > after {
		after = before.to
	}
	return n.start() >= after && n.from >= n.start() && n.to <= n.parent.to
}

// change puts a text in the place of bytes of document.text.
type change struct {
	at       string // the pointer of the edit
	from, to int
	text     string
	written  bool // the text is as the file has it
}

// write makes the changes in the file.
func (d *document) write(all []change) ([]byte, error) {
	slices.SortStableFunc(all, func(a, b change) int {
		if a.from != b.from {
			return a.from - b.from
		}
		return a.to - b.to
	})
	var out bytes.Buffer
	at, last := 0, 0
	for _, c := range all {
		from, to := c.from, c.to
		text, err := d.encode(c)
		if err != nil {
			return nil, err
		}
		if d.isMapped() {
			from, to = d.Span(c.from, c.to)
		}
		if c.from < last || from < at {
			return nil, d.refuse(c.at, nil, "another edit changes the same text: make one after the other")
		}
		out.Write(d.file[at:from])
		out.WriteString(text)
		at, last = to, c.to
	}
	out.Write(d.file[at:])
	return out.Bytes(), nil
}

// encode writes a text as the string around it has it.
func (d *document) encode(c change) (string, error) {
	if c.written {
		return c.text, nil
	}
	if d.writing.Template {
		return d.encodeTemplate(c)
	}
	switch d.writing.Quote {
	case '"':
		quoted := string(jsontree.Quote(c.text))
		return quoted[1 : len(quoted)-1], nil
	case '\'':
		if strings.ContainsAny(c.text, "\r\n") {
			return "", d.refuse(c.at, nil, "the definition is a string in single quotes, in which a line break is a blank")
		}
		return strings.ReplaceAll(c.text, "'", "''"), nil
	default:
		return c.text, nil
	}
}
