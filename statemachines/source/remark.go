package source

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// Remark is a comment about a definition or a part of it: a member Comment, or a comment of
// YAML or HCL before a line or at its end.
type Remark struct {
	Text string
	// Pointers are the states, Choice rules, retriers and catchers that it is about; "" is the
	// whole definition. A comment may be about several that begin in one line.
	Pointers []string
	// At is its place, without a message.
	At diag.Problem
}

// holder is what a file says of a state machine beside its definition: some of its bytes,
// or the block of HCL around one of them.
type holder struct {
	extent

	file  *file
	block bool
}

// extent are bytes of a text.
type extent struct{ from, to int }

// holdBy notes that a value with a name holds the definition.
func (d *Definition) holdBy(name, v *value) {
	if v == nil {
		return
	}
	h := holder{file: v.in.file, extent: extent{v.origin(), v.in.endOrigin(v.end())}}
	if name != nil && name.in.file == h.file {
		h.from = name.origin()
	}
	d.holders = append(d.holders, h)
}

// Remarks are the comments that have a word and are about the definition, in its order and
// then in that of its files.
func (d *Definition) Remarks(word string) []Remark {
	if d.Text == nil {
		return nil
	}
	var all []Remark
	if root, err := d.Root(); err == nil && bytes.Contains(d.Text, []byte(word)) {
		all = d.membersWith(word, root, nil, nil)
	}
	if d.root != nil && d.YAML && d.Form != FormFile && !d.root.in.isFile() { // YAML in a string
		all = append(all, d.remarksIn(d.root.in, commentsOfYAML(d.root.in, word, d.root))...)
	}
	for _, f := range d.files() {
		if comments := f.commentsWith(word); len(comments) > 0 {
			all = append(all, d.remarksIn(f.whole(), comments)...)
		}
	}
	return all
}

// Comments are all comments with a word in the files of the definition and what holds it, whatever
// they are about. Their At has the File. In a module of Terraform there are none of blocks that may
// make a state machine: which do, depends on values.
func (d *Definition) Comments(word string) []Remark {
	if d.text == nil {
		return nil
	}
	var all []Remark
	for _, f := range d.files() {
		for _, c := range f.commentsWith(word) {
			if f.makesMachine(c.line) {
				continue
			}
			at := f.problemNear(c.text.from)
			at.File = f.name
			all = append(all, Remark{Text: strings.TrimSpace(string(f.bytes[c.text.from:c.text.to])), At: at})
		}
	}
	return all
}

// makesMachine tells whether a line is one of a block of HCL that may make a state machine.
func (f *file) makesMachine(line extent) bool {
	for _, b := range f.remarks.blocks {
		if b.From <= line.to && line.from < b.To && machineBlock().Match(f.bytes[b.From:b.To]) {
			return true
		}
	}
	return false
}

var machineBlock = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:module\b|resource\s+"?(?:aws_sfn_state_machine|awscc_stepfunctions_state_machine)\b)`)
})

// files are those with the definition and what holds it, each once.
func (d *Definition) files() []*file {
	all := []*file{d.text.file}
	for _, h := range d.holders {
		if !slices.ContainsFunc(all, func(f *file) bool { return f.name == h.file.name }) {
			all = append(all, h.file)
		}
	}
	return all
}

// membersWith are the members Comment below a value that have a word.
func (d *Definition) membersWith(word string, n *jsontree.Node, path []string, all []Remark) []Remark {
	for i, item := range n.Items {
		all = d.membersWith(word, item, append(path, strconv.Itoa(i)), all)
	}
	for _, m := range n.Members {
		if m.Name == "Comment" && m.Value.Kind == jsontree.String && strings.Contains(m.Value.Text, word) {
			at := d.Locate(m.Value.Problem(""))
			all = append(all, Remark{Text: m.Value.Text, Pointers: []string{partOf(path)}, At: at})
		}
		all = d.membersWith(word, m.Value, append(path, m.Name), all)
	}
	return all
}

// partOf is the pointer of the innermost state, Choice rule, retrier or catcher that a path
// leads into; empty for none.
func partOf(path []string) string {
	part, at := 0, 0 // how many steps lead to it, and were looked at
	for at+1 < len(path) {
		switch path[at] {
		case "States":
			at += 2
			part = at
		case "Branches":
			at += 2
		case "ItemProcessor", "Iterator":
			at++
		case "Choices", "Retry", "Catch":
			return pointerTo(path[:at+2])
		default:
			return pointerTo(path[:part])
		}
	}
	return pointerTo(path[:part])
}

func pointerTo(path []string) string {
	var b strings.Builder
	for _, step := range path {
		b.WriteString("/" + pointerEscapes.Replace(step))
	}
	return b.String()
}

// remarksIn are the comments of a text that are about the definition.
func (d *Definition) remarksIn(t *text, comments []comment) []Remark {
	lines := d.findLines(t.file)
	if t.isFile() { // which may have many machines
		around := lines.around()
		first := sort.Search(len(comments), func(i int) bool { return comments[i].line.to >= around.from })
		last := sort.Search(len(comments), func(i int) bool { return comments[i].line.from > around.to })
		comments = comments[first:max(first, last)]
	}
	var all []Remark
	for _, c := range comments {
		pointers := lines.partsIn(t.origin(c.line.from), t.endOrigin(c.line.to))
		if pointers == nil {
			continue
		}
		at := t.file.problemNear(t.origin(c.text.from))
		if t.file.name != d.text.file.name {
			at.File = t.file.name
		}
		all = append(all, Remark{Text: strings.TrimSpace(string(t.bytes[c.text.from:c.text.to])), Pointers: pointers, At: at})
	}
	return all
}

// lines say which parts of a definition stand in a line of a file.
type lines struct {
	parts   []linePart // in the order of their first bytes
	holders []extent
	root    extent
}

// linePart is a value of the definition.
type linePart struct {
	extent

	parent *linePart
	path   []string
}

// findLines finds where the values of the definition stand in a file.
func (d *Definition) findLines(f *file) *lines {
	l := &lines{}
	for _, h := range d.holders {
		if h.file.name == f.name {
			l.holders = append(l.holders, h.widen()...)
		}
	}
	if f.name != d.text.file.name {
		return l
	}
	root, places, err := d.Places()
	if err != nil {
		return l
	}
	if places == nil { // a text of JSON, in which no comments stand
		l.root = extent{d.text.origin(0), d.text.endOrigin(len(d.text.bytes))}
	} else {
		l.root = extent{places[root].From, places[root].To}
		l.add(places, root, nil, nil)
		slices.SortStableFunc(l.parts, func(a, b linePart) int { return cmp.Compare(a.from, b.from) })
	}
	if len(l.holders) == 0 && d.Form == FormFile { // the file is the definition's
		l.holders = append(l.holders, extent{0, len(f.bytes) + 1})
	}
	return l
}

// widen returns the bytes of a holder: of one in HCL, those of its block.
func (h holder) widen() []extent {
	if !h.block {
		return []extent{h.extent}
	}
	blocks := h.file.remarks.blocks
	i := sort.Search(len(blocks), func(i int) bool { return blocks[i].From > h.from }) - 1
	if i < 0 || blocks[i].To <= h.from {
		return nil
	}
	return []extent{{blocks[i].From, blocks[i].To}}
}

// around are the bytes with all that the lines are of.
func (l *lines) around() extent {
	all := l.root
	for _, h := range l.holders {
		if all.to == 0 {
			all = h
		}
		all.from, all.to = min(all.from, h.from), max(all.to, h.to)
	}
	return all
}

// add adds a value and those in it that stand in the file.
func (l *lines) add(places map[*jsontree.Node]Place, n *jsontree.Node, parent *linePart, path []string) {
	p := places[n]
	part := &linePart{extent{p.From, p.To}, parent, path}
	if p.Name >= 0 {
		part.from = p.Name
	}
	if p.To > 0 {
		l.parts = append(l.parts, *part)
	}
	for i, item := range n.Items {
		l.add(places, item, part, append(slices.Clip(path), strconv.Itoa(i)))
	}
	for _, m := range n.Members {
		l.add(places, m.Value, part, append(slices.Clip(path), m.Name))
	}
}

// partsIn are the parts that a line is about, from a byte up to another: those that begin
// there and no part around them does, else the innermost that has the line; nil for none.
func (l *lines) partsIn(from, to int) []string {
	var pointers []string
	first := sort.Search(len(l.parts), func(i int) bool { return l.parts[i].from >= from })
	for i := first; i < len(l.parts) && l.parts[i].from < to; i++ {
		if p := &l.parts[i]; p.parent == nil || p.parent.from < from || p.parent.from >= to {
			pointers = append(pointers, partOf(p.path))
		}
	}
	if pointers != nil {
		slices.Sort(pointers)
		return slices.Compact(pointers)
	}
	if first > 0 && from < l.root.to {
		p := &l.parts[first-1]
		for p.parent != nil && p.to <= from {
			p = p.parent
		}
		return []string{partOf(p.path)}
	}
	if slices.ContainsFunc(l.holders, func(h extent) bool { return h.from < to && from < h.to }) {
		return []string{""}
	}
	return nil
}
