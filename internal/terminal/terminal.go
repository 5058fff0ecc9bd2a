// Package terminal writes for people. What jobs, services and files say reaches
// a terminal as text: control characters in it are quoted, so that it cannot move
// the cursor, set the window's title, hide text or begin a line of its own.
//
// There are two lines of defence. A Writer, which stands before stdout and stderr,
// lets no control character through but the newline and the tab, and on a terminal
// the few sequences that set a colour. Fprintf lets no argument make a line or a
// colour: only the format does, and Lines.
package terminal

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Writer quotes control characters in what it passes on. The quotes are JSON's,
// so that a JSON text keeps its meaning. It is safe for concurrent use.
type Writer struct {
	out     io.Writer
	colours bool

	mu   sync.Mutex
	rest []byte // the beginning of a character or sequence whose end is to come
	err  error  // the first of writing
}

// NewWriter returns a writer to out, without colours.
func NewWriter(out io.Writer) *Writer { return &Writer{out: out} }

// DecideColours lets the writer have colours or none, before anything is written.
func (w *Writer) DecideColours(mode ColourMode, getenv func(string) string) {
	w.colours = mode.Decide(getenv, displayOf(w.out) != nil)
}

// Write implements io.Writer.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := p
	if len(w.rest) > 0 {
		text = slices.Concat(w.rest, p)
		w.rest = nil
	}
	whole := len(text) - w.incomplete(text)
	if whole < len(text) {
		w.rest = bytes.Clone(text[whole:])
	}
	if err := w.write(text[:whole]); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes what the text ended in the middle of. Its error is the first of all
// writing, so that nobody takes a part of the text for the whole.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if rest := w.rest; rest != nil {
		w.rest = nil
		_ = w.write(rest) // it is kept
	}
	return w.err
}

// write writes text, and keeps the first error.
func (w *Writer) write(text []byte) error {
	_, err := w.out.Write(quoteControls(text, w.colours))
	if w.err == nil {
		w.err = err
	}
	return err
}

// incomplete is how many bytes at the end of the text are the beginning of a
// character, or of a sequence that sets a colour.
func (w *Writer) incomplete(text []byte) int {
	if at := bytes.LastIndexByte(text, sequenceStart[0]); w.colours && at >= 0 && beginsSequence(text[at:]) {
		return len(text) - at
	}
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if last := text[len(text)-n:]; utf8.RuneStart(last[0]) {
			if utf8.FullRune(last) {
				return 0
			}
			return n
		}
	}
	return 0
}

// quoteControls quotes all controls but newlines and tabs, and with colours but the
// sequences that set them.
func quoteControls(text []byte, colours bool) []byte {
	clean := true
	for rest := text; len(rest) > 0 && clean; {
		r, size := utf8.DecodeRune(rest)
		clean = !isControl(r) && (r != utf8.RuneError || size > 1)
		rest = rest[size:]
	}
	if clean {
		return text
	}
	var b bytes.Buffer
	for len(text) > 0 {
		if s := sequenceAt(text); colours && s != nil {
			b.Write(s)
			text = text[len(s):]
			continue
		}
		r, size := utf8.DecodeRune(text)
		if isControl(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r) // U+FFFD for a byte that is none: some terminals take 0x9B for ESC [
		}
		text = text[size:]
	}
	return b.Bytes()
}

// isControl tells whether a terminal may take the character for more than text:
// the control characters, those that separate lines, and those that set the
// direction in which text is shown.
func isControl(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r == 0x061C, r == 0x200E, r == 0x200F, r == 0x2028, r == 0x2029, 0x202A <= r && r <= 0x202E, 0x2066 <= r && r <= 0x2069:
		return true
	default:
		return unicode.IsControl(r)
	}
}

// Quote is the text on one line, without control characters but the tab.
func Quote(text string) string {
	quoted := string(quoteControls([]byte(strings.ReplaceAll(text, "\r", `\r`)), false))
	return strings.ReplaceAll(quoted, "\n", `\n`)
}

// Lines is text whose newlines are the program's own: Fprintf leaves them.
type Lines string

// Fprintf is fmt.Fprintf whose arguments are quoted, so that only the format has
// newlines. An argument of the type Lines stays as it is. An error of writing is
// not reported: who reads has gone.
func Fprintf(out io.Writer, format string, args ...any) {
	_, _ = io.WriteString(out, Sprintf(format, args...))
}

// Sprintf is Fprintf to a string.
func Sprintf(format string, args ...any) string {
	quoted := make([]any, len(args))
	for i, arg := range args {
		quoted[i] = arg
		switch arg := arg.(type) {
		case Lines, int, float64, nil: // an int may be a width
		default:
			quoted[i] = quotedArgument{arg}
		}
	}
	return fmt.Sprintf(format, quoted...)
}

// Errorf is fmt.Errorf whose strings are quoted: the name of a file may have a newline,
// and forge a line. What may have lines is of the type Lines.
func Errorf(format string, args ...any) error {
	args = slices.Clone(args)
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = Quote(text)
		}
	}
	return fmt.Errorf(format, args...)
}

// quotedArgument formats a value and quotes the outcome.
type quotedArgument struct{ value any }

func (q quotedArgument) Format(s fmt.State, verb rune) {
	_, _ = io.WriteString(s, Quote(fmt.Sprintf(fmt.FormatString(s, verb), q.value)))
}

const module = "github.com/jobpoller/jobpoller"

// ErrorText is an error's text. The errors of this program may have several lines;
// those of services and of other packages, which quote what they read, have one. What
// the operating system says of a file is said in words for people.
func ErrorText(err error) Lines {
	text := err.Error()
	for _, foreign := range foreignErrors(err, nil) {
		said := foreign.Error()
		if words, ok := fileProblem(foreign); ok {
			text = strings.ReplaceAll(text, said, words)
		} else if strings.ContainsAny(said, "\n\r") {
			text = strings.ReplaceAll(text, said, Quote(said))
		}
	}
	return Lines(strings.ReplaceAll(text, "\r", `\r`))
}

// foreignErrors adds the outermost errors in the tree that are of other packages.
func foreignErrors(err error, all []error) []error {
	of := reflect.TypeOf(err)
	if of == nil {
		return all
	}
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if path := of.PkgPath(); path != "fmt" && path != "errors" && path != "main" && !strings.HasPrefix(path, module) {
		return append(all, err)
	}
	switch err := err.(type) { //nolint:errorlint // its own children
	case interface{ Unwrap() error }:
		return foreignErrors(err.Unwrap(), all)
	case interface{ Unwrap() []error }:
		for _, child := range err.Unwrap() {
			all = foreignErrors(child, all)
		}
	}
	return all
}
