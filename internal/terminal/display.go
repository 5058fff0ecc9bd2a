package terminal

import (
	"io"
	"os"

	"golang.org/x/term"
)

// Display is a terminal.
type Display interface {
	io.Writer
	// Columns is how many characters a line has.
	Columns() int
}

// screen is the terminal behind a file.
type screen struct{ *os.File }

// defaultColumns are those of a terminal that does not say.
const defaultColumns = 80

func (s screen) Columns() int {
	if width, _, err := term.GetSize(int(s.Fd())); err == nil && width > 0 {
		return width
	}
	return defaultColumns
}

// IsTerminal tells whether somebody types what is read.
func IsTerminal(in io.Reader) bool {
	file, ok := in.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// displayOf is the terminal that out is; nil if it is none, or one without the
// control sequences that move the cursor.
func displayOf(out io.Writer) Display {
	switch out := out.(type) {
	case Display:
		return out
	case *os.File:
		if term.IsTerminal(int(out.Fd())) && os.Getenv("TERM") != "dumb" {
			return screen{out}
		}
	}
	return nil
}

// DisplayOf returns the terminal behind a command's output, past the quoting, for
// what draws on it; nil if there is none.
func DisplayOf(out io.Writer) Display {
	if w, ok := out.(*Writer); ok {
		return displayOf(w.out)
	}
	return nil
}
