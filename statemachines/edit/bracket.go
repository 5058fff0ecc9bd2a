package edit

import (
	"bytes"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
)

// change is an edit in the text.
func (d *document) change(p planned, plan changesOf) ([]change, error) {
	n := p.node
	own := n // whose text changes
	switch p.Op {
	case Before, Behind, Remove, Rename, Move:
		own = n.parent
		if !n.isPlaced() {
			return nil, d.refuse(p.At, n.parent, "%s gives the value", d.elsewhere(n))
		}
	case Replace, Append:
	}
	if err := d.check(p.At, own); err != nil {
		return nil, err
	}
	if (p.Op == Replace || p.Op == Remove) && d.hasAnchor(n) {
		return nil, d.refuse(p.At, n, "an anchor (&) in it gives a value to other places")
	}
	var changes []change
	var err error
	switch p.Op {
	case Rename:
		var end int
		if end, err = d.nameEnd(p.At, n); err == nil {
			changes = []change{{at: p.At, from: n.name, to: end, text: d.pen(n).key(p.name, n.parent.bracket)}}
		}
	case Replace:
		changes, err = d.replace(p)
	case Remove:
		if n.parent.bracket {
			changes, err = d.removeInBrackets(p, plan)
		} else {
			changes, err = d.removeBlock(p)
		}
	case Append:
		if len(n.children) == 0 {
			changes, err = d.fill(p)
			break
		}
		p.node, p.Op = n.children[len(n.children)-1], Behind
		if !p.node.isPlaced() {
			return nil, d.refuse(p.At, n, "%s gives the last value", d.elsewhere(n))
		}
		changes, err = d.insert(p)
	case Before, Behind:
		changes, err = d.insert(p)
	case Move:
		changes, err = d.move(p)
	}
	return changes, err
}

func (d *document) insert(p planned) ([]change, error) {
	if p.node.parent.bracket {
		return d.insertInBrackets(p), nil
	}
	return d.insertBlock(p)
}

// newRole is the role of a value that is inserted into a node.
func newRole(into *node, name string) string {
	switch {
	case into.kind == jsontree.Array:
		return itemOf(into.role())
	case into.label == "States":
		return "state"
	default:
		return name
	}
}

// insertInBrackets inserts beside a node whose parent stands in brackets.
func (d *document) insertInBrackets(p planned) []change {
	n, pen := p.node, d.pen(p.node)
	within := n.parent
	text := pen.bracket(p.text, newRole(within, p.name), d.indent(n.start()), d.isFlat(within))
	if within.kind == jsontree.Object {
		text = pen.member(p.name, text)
	}
	margin, alone := d.margin(n.start())
	separator := pen.separator(within.kind, alone)
	gap := pen.eol + margin
	if !alone {
		gap = d.gap(n, pen)
	}
	if p.Op == Before {
		at := n.start()
		if alone {
			at = d.aboveComments(at, margin)
		}
		return []change{{at: p.At, from: at, to: at, text: text + separator + gap}}
	}
	if end, comma, found := d.commentEnd(n); alone && found { // a comment stays with its line
		if comma {
			return []change{{at: p.At, from: end, to: end, text: gap + text}}
		}
		return []change{{at: p.At, from: n.to, to: n.to, text: separator}, {at: p.At, from: end, to: end, text: gap + text}}
	}
	return []change{{at: p.At, from: n.to, to: n.to, text: separator + gap + text}}
}

// gap is what stands behind the comma beside a node.
func (d *document) gap(n *node, pen *pen) string {
	before, behind := n.siblings()
	for _, pair := range [][2]*node{{before, n}, {n, behind}} {
		if pair[0] == nil || pair[1] == nil || pair[0].to > pair[1].start() {
			continue
		}
		between := string(d.text[pair[0].to:pair[1].start()])
		if i := strings.IndexByte(between, ','); i >= 0 && strings.TrimSpace(between[i+1:]) == "" {
			return between[i+1:]
		}
	}
	_, gap := pen.blanks(n.parent.kind)
	return gap
}

// aboveComments is the place above the comments that stand above a line with a margin.
func (d *document) aboveComments(at int, margin string) int {
	for d.isYAML() || d.writing.HCL {
		begin := at - len(margin)
		if begin == 0 {
			break
		}
		above := bytes.LastIndexByte(d.text[:begin-1], '\n') + 1
		if line, ok := bytes.CutPrefix(d.text[above:begin], []byte(margin)); !ok || !d.isComment(line) {
			break
		}
		at = above + len(margin)
	}
	return at
}

// fill writes the first member or item of an empty object or array.
func (d *document) fill(p planned) ([]change, error) {
	n := p.node
	if !n.bracket || len(bytes.TrimSpace(d.text[n.from+1:n.to-1])) > 0 {
		return nil, d.refuse(p.At, n, "the text of an empty object or array has a comment")
	}
	raw := list('[', [][]byte{p.text.Raw()}, ']')
	if n.kind == jsontree.Object {
		raw = list('{', [][]byte{part(p.name, p.text.Raw(), true)}, '}')
	}
	value, err := jsontree.Parse(raw)
	if err != nil {
		return nil, d.refuse(p.At, n, "%s", err)
	}
	p.text = value.Root
	return d.replace(p)
}

// replace writes a value in the place of another.
func (d *document) replace(p planned) ([]change, error) {
	n, pen := p.node, d.pen(p.node)
	inBlock := d.isYAML() && (n.parent == nil || !n.parent.bracket)
	if inBlock && (p.text.Kind >= jsontree.Array || n.kind >= jsontree.Array && !n.bracket) {
		return d.replaceBlock(p)
	}
	flat := n.isFilled() && d.isFlat(n) || n.parent != nil && n.parent.bracket && d.isFlat(n.parent)
	text := pen.bracket(p.text, n.role(), d.indent(n.start()), flat)
	if inBlock {
		text = pen.scalar(p.text, n.role(), false)
	}
	return []change{{at: p.At, from: n.from, to: n.to, text: text}}, nil
}

// removeInBrackets takes a node away whose parent stands in brackets. Of the last ones, the commas in front of them go.
func (d *document) removeInBrackets(p planned, plan changesOf) ([]change, error) {
	n := p.node
	isRemoved := func(other *node) bool {
		return slices.ContainsFunc(plan[other.data], func(p planned) bool { return p.Op == Remove })
	}
	before, behind := n.siblings()
	all := n.parent.children
	last := !slices.ContainsFunc(all[slices.Index(all, n):], func(other *node) bool { return !isRemoved(other) })
	c := change{at: p.At, from: n.start(), to: n.to}
	switch {
	case !last:
		c.to = behind.start()
	case before != nil:
		c.from = before.to
	default:
		c.from = n.parent.from + 1
	}
	if behind == nil && !slices.ContainsFunc(all, func(other *node) bool { return !isRemoved(other) }) {
		c.to = n.parent.to - 1 // none is left
	}
	if c.from > n.start() || c.to < n.to {
		return nil, d.refuse(p.At, n, "%s stands beside it", d.elsewhere(n))
	}
	around := string(d.text[c.from:n.start()]) + string(d.text[n.to:c.to])
	if strings.Trim(around, " \t\r\n,") != "" {
		return nil, d.refuse(p.At, n, "a comment or a value that the template takes away stands beside it")
	}
	return []change{c}, nil
}

// nameEnd is the place behind the name of a member.
func (d *document) nameEnd(at string, n *node) (int, error) {
	if n.name < 0 {
		return 0, d.refuse(at, n, "an item has no name")
	}
	text := d.text[n.name:]
	if quote := text[0]; quote == '"' || quote == '\'' {
		for i := 1; i < len(text); i++ {
			switch {
			case quote == '"' && text[i] == '\\':
				i++
			case quote == '\'' && text[i] == quote && i+1 < len(text) && text[i+1] == quote:
				i++
			case text[i] == quote:
				return n.name + i + 1, nil
			}
		}
	}
	if !bytes.HasPrefix(text, []byte(n.label)) {
		return 0, d.refuse(at, n, "the name is not written as one word")
	}
	return n.name + len(n.label), nil
}

func list(open byte, parts [][]byte, closing byte) []byte {
	return append(append([]byte{open}, bytes.Join(parts, []byte(","))...), closing)
}

func part(name string, value []byte, isMember bool) []byte {
	if !isMember {
		return value
	}
	return append(append(jsontree.Quote(name), ':'), value...)
}
