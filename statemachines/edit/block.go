package edit

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/jobpoller/jobpoller/internal/jsontree"
)

// begin is where a member or an item of block YAML begins: an item at its dash.
func (d *document) begin(at string, n *node) (int, error) {
	if n.name >= 0 {
		return n.name, nil
	}
	i := n.from
	for i > 0 && (d.text[i-1] == ' ' || d.text[i-1] == '\t') {
		i--
	}
	if i == 0 || d.text[i-1] != '-' {
		return 0, d.refuse(at, n, "the item does not stand on the line of its dash")
	}
	return i - 1, nil
}

// column is how far a byte stands from the begin of its line.
func (d *document) column(offset int) int {
	line := d.text[bytes.LastIndexByte(d.text[:offset], '\n')+1 : offset]
	return utf8.RuneCount(bytes.TrimPrefix(line, []byte("\ufeff")))
}

// blockEnd is the place behind the lines of a node, and behind a comment on the last.
func (d *document) blockEnd(at string, n *node, column int) (int, error) {
	end := n.to
	if end == 0 || d.text[end-1] != '\n' {
		rest := d.text[end:]
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			rest = rest[:i+1]
		}
		if blank := bytes.TrimSpace(rest); len(blank) > 0 && blank[0] != '#' {
			return 0, d.refuse(at, n, "the line does not end behind the value")
		}
		end += len(rest)
	}
	for { // comments that are indented more are its own
		line := d.text[end:]
		i := bytes.IndexByte(line, '\n')
		if i < 0 {
			return end, nil
		}
		words := bytes.TrimLeft(line[:i], " ")
		if len(words) == 0 || words[0] != '#' || i-len(words) <= column {
			return end, nil
		}
		end += i + 1
	}
}

// insertBlock inserts beside a member or an item of block YAML.
func (d *document) insertBlock(p planned) ([]change, error) {
	n := p.node
	begin, err := d.begin(p.At, n)
	if err != nil {
		return nil, err
	}
	pen := d.pen(n)
	column := d.column(begin)
	margin := strings.Repeat(" ", column)
	var body string
	if role := newRole(n.parent, p.name); n.parent.kind == jsontree.Object {
		body = pen.key(p.name, false) + ":" + pen.block(p.text, role, column)
	} else {
		body = pen.item(p.text, role, column)
	}
	if p.Op == Before {
		if own, alone := d.margin(begin); alone {
			begin = d.aboveComments(begin, own)
		}
		return []change{{at: p.At, from: begin, to: begin, text: body + pen.eol + margin}}, nil
	}
	end, err := d.blockEnd(p.At, n, column)
	if err != nil {
		return nil, err
	}
	if end == len(d.text) && (end == 0 || d.text[end-1] != '\n') {
		return []change{{at: p.At, from: end, to: end, text: pen.eol + margin + body}}, nil
	}
	return []change{{at: p.At, from: end, to: end, text: margin + body + pen.eol}}, nil
}

// replaceBlock replaces a value of block YAML by one that may need other lines.
func (d *document) replaceBlock(p planned) ([]change, error) {
	n, pen := p.node, d.pen(p.node)
	if n.parent == nil {
		return nil, d.refuse(p.At, n, "it is the whole definition")
	}
	begin, err := d.begin(p.At, n)
	if err != nil {
		return nil, err
	}
	column := d.column(begin)
	if n.name < 0 {
		return []change{{at: p.At, from: begin, to: n.to, text: pen.item(p.text, n.role(), column)}}, nil
	}
	end, err := d.nameEnd(p.At, n)
	if err != nil {
		return nil, err
	}
	colon := bytes.IndexByte(d.text[end:], ':')
	return []change{{at: p.At, from: end + colon + 1, to: n.to, text: pen.block(p.text, n.role(), column)}}, nil
}

// removeBlock takes the lines of a member or an item of block YAML away.
func (d *document) removeBlock(p planned) ([]change, error) {
	n := p.node
	before, behind := n.siblings()
	if before == nil && behind == nil {
		empty := "{}"
		if n.parent.kind == jsontree.Array {
			empty = "[]"
		}
		value, err := jsontree.Parse([]byte(empty))
		if err != nil {
			return nil, err
		}
		p.node, p.text = n.parent, value.Root
		return d.replaceBlock(p)
	}
	begin, err := d.begin(p.At, n)
	if err != nil {
		return nil, err
	}
	end, err := d.blockEnd(p.At, n, d.column(begin))
	if err != nil {
		return nil, err
	}
	margin, alone := d.margin(begin)
	switch {
	case alone:
		begin -= len(margin)
	case behind == nil:
		return nil, d.refuse(p.At, n, "it does not begin a line")
	default: // what is behind it takes its place
		next, err := d.begin(p.At, behind)
		if err != nil {
			return nil, err
		}
		if len(bytes.TrimSpace(d.text[min(end, next):next])) > 0 {
			return nil, d.refuse(p.At, n, "a comment stands behind it")
		}
		end = next
	}
	return []change{{at: p.At, from: begin, to: end, text: ""}}, nil
}

// inFlow tells whether an object or array is written in brackets.
func (p *pen) inFlow(v *jsontree.Node, role string) bool {
	return p.isShort(v, role, func(n *node) bool { return n.bracket })
}

// block writes a value behind the colon of a name that stands at a column.
func (p *pen) block(v *jsontree.Node, role string, column int) string {
	switch {
	case v.Kind < jsontree.Array:
		return " " + p.scalar(v, role, false)
	case p.inFlow(v, role):
		return " " + p.bracket(v, role, strings.Repeat(" ", column), false)
	}
	inner := column + p.blockUnit(v.Kind)
	line := p.eol + strings.Repeat(" ", inner)
	return line + strings.Join(p.parts(v, role, inner), line)
}

// item writes an item, with its dash at a column.
func (p *pen) item(v *jsontree.Node, role string, column int) string {
	dash := p.dash()
	column += len(dash)
	switch {
	case v.Kind < jsontree.Array:
		return dash + p.scalar(v, role, false)
	case p.inFlow(v, role):
		return dash + p.bracket(v, role, strings.Repeat(" ", column), false)
	}
	return dash + strings.Join(p.parts(v, role, column), p.eol+strings.Repeat(" ", column))
}

// parts writes the members or items of a value, which stand at a column.
func (p *pen) parts(v *jsontree.Node, role string, column int) []string {
	var parts []string
	for _, m := range v.Members {
		parts = append(parts, p.key(m.Name, false)+":"+p.block(m.Value, m.Name, column))
	}
	for _, item := range v.Items {
		parts = append(parts, p.item(item, itemOf(role), column))
	}
	return parts
}

// blockUnit is how much further the members of an object are indented than its name, or
// the dashes of an array.
func (p *pen) blockUnit(kind jsontree.Kind) int {
	unit := 2
	p.at.near(func(n *node) bool {
		if n.kind != kind || n.bracket || n.name < 0 || n.parent.bracket || !n.isFilled() {
			return false
		}
		begin, err := p.begin("", n.children[0])
		if err != nil {
			return false
		}
		found := p.column(begin) - p.column(n.name)
		if found > 0 || found == 0 && kind == jsontree.Array {
			unit = found
			return true
		}
		return false
	})
	return unit
}

// dash is that of an item, with the blanks behind it.
func (p *pen) dash() string {
	dash := "- "
	p.at.near(func(n *node) bool {
		if n.parent == nil || n.parent.kind != jsontree.Array || n.parent.bracket {
			return false
		}
		begin, err := p.begin("", n)
		if err == nil {
			dash = string(p.text[begin:n.from])
		}
		return err == nil
	})
	return dash
}
