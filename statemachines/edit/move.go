package edit

import (
	"bytes"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
)

// strip is the text of an item and of what belongs to it: the comments above it, and one behind it on its last line. In
// brackets a comma may stand between the item and that comment.
type strip struct {
	begin, to, comma, end int
}

// target is the item in front of which a Move puts another one.
func (d *document) target(e Edit, n *node) (*node, error) {
	to := d.root.find(e.To)
	if to == nil || to.parent != n.parent || n.parent.kind != jsontree.Array {
		return nil, d.refuse(e.At, n, "only an item of an array moves, in front of another one there")
	}
	if slices.Index(n.parent.children, to) >= slices.Index(n.parent.children, n) {
		return nil, d.refuse(e.At, n, "the item stands in front of %s already", e.To)
	}
	return to, nil
}

// move puts an item in front of one that stands before it. Each item keeps its comments; commas, and what stands between the
// items, stay where they are.
func (d *document) move(p planned) ([]change, error) {
	items, read := p.node.parent.children, d.stripOfLines
	if p.node.parent.bracket {
		read = d.stripInBrackets
	}
	first := slices.Index(items, p.to)
	var strips []strip
	for i, n := range items[:slices.Index(items, p.node)+1] {
		if i < first-1 {
			continue // the one in front of all that move ends where they begin
		}
		if !n.isPlaced() {
			return nil, d.refuse(p.At, n, "%s gives the value", d.elsewhere(n))
		}
		floor := 0
		if len(strips) > 0 {
			floor = strips[len(strips)-1].end
		} else if n.parent.bracket {
			floor = n.parent.from
		}
		s, err := read(p.At, n, floor)
		if err != nil {
			return nil, err
		}
		if i > first && len(bytes.TrimSpace(d.text[floor:s.begin])) > 0 {
			return nil, d.refuse(p.At, n, "a comment that may be of either stands between two items")
		}
		strips = append(strips, s)
	}
	if first > 0 {
		strips = strips[1:]
	}
	last := len(strips) - 1
	moved := append([]strip{strips[last]}, strips[:last]...)
	var text strings.Builder
	for i, here := range strips {
		s := moved[i]
		text.WriteString(d.written(s.begin, s.to))
		text.WriteString(d.written(here.to, here.comma))
		text.WriteString(d.written(s.comma, s.end))
		if i < last {
			if eol := d.pen(p.node).eol; !p.node.parent.bracket && !strings.HasSuffix(text.String(), eol) { // the file ended there
				text.WriteString(eol)
			}
			text.WriteString(d.written(here.end, strips[i+1].begin))
		}
	}
	return []change{{at: p.At, from: strips[0].begin, to: strips[last].end, text: text.String(), written: true}}, nil
}

// written is what the file has for a part of the text.
func (d *document) written(from, to int) string {
	if !d.isMapped() {
		return string(d.text[from:to])
	}
	from, _ = d.Span(from, from)
	to, _ = d.Span(to, to)
	return string(d.file[from:max(from, to)])
}

// stripOfLines are the lines of an item in block YAML.
func (d *document) stripOfLines(at string, n *node, floor int) (strip, error) {
	begin, err := d.begin(at, n)
	if err != nil {
		return strip{}, err
	}
	end, err := d.blockEnd(at, n, d.column(begin))
	if err != nil {
		return strip{}, err
	}
	margin, alone := d.margin(begin)
	if !alone {
		return strip{}, d.refuse(at, n, "the item does not begin a line")
	}
	return strip{begin: d.belowOthers(begin-len(margin), floor), to: end, comma: end, end: end}, nil
}

// stripInBrackets is that of an item in brackets.
func (d *document) stripInBrackets(at string, n *node, floor int) (strip, error) {
	s := strip{begin: n.start(), to: n.to, comma: n.to}
	if margin, alone := d.margin(s.begin); alone {
		if line := d.belowOthers(s.begin-len(margin), floor); line < s.begin-len(margin) {
			s.begin = line + len(d.indent(line))
		}
	}
	rest := d.text[n.to : n.parent.to-1]
	if blank := bytes.TrimLeft(rest, " \t\r\n"); bytes.HasPrefix(blank, []byte(",")) {
		s.comma += len(rest) - len(blank) + 1
	} else if _, behind := n.siblings(); behind != nil {
		return s, d.refuse(at, n, "a comment stands in front of the comma")
	}
	s.end = s.comma
	line, _, _ := bytes.Cut(d.text[s.comma:n.parent.to-1], []byte("\n"))
	if line = bytes.TrimRight(line, "\r"); d.isComment(bytes.TrimLeft(line, " \t")) {
		s.end += len(line)
	}
	return s, nil
}

// belowOthers is the first of the lines of comments above a line, none of which begins before a byte.
func (d *document) belowOthers(line, floor int) int {
	for line > 0 {
		above := bytes.LastIndexByte(d.text[:line-1], '\n') + 1
		if above < floor || !d.isComment(bytes.TrimLeft(d.text[above:line], " \t")) {
			break
		}
		line = above
	}
	return line
}
