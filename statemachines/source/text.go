package source

import (
	"bytes"
	"sort"
	"unicode/utf8"

	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// file is a file as the user wrote it.
type file struct {
	name  string
	bytes []byte
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
}

// whole returns the text of a file.
func (f *file) whole() *text {
	return &text{file: f, bytes: f.bytes, spans: []span{{exact: true}}}
}

// origin returns the byte of the file that a byte of the text comes from.
func (t *text) origin(at int) int {
	i := sort.Search(len(t.spans), func(i int) bool { return t.spans[i].at > at }) - 1
	if i < 0 {
		return 0
	}
	return t.spans[i].from(at)
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
	return len(t.spans) == 1 && t.spans[0] == span{exact: true} && len(t.bytes) == len(t.file.bytes)
}

// move places a problem of the text in the file. One without a place stays as it
// is. Problems in the order of the text take time linear in the text.
func (t *text) move(p diag.Problem) diag.Problem {
	if p.Line == 0 || t.isFile() {
		return p
	}
	offset := t.origin(t.read.offset(t.bytes, p.Line, p.Column))
	line, column := t.written.place(t.file.bytes, offset)
	moved := diag.AtPlace(t.file.bytes, offset, line, column, p.Pointer, p.Message)
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
type writer struct{ out text }

// put writes bytes that all come from one byte of the file.
func (w *writer) put(s string, origin int) {
	if s == "" {
		return
	}
	if last := len(w.out.spans) - 1; last < 0 || w.out.spans[last].exact || w.out.spans[last].origin != origin {
		w.out.spans = append(w.out.spans, span{at: len(w.out.bytes), origin: origin})
	}
	w.out.bytes = append(w.out.bytes, s...)
}

// copy writes bytes of another text.
func (w *writer) copy(t *text, from, to int) {
	if from >= to {
		return
	}
	i := max(0, sort.Search(len(t.spans), func(i int) bool { return t.spans[i].at > from })-1)
	for at := from; at < to; i++ {
		end := to
		if i+1 < len(t.spans) {
			end = min(end, t.spans[i+1].at)
		}
		s := t.spans[i]
		if !s.exact {
			w.put(string(t.bytes[at:end]), s.origin)
		} else {
			w.follow(t.bytes[at:end], s.from(at))
		}
		at = end
	}
}

// follow writes bytes that stand in the file as they do here.
func (w *writer) follow(b []byte, origin int) {
	n := len(w.out.bytes)
	if last := len(w.out.spans) - 1; last < 0 || !w.out.spans[last].exact || w.out.spans[last].from(n) != origin {
		w.out.spans = append(w.out.spans, span{at: n, origin: origin, exact: true})
	}
	w.out.bytes = append(w.out.bytes, b...)
}

func (w *writer) text(f *file) *text {
	w.out.file = f
	return &w.out
}
