package source

import (
	"sort"
	"unicode/utf8"

	"github.com/jobpoller/jobpoller/diag"
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

// move places a problem of the text in the file. One without a place stays as it
// is.
func (t *text) move(p diag.Problem) diag.Problem {
	if p.Line == 0 {
		return p
	}
	return p.Move(t.file.bytes, t.origin(offsetOf(t.bytes, p.Line, p.Column)), p.Pointer)
}

func (t *text) moveAll(ps diag.Problems) diag.Problems {
	moved := make(diag.Problems, len(ps))
	for i, p := range ps {
		moved[i] = t.move(p)
	}
	return moved
}

// offsetOf returns the byte at a line and a column, both from 1.
func offsetOf(text []byte, line, column int) int {
	at := 0
	for ; line > 1 && at < len(text); at++ {
		if text[at] == '\n' {
			line--
		}
	}
	for ; column > 1 && at < len(text) && text[at] != '\n'; column-- {
		_, size := utf8.DecodeRune(text[at:])
		at += size
	}
	return at
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
