package source

import (
	"bytes"
	"cmp"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/source/terraform"
)

// remarks are the comments of a file that have a word, and its layout in HCL. The machines of
// a file ask for the same.
type remarks struct {
	sync.Mutex

	word     string
	comments []comment
	blocks   []terraform.Place
	places   ruler // over the file
}

// comment is a line of one of YAML or HCL: its bytes in a text, without marks, and the line that
// it is about.
type comment struct{ text, line extent }

// written is a comment as it stands in a text, with its marks.
type written struct {
	extent

	lines []extent // with the word, without marks
}

// commentsWith are the comments of the file that have a word.
func (f *file) commentsWith(word string) []comment {
	f.remarks.Lock()
	defer f.remarks.Unlock()
	if f.remarks.word == word {
		return f.remarks.comments
	}
	f.remarks.word, f.remarks.comments = word, nil
	if !bytes.Contains(f.bytes, []byte(word)) {
		return nil
	}
	switch {
	case strings.HasSuffix(f.name, ".tf"), strings.HasSuffix(f.name, ".tofu"), f.name == Stdin && isHCL(f.bytes):
		layout := terraform.ReadLayout(f.name, f.bytes)
		f.remarks.blocks, f.remarks.comments = layout.Blocks, commentsOfHCL(f.bytes, word, layout.Comments)
	case isYAML(f.name, f.bytes):
		c := &content{file: f}
		if c.parse(); c.problems == nil {
			f.remarks.comments = commentsOfYAML(f.whole(), word, c.roots...)
		}
	}
	return f.remarks.comments
}

// problemNear is a problem without a message. Those in the order of the file take time linear
// in it.
func (f *file) problemNear(offset int) diag.Problem {
	f.remarks.Lock()
	defer f.remarks.Unlock()
	offset = min(offset, len(f.bytes))
	line, column := f.remarks.places.place(f.bytes, offset)
	return diag.AtPlace(f.bytes, offset, line, column, "", "")
}

// commentsOfHCL are the lines of comments that have a word.
func commentsOfHCL(text []byte, word string, comments []terraform.Place) []comment {
	var all []written
	for _, c := range comments {
		body := text[c.From:c.To]
		if bytes.HasPrefix(body, []byte("/*")) {
			body = bytes.TrimSuffix(body, []byte("*/"))
		}
		found := written{extent: extent{c.From, c.To}}
		at := c.From
		for line := range bytes.Lines(body) {
			begin := at + len(line) - len(bytes.TrimLeft(line, "#/* \t"))
			end := at + len(bytes.TrimRight(line, " \t\r\n"))
			if at += len(line); begin < end && bytes.Contains(text[begin:end], []byte(word)) {
				found.lines = append(found.lines, extent{begin, end})
			}
		}
		if found.lines != nil {
			all = append(all, found)
		}
	}
	return placeComments(text, all)
}

// commentsOfYAML are the comments of a text that have a word.
func commentsOfYAML(t *text, word string, roots ...*value) []comment {
	return placeComments(t.bytes, writtenInYAML(t, word, roots...))
}

// writtenInYAML are the comments of a text that have a word, or #. A sign # in one of its values
// begins none.
func writtenInYAML(t *text, word string, roots ...*value) []written {
	var scalars []extent
	seen := map[*value]bool{}
	for _, root := range roots {
		scalars = root.addScalars(t, scalars, seen)
	}
	slices.SortFunc(scalars, func(a, b extent) int { return cmp.Compare(a.from, b.from) })
	var all []written
	looked := 0 // where no comment begins before
	for from := 0; from < len(t.bytes); {
		i := bytes.Index(t.bytes[from:], []byte(word))
		if i < 0 {
			break
		}
		begin, end := lineAround(t.bytes, from+i)
		for looked = max(looked, begin); looked <= from+i; looked++ {
			at := looked
			if t.bytes[at] == '#' && (at == begin || isSpace(rune(t.bytes[at-1]))) && !isWithin(scalars, at) {
				text := at + 1 + len(t.bytes[at+1:end]) - len(bytes.TrimLeft(t.bytes[at+1:end], " \t"))
				all = append(all, written{extent{at, end}, []extent{{text, end}}})
				looked = end
			}
		}
		from = max(looked, from+i+1)
	}
	return all
}

// CommentPlaces are where the comments of the definition's file stand, with their signs and in their
// order; nil if the file is no YAML.
func (d *Definition) CommentPlaces() []Place {
	f := d.text.file
	c := &content{file: f}
	if d.Text == nil || !isYAML(f.name, f.bytes) {
		return nil
	}
	if c.parse(); c.problems != nil {
		return nil
	}
	var all []Place
	for _, w := range writtenInYAML(f.whole(), "#", c.roots...) {
		all = append(all, Place{Name: -1, From: w.from, To: w.to})
	}
	return all
}

// addScalars adds where the scalars of a value stand in a text.
func (v *value) addScalars(t *text, to []extent, seen map[*value]bool) []extent {
	if v == nil || seen[v] {
		return to
	}
	seen[v] = true
	if v.kind < jsontree.Array && v.in.file == t.file {
		from, end := v.start, v.end()
		if v.spelt == blockScalar { // a comment may stand behind its sign
			if i := bytes.IndexByte(v.in.bytes[from:], '\n'); i >= 0 {
				from += i
			}
		}
		if v.in != t && t.isFile() {
			from, end = v.in.origin(from), v.in.endOrigin(end)
		}
		to = append(to, extent{from, end})
	}
	for _, item := range v.items {
		to = item.addScalars(t, to, seen)
	}
	for _, m := range v.members {
		to = m.value.addScalars(t, m.name.addScalars(t, to, seen), seen)
	}
	return to
}

// isWithin tells whether a byte is in one of some parts of a text, which are in their order.
func isWithin(parts []extent, at int) bool {
	i := sort.Search(len(parts), func(i int) bool { return parts[i].from > at }) - 1
	return i >= 0 && at < parts[i].to
}

// lineAround are the first byte of the line of a byte, and the one behind its last.
func lineAround(text []byte, at int) (begin, end int) {
	begin, end = bytes.LastIndexByte(text[:at], '\n')+1, len(text)
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		end = at + i
	}
	return begin, end
}

// placeComments finds the line that each comment is about: its own, or where nothing else
// stands there, the next one that is no comment.
func placeComments(text []byte, all []written) []comment {
	var placed []comment
	next := written{extent: extent{from: len(text) + 1}} // the comment behind, and its line
	var nextLine extent
	for _, c := range slices.Backward(all) {
		line, own := lineBeside(text, c.extent)
		if !own {
			line = nextLineOf(text, c.to, next.from, nextLine)
		}
		if next, nextLine = c, line; own { // one above it is about this line, too
			nextLine.from, _ = lineAround(text, c.from)
		}
		for _, l := range slices.Backward(c.lines) {
			placed = append(placed, comment{l, line})
		}
	}
	slices.Reverse(placed)
	return placed
}

// lineBeside is the rest of a comment's line, before it or behind it.
func lineBeside(text []byte, c extent) (line extent, own bool) {
	begin, _ := lineAround(text, c.from)
	if len(bytes.TrimSpace(text[begin:c.from])) > 0 {
		return extent{begin, c.from}, true
	}
	_, end := lineAround(text, c.to)
	return extent{c.to, end}, len(bytes.TrimSpace(text[c.to:end])) > 0
}

// nextLineOf is the first line behind a byte that has more than a comment. The line of the
// next comment is known.
func nextLineOf(text []byte, at, next int, known extent) extent {
	_, end := lineAround(text, at)
	for end < len(text) {
		var begin int
		begin, end = lineAround(text, end+1)
		if next <= end {
			return known
		}
		line := bytes.TrimSpace(text[begin:end])
		if len(line) > 0 && !slices.ContainsFunc([]string{"#", "//", "/*", "*"}, func(mark string) bool { return bytes.HasPrefix(line, []byte(mark)) }) {
			return extent{begin, end}
		}
	}
	return extent{len(text), len(text)}
}
