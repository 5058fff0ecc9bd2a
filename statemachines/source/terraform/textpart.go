package terraform

import (
	"sort"
	"strings"
)

// joined is a text with its holes as one byte each, which no text of Terraform's has.
type joined struct {
	text   Text
	whole  string
	starts []int // of the pieces
}

const holeByte = "\x00"

func joinText(t Text) *joined {
	j := &joined{text: t, starts: make([]int, 0, len(t))}
	var b strings.Builder
	for _, p := range t {
		j.starts = append(j.starts, b.Len())
		if p.Hole != nil {
			b.WriteString(holeByte)
			continue
		}
		b.WriteString(p.Text)
	}
	j.whole = b.String()
	return j
}

// piece is the index of the piece that has a byte.
func (j *joined) piece(at int) int {
	return max(0, sort.Search(len(j.starts), func(i int) bool { return j.starts[i] > at })-1)
}

// slice is a part of the text.
func (j *joined) slice(from, to int) Text {
	var out Text
	if from >= to {
		return out
	}
	for i := j.piece(from); i < len(j.text) && j.starts[i] < to; i++ {
		p, start := j.text[i], j.starts[i]
		if p.Hole != nil {
			out = append(out, p)
			continue
		}
		begin, end := max(from-start, 0), min(to-start, len(p.Text))
		if begin >= end {
			continue
		}
		if p.Exact {
			p.At.From, p.At.To = p.At.From+begin, p.At.From+end
		}
		p.Text = p.Text[begin:end]
		out = append(out, p)
	}
	return out
}

// place is where a part of the text stands: the file of its first byte.
func (j *joined) place(from, to int) Place {
	part := j.slice(from, max(to, from+1))
	if len(part) == 0 {
		if len(j.text) == 0 {
			return Place{}
		}
		at := j.text[len(j.text)-1].At
		return Place{at.File, at.To, at.To}
	}
	at := part[0].At
	if to <= from {
		at.To = at.From
		return at
	}
	for _, p := range part[1:] {
		if p.At.File == at.File && p.At.From >= at.From {
			at.To = max(at.To, p.At.To)
		}
	}
	return at
}

// hasHole tells whether a part of the text is unknown.
func (j *joined) hasHole(from, to int) bool { return strings.Contains(j.whole[from:to], holeByte) }

// trim is the text without what cut takes away at the ends.
func (t Text) trim(cut func(string) string) Text {
	j := joinText(t)
	kept := cut(j.whole)
	if kept == "" {
		return nil
	}
	from := strings.Index(j.whole, kept)
	if strings.HasSuffix(j.whole, kept) && !strings.HasPrefix(j.whole, kept) {
		from = len(j.whole) - len(kept)
	}
	return j.slice(from, from+len(kept))
}
