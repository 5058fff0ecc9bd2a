package source

import (
	"bytes"
	"cmp"
	"sort"
	"unicode/utf8"

	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// file is a file as the user wrote it.
type file struct {
	name  string
	bytes []byte

	remarks remarks // that were asked for
}

// problem returns a problem at a byte of the file.
func (f *file) problem(offset int, pointer, message string) diag.Problem {
	return diag.At(f.bytes, offset, pointer, message)
}

// text is a text that was made out of a file. It knows of each byte where in the
// file it comes from.
type text struct {
	file  *file
	bytes []byte
	spans []span // in the order of at, the first at 0

	read, written ruler // over the text, and over the file
}

// span says where the bytes of a text come from, from one of them up to the next
// span.
type span struct {
	at     int // byte of the text
	origin int // byte of the file
	exact  bool
	// end is the byte of the file behind what the bytes stand for; 0 if they all come from
	// one byte, or stand there.
	end  int
	file *file // nil for that of the text
}

// whole returns the text of a file.
func (f *file) whole() *text {
	return &text{file: f, bytes: f.bytes, spans: []span{{exact: true}}}
}

// find returns the index of the span that has a byte of the text; -1 for none.
func (t *text) find(at int) int {
	return sort.Search(len(t.spans), func(i int) bool { return t.spans[i].at > at }) - 1
}

// origin returns the byte of the file that a byte of the text comes from. One of another
// file stands behind what comes before it from this one.
func (t *text) origin(at int) int {
	i := t.find(at)
	if i < 0 {
		return 0
	}
	if t.spans[i].file == nil {
		return t.spans[i].from(at)
	}
	for before := i - 1; before >= 0; before-- {
		if s := t.spans[before]; s.file == nil {
			return s.from(t.spans[before+1].at-1) + 1
		}
	}
	for _, s := range t.spans[i:] {
		if s.file == nil {
			return s.origin
		}
	}
	return 0
}

// originFile returns the file that a byte of the text comes from, and its byte there.
func (t *text) originFile(at int) (*file, int) {
	if i := t.find(at); i >= 0 && t.spans[i].file != nil {
		return t.spans[i].file, t.spans[i].from(at)
	}
	return t.file, t.origin(at)
}

func (s span) from(at int) int {
	if s.exact {
		return s.origin + at - s.at
	}
	return s.origin
}

// problem returns a problem at a byte of the text, placed in the file.
func (t *text) problem(at int, pointer, message string) diag.Problem {
	return t.file.problem(t.origin(at), pointer, message)
}

// isFile tells whether the text is that of the file, unchanged.
func (t *text) isFile() bool {
	return len(t.spans) == 1 && t.spans[0] == (span{exact: true}) && len(t.bytes) == len(t.file.bytes)
}

// move places a problem of the text in the file. One without a place stays as it
// is. Problems in the order of the text take time linear in the text.
func (t *text) move(p diag.Problem) diag.Problem {
	if p.Line == 0 || t.isFile() {
		return p
	}
	f, offset := t.originFile(t.read.offset(t.bytes, p.Line, p.Column))
	offset = min(offset, len(f.bytes))
	written := &t.written
	if f != t.file {
		written = new(ruler)
	}
	line, column := written.place(f.bytes, offset)
	moved := diag.AtPlace(f.bytes, offset, line, column, p.Pointer, p.Message)
	if f != t.file {
		moved.File = f.name
	}
	moved.Severity, moved.Suggestion, moved.Missing = p.Severity, p.Suggestion, p.Missing
	return moved
}

func (t *text) moveAll(ps diag.Problems) diag.Problems {
	moved := make(diag.Problems, len(ps))
	for i, p := range ps {
		moved[i] = t.move(p)
	}
	return moved
}

// ruler counts the lines and columns of a text, from the place that it was asked
// for before if that is not behind.
type ruler struct{ at, line, column int } // from 0

// offset returns the byte at a line and a column, both from 1.
func (r *ruler) offset(text []byte, line, column int) int {
	line, column = line-1, column-1
	if line < r.line || line == r.line && column < r.column {
		*r = ruler{}
	}
	for r.line < line {
		end := bytes.IndexByte(text[r.at:], '\n')
		if end < 0 {
			return len(text)
		}
		r.at, r.line, r.column = r.at+end+1, r.line+1, 0
	}
	for r.column < column && r.at < len(text) && text[r.at] != '\n' {
		_, size := utf8.DecodeRune(text[r.at:])
		r.at, r.column = r.at+size, r.column+1
	}
	return r.at
}

// place returns the line and the column of a byte, both from 1.
func (r *ruler) place(text []byte, offset int) (line, column int) {
	offset = min(offset, len(text))
	if offset < r.at {
		*r = ruler{}
	}
	passed := text[r.at:offset]
	if i := bytes.LastIndexByte(passed, '\n'); i >= 0 {
		r.line += bytes.Count(passed, []byte{'\n'})
		r.column, passed = 0, passed[i+1:]
	}
	r.column += utf8.RuneCount(passed)
	r.at = offset
	return r.line + 1, r.column + 1
}

// writer makes a text.
type writer struct {
	out text
	// from is the file that put and follow write from; nil for that of the text.
	from *file
}

// put writes bytes that all come from one byte of the file.
func (w *writer) put(s string, origin int) {
	if s == "" {
		return
	}
	last := len(w.out.spans) - 1
	if last < 0 || w.out.spans[last].exact || w.out.spans[last].origin != origin || w.out.spans[last].end > 0 || w.out.spans[last].file != w.from {
		w.out.spans = append(w.out.spans, span{at: len(w.out.bytes), origin: origin, file: w.from})
	}
	w.out.bytes = append(w.out.bytes, s...)
}

// stand writes bytes that stand for some of the file.
func (w *writer) stand(s string, from, to int) {
	if s != "" {
		w.out.spans = append(w.out.spans, span{at: len(w.out.bytes), origin: from, end: to, file: w.from})
		w.out.bytes = append(w.out.bytes, s...)
	}
}

// copy writes bytes of another text.
func (w *writer) copy(t *text, from, to int) {
	if from >= to {
		return
	}
	origin := w.from
	i := max(0, t.find(from))
	for at := from; at < to; i++ {
		end := to
		if i+1 < len(t.spans) {
			end = min(end, t.spans[i+1].at)
		}
		s := t.spans[i]
		w.from = cmp.Or(s.file, origin)
		switch {
		case s.end > 0:
			w.stand(string(t.bytes[at:end]), s.origin, s.end)
		case !s.exact:
			w.put(string(t.bytes[at:end]), s.origin)
		default:
			w.follow(t.bytes[at:end], s.from(at))
		}
		at = end
	}
	w.from = origin
}

// follow writes bytes that stand in the file as they do here.
func (w *writer) follow(b []byte, origin int) {
	n := len(w.out.bytes)
	if last := len(w.out.spans) - 1; last < 0 || !w.out.spans[last].exact || w.out.spans[last].from(n) != origin || w.out.spans[last].file != w.from {
		w.out.spans = append(w.out.spans, span{at: n, origin: origin, exact: true, file: w.from})
	}
	w.out.bytes = append(w.out.bytes, b...)
}

func (w *writer) text(f *file) *text {
	w.out.file = f
	for i := range w.out.spans {
		if w.out.spans[i].file == f {
			w.out.spans[i].file = nil
		}
	}
	return &w.out
}
