// Package terminaltest has a terminal for tests.
package terminaltest

import (
	"strings"
	"sync"
	"testing"

	"github.com/jobpoller/jobpoller/internal/terminal"
)

// Screen is a terminal of 80 columns and 24 rows that obeys what the command
// draws with: line ends, carriage returns, the end of a line that is erased, and
// colours, which it shows as their names.
type Screen struct {
	T *testing.T

	mu     sync.Mutex
	rows   [][]string // cells
	column int
	style  string
}

// What the screen has room for.
const (
	ScreenColumns = 80
	screenRows    = 24
)

var styleNames = map[terminal.Style]string{
	"0": "", terminal.Good: "green", terminal.Bad: "red", terminal.Caution: "yellow", terminal.Active: "cyan", terminal.Strong: "bold", terminal.Faint: "faint",
}

// Columns implements terminal.Display.
func (*Screen) Columns() int { return ScreenColumns }

// Write implements io.Writer.
func (s *Screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.rows) == 0 {
		s.newLine()
	}
	for text := string(p); text != ""; {
		if rest, ok := strings.CutPrefix(text, "\x1b["); ok {
			text = s.obey(rest)
			continue
		}
		r := []rune(text)[0]
		text = strings.TrimPrefix(text, string(r))
		switch r {
		case '\n':
			s.newLine()
		case '\r':
			s.column = 0
		default:
			s.put(string(r))
		}
	}
	return len(p), nil
}

// String is what the screen shows: its last rows.
func (s *Screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for _, row := range s.rows[max(0, len(s.rows)-screenRows):] {
		line := strings.Join(row, "")
		for _, name := range styleNames { // neighbours of one style
			line = strings.ReplaceAll(line, "}{"+name+" ", "")
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// obey does what a control sequence says, and returns what is behind it.
func (s *Screen) obey(text string) string {
	end := strings.IndexAny(text, "mK")
	if end < 0 {
		s.T.Errorf("a control sequence without an end: %q", text)
		return ""
	}
	switch parameter := text[:end]; text[end] {
	case 'K':
		s.rows[len(s.rows)-1] = s.rows[len(s.rows)-1][:s.column]
	case 'm':
		name, ok := styleNames[terminal.Style(parameter)]
		if !ok {
			s.T.Errorf("unknown style %q", parameter)
		}
		s.style = name
	}
	return text[end+1:]
}

func (s *Screen) newLine() {
	s.rows, s.column = append(s.rows, nil), 0
}

// put writes a character, in the next row where this one is full.
func (s *Screen) put(text string) {
	if s.column == ScreenColumns {
		s.newLine()
	}
	if s.style != "" {
		text = "{" + s.style + " " + text + "}"
	}
	row := s.rows[len(s.rows)-1]
	if s.column == len(row) {
		row = append(row, "")
	}
	row[s.column] = text
	s.rows[len(s.rows)-1] = row
	s.column++
}
