package edit

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
)

// near visits what is around a node, the nearest first, up to the one that pick takes.
func (n *node) near(pick func(*node) bool) {
	var done *node
	for at := n; at != nil; at = at.parent {
		if at.walk(done, pick) {
			return
		}
		done = at
	}
}

// walk visits a node and those inside of it, but for one.
func (n *node) walk(but *node, pick func(*node) bool) bool {
	if pick(n) {
		return true
	}
	for _, c := range n.children {
		if c != but && c.walk(but, pick) {
			return true
		}
	}
	return false
}

// pen writes values as those around a node are written.
type pen struct {
	*document

	at  *node // the neighbour
	eol string
}

func (d *document) pen(at *node) *pen {
	p := &pen{document: d, at: at, eol: "\n"}
	line := d.text[at.start():]
	if i := bytes.IndexByte(line, '\n'); i < 0 { // the last line
		line = d.text
	}
	if i := bytes.IndexByte(line, '\n'); i > 0 && line[i-1] == '\r' {
		p.eol = "\r\n"
	}
	return p
}

// isYAML tells whether the text is YAML, else it is JSON.
func (d *document) isYAML() bool { return d.YAML && d.writing.Tree }

// isFilled tells whether a node has something in it, all in its own text.
func (n *node) isFilled() bool {
	return len(n.children) > 0 && n.literal && n.children[0].start() >= n.from && n.children[0].to <= n.to
}

// isShort tells whether a new object or array is written in the shorter of two ways: on one
// line, or in brackets. The neighbour does if it has the same role and is short, then those
// of its role decide, the nearest in size; without one, arrays of scalars decide for such
// arrays. Else the shorter way is taken where the definition has
// it for objects.
func (p *pen) isShort(v *jsontree.Node, role string, is func(*node) bool) bool {
	if len(v.Items)+len(v.Members) == 0 {
		return true
	}
	size := sizeOf(v)
	if n := p.at; n.kind == v.Kind && n.isFilled() && n.role() == role && is(n) {
		return true
	}
	var like *node
	distance, known := 0, false
	p.at.near(func(n *node) bool {
		if !n.isFilled() || n.parent == nil {
			return false
		}
		if n.kind == v.Kind && n.role() == role {
			of := sizeOf(n.data)
			if away := max(of, size) * 1000 / (1 + min(of, size)); like == nil || away < distance {
				like, distance = n, away
			}
		}
		known = known || n.kind == jsontree.Object && len(n.children) > 1 && is(n)
		return false
	})
	if like == nil && isList(v) {
		p.at.near(func(n *node) bool {
			if n.isFilled() && isList(n.data) {
				like = n
			}
			return like != nil
		})
	}
	if like != nil {
		return is(like)
	}
	return known
}

// isList tells whether a value is an array of scalars.
func isList(v *jsontree.Node) bool {
	return v.Kind == jsontree.Array && !slices.ContainsFunc(v.Items, func(n *jsontree.Node) bool { return n.Kind >= jsontree.Array })
}

// sizeOf is how much text a value needs, about.
func sizeOf(v *jsontree.Node) int {
	size := len(v.Text)
	for _, item := range v.Items {
		size += sizeOf(item)
	}
	for _, m := range v.Members {
		size += len(m.Name) + sizeOf(m.Value)
	}
	return size
}

// isFlat tells whether a node stands on one line.
func (d *document) isFlat(n *node) bool { return bytes.IndexByte(d.text[n.from:n.to], '\n') < 0 }

// margin is the white space in front of a byte, if nothing else is in front of it on its
// line.
func (d *document) margin(offset int) (string, bool) {
	begin := bytes.LastIndexByte(d.text[:offset], '\n') + 1
	line := d.text[begin:offset]
	return string(line), len(bytes.Trim(line, " \t")) == 0 && begin > 0
}

// indent is the white space with which the line of a byte begins.
func (d *document) indent(offset int) string {
	line := d.text[bytes.LastIndexByte(d.text[:offset], '\n')+1:]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// unit is how much further the members of an object in brackets are indented.
func (p *pen) unit() string {
	unit := "  "
	p.at.near(func(n *node) bool {
		if !n.bracket || !n.isFilled() {
			return false
		}
		inner, ok := p.margin(n.children[0].start())
		outer := p.indent(n.start())
		if ok && strings.HasPrefix(inner, outer) && len(inner) > len(outer) {
			unit = inner[len(outer):]
			return true
		}
		return false
	})
	return unit
}

var colonAtEnd = regexp.MustCompile(`[ \t]*:[ \t]*$`)

// colon is what stands between a name and its value.
func (p *pen) colon() string {
	if p.writing.HCL {
		return p.colonHCL()
	}
	colon := ": "
	p.at.near(func(n *node) bool {
		if n.name < 0 || n.from <= n.name || n.parent.bracket != (p.at.parent == nil || p.at.parent.bracket) {
			return false
		}
		found := colonAtEnd.Find(p.text[n.name:n.from])
		if found == nil || p.isYAML() && len(found) == 1 {
			return false
		}
		colon = string(found)
		return true
	})
	return colon
}

// blanks are what stands in an object or array on one line: behind the bracket, behind
// commas.
func (p *pen) blanks(kind jsontree.Kind) (pad, gap string) {
	if colon := p.colon(); strings.HasSuffix(colon, " ") {
		gap = " "
	}
	padded, gapped := false, false
	for _, sameKind := range []bool{true, false} {
		p.at.near(func(n *node) bool {
			if !n.bracket || !n.isFilled() || !p.isFlat(n) || sameKind && n.kind != kind {
				return false
			}
			if first := n.children[0]; !padded && sameKind {
				pad, padded = string(p.text[n.from+1:first.start()]), true
			}
			if len(n.children) > 1 && !gapped {
				between := string(p.text[n.children[0].to:n.children[1].start()])
				if i := strings.IndexByte(between, ','); i >= 0 && strings.TrimSpace(between[i+1:]) == "" {
					gap, gapped = between[i+1:], true
				}
			}
			return padded && gapped
		})
	}
	if strings.TrimSpace(pad) != "" {
		pad = ""
	}
	return pad, gap
}

// bracket writes a value in brackets, on one line or on several, the first of which is
// indented by the margin.
func (p *pen) bracket(v *jsontree.Node, role, margin string, flat bool) string {
	if v.Kind < jsontree.Array {
		return p.scalar(v, role, true)
	}
	flat = flat || p.isShort(v, role, p.isFlat)
	var parts, names, values []string
	inner := margin + p.unit()
	for _, item := range v.Items {
		parts = append(parts, p.bracket(item, itemOf(role), inner, flat))
	}
	for _, m := range v.Members {
		name, value := p.key(m.Name, true), p.bracket(m.Value, m.Name, inner, flat)
		names, values = append(names, name), append(values, value)
		parts = append(parts, name+p.colon()+value)
	}
	if p.writing.HCL && !flat && v.Kind == jsontree.Object {
		parts = p.membersHCL(names, values)
	}
	open, closing := "[", "]"
	if v.Kind == jsontree.Object {
		open, closing = "{", "}"
	}
	if len(parts) == 0 {
		return open + closing
	}
	if flat {
		pad, gap := p.blanks(v.Kind)
		return open + pad + strings.Join(parts, ","+gap) + pad + closing
	}
	return open + p.eol + inner + strings.Join(parts, p.separator(v.Kind, true)+p.eol+inner) + p.eol + margin + closing
}
