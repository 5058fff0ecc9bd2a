// Package diag says what is wrong in a text that a person wrote, where, and what
// to do about it. The readers of waiters, definitions, mocks and expressions all
// report through it: their errors are Problems, which errors.As finds, and hold
// all that is wrong at once.
package diag

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jobpoller/jobpoller/internal/nearest"
)

// Severity says how wrong something is. The levels are those of Smithy's
// validator.
type Severity uint8

// The severities.
const (
	// Error is what breaks a rule.
	Error Severity = iota
	// Danger is something that deploys but cannot work.
	Danger
	// Warning is what may be meant so.
	Warning
	// Note is what is worth knowing, and wrong in no way.
	Note
)

// String is the name that Smithy's validator gives the severity.
func (s Severity) String() string { return [...]string{"ERROR", "DANGER", "WARNING", "NOTE"}[s] }

// MarshalText writes the name.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Problem is one defect of a text.
type Problem struct {
	// Severity is Error unless something else is said.
	Severity Severity `json:"severity"`
	// Pointer is the RFC 6901 JSON pointer of the value at fault; empty for
	// the whole document and for a text that is not JSON.
	Pointer string `json:"pointer"`
	// Line and Column say where the defect starts, counted from 1. A column
	// is one character, not one byte. Both are 0 if the place is not known.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
	// Message says what was expected and what was found.
	Message string `json:"message"`
	// Suggestion is the nearest right word, if there is one near enough.
	Suggestion string `json:"suggestion,omitempty"`
	// OwnWords is the message without what it quotes of the text; empty if nobody has
	// told the two apart.
	OwnWords string `json:"-"`
	// Missing is the name of a member that the value at fault lacks.
	Missing string `json:"-"`
	// File is the file of Line and Column, where it is another than the definition's.
	File string `json:"-"`
	// Source is the line of the text at fault, shortened around the column.
	Source string `json:"source,omitempty"`

	caret  int
	hidden bool
}

// Hidden returns a problem that is counted but never shown: the place and the
// suggestion of one that stands behind [MaxShown] others are not worth finding.
func Hidden(pointer, message string) Problem {
	return Problem{Pointer: pointer, Message: message, hidden: true}
}

// At returns a problem at a byte offset of text.
func At(text []byte, offset int, pointer, message string) Problem {
	offset = max(0, min(offset, len(text)))
	start := 0
	if i := bytes.LastIndexByte(text[:offset], '\n'); i >= 0 {
		start = i + 1
	}
	end := len(text)
	if i := bytes.IndexByte(text[offset:], '\n'); i >= 0 {
		end = offset + i
	}
	source, caret := excerpt(text[start:end], offset-start)
	return Problem{
		Pointer: pointer,
		Line:    1 + bytes.Count(text[:offset], []byte("\n")),
		Column:  1 + utf8.RuneCount(text[start:offset]),
		Message: message,
		Source:  source,
		caret:   caret,
	}
}

// AtPlace returns a problem at a byte offset of text whose line and column are
// known. It looks at no more of the text than it shows.
func AtPlace(text []byte, offset, line, column int, pointer, message string) Problem {
	const shown = utf8.UTFMax * (excerptBefore + excerptAfter)
	from, to := max(0, offset-shown), min(len(text), offset+shown)
	if i := bytes.LastIndexByte(text[from:offset], '\n'); i >= 0 {
		from += i + 1
	}
	if i := bytes.IndexByte(text[offset:to], '\n'); i >= 0 {
		to = offset + i
	}
	source, caret := excerpt(text[from:to], offset-from)
	return Problem{Pointer: pointer, Line: line, Column: column, Message: message, Source: source, caret: caret}
}

// Move returns the problem at another place: a byte offset of text.
func (p Problem) Move(text []byte, offset int, pointer string) Problem {
	moved := At(text, offset, pointer, p.Message)
	moved.Severity, moved.Suggestion, moved.OwnWords = p.Severity, p.Suggestion, p.OwnWords
	return moved
}

// Suggest returns the problem with the nearest of candidates as its
// suggestion, if one is near enough to word to be what the writer meant.
func (p Problem) Suggest(word string, candidates ...string) Problem {
	if p.hidden {
		return p
	}
	p.Suggestion = nearest.Word(word, candidates)
	return p
}

// oneLine keeps what a message or a pointer quotes from making a line of its own:
// a name in a file may have newlines.
var oneLine = strings.NewReplacer("\n", `\n`, "\r", `\r`)

// String renders the problem on one line, without the source line.
func (p Problem) String() string {
	var b strings.Builder
	if p.Line > 0 {
		if p.File != "" {
			b.WriteString(oneLine.Replace(p.File) + ":")
		}
		fmt.Fprintf(&b, "%d:%d: ", p.Line, p.Column)
	}
	if p.Pointer != "" {
		b.WriteString(oneLine.Replace(p.Pointer) + ": ")
	}
	if p.Severity >= Warning {
		b.WriteString(strings.ToLower(p.Severity.String()) + ": ")
	}
	b.WriteString(oneLine.Replace(p.Message))
	b.WriteString(nearest.Question(p.Suggestion))
	return b.String()
}

// Snippet renders the source line with a caret under the place at fault, or
// the empty string if there is no source.
func (p Problem) Snippet() string {
	if strings.TrimSpace(p.Source) == "" {
		return ""
	}
	return "  | " + p.Source + "\n  | " + strings.Repeat(" ", p.caret) + "^"
}

// Problems is every defect found in a text, in the order of the text.
type Problems []Problem

// Err returns nil if there is no problem, else the problems as an error.
func (ps Problems) Err() error {
	if len(ps) == 0 {
		return nil
	}
	sorted := slices.Clone(ps)
	slices.SortStableFunc(sorted, func(a, b Problem) int {
		if a.hidden || b.hidden {
			return order(a.hidden) - order(b.hidden)
		}
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return sorted
}

func order(hidden bool) int {
	if hidden {
		return 1
	}
	return 0
}

// MaxShown is how many problems an error text lists. A text with more is
// hardly of the kind that it was taken for.
const MaxShown = 50

// Error lists the problems, each with its source line and a caret.
func (ps Problems) Error() string {
	var b strings.Builder
	if len(ps) > 1 {
		fmt.Fprintf(&b, "%d problems:\n", len(ps))
	}
	for i, p := range ps {
		if i == MaxShown {
			fmt.Fprintf(&b, "\nand %d more", len(ps)-i)
			break
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(p.String())
		if s := p.Snippet(); s != "" {
			b.WriteByte('\n')
			b.WriteString(s)
		}
	}
	return b.String()
}

// Brief lists the problems on one line, without the text they stand in.
func (ps Problems) Brief() string {
	lines := make([]string, 0, min(len(ps), MaxShown)+1)
	for i, p := range ps {
		if i == MaxShown {
			lines = append(lines, fmt.Sprintf("and %d more", len(ps)-i))
			break
		}
		lines = append(lines, p.String())
	}
	return strings.Join(lines, "; ")
}

// excerptBefore and excerptAfter are how many characters of a line are shown
// before and after the place at fault.
const excerptBefore, excerptAfter = 40, 60

// excerpt shortens a line around a byte offset, so that a document written on
// one line stays readable, and returns the caret's column in the result.
func excerpt(line []byte, offset int) (text string, caret int) {
	const before, after = excerptBefore, excerptAfter
	line = bytes.TrimSuffix(line, []byte("\r"))
	offset = min(offset, len(line))
	// A document of one line may have many problems: look at no more of it
	// than is shown, and one character to know that there is more.
	from, to := max(0, offset-utf8.UTFMax*(before+1)), min(len(line), offset+utf8.UTFMax*(after+1))
	for from > 0 && from < offset && !utf8.RuneStart(line[from]) {
		from++
	}
	head := []rune(strings.ReplaceAll(string(line[from:offset]), "\t", " "))
	tail := []rune(strings.ReplaceAll(string(line[offset:to]), "\t", " "))
	if len(head) > before {
		head = append([]rune("..."), head[len(head)-before:]...)
	}
	if len(tail) > after {
		tail = append(slices.Clone(tail[:after]), []rune("...")...)
	}
	return string(head) + string(tail), len(head)
}
