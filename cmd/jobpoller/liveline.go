package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode"

	"golang.org/x/term"
)

// liveLine is the last line of a terminal, redrawn while something goes on.
type liveLine struct {
	out   io.Writer
	text  func() string
	width func() int
	drawn bool

	stop chan struct{}
	done sync.WaitGroup
}

// newLiveLine starts to draw what text returns. It returns nil if out is no
// terminal.
func newLiveLine(out io.Writer, text func() string) *liveLine {
	file, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return nil
	}
	l := &liveLine{out: out, text: text, stop: make(chan struct{})}
	l.width = func() int {
		width, _, err := term.GetSize(int(file.Fd()))
		if err != nil || width <= 0 {
			return 80
		}
		return width
	}
	l.done.Go(l.animate)
	return l
}

// animate redraws the line until close.
func (l *liveLine) animate() {
	frames := []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for i := 0; ; i++ {
		select {
		case <-l.stop:
			return
		case <-ticker.C:
		}
		fmt.Fprint(l.out, clearLine+fitLine(string(frames[i%len(frames)])+" "+l.text(), l.width()))
		l.drawn = true
	}
}

// clearLine empties the line that the cursor is in.
const clearLine = "\r\x1b[K"

// fitLine is the text as one line of a terminal that is so wide: what it moved the
// cursor with could not be cleared.
func fitLine(text string, width int) string {
	line := []rune(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text))
	return string(line[:min(len(line), max(0, width-1))])
}

// close ends the drawing and leaves the line clean.
func (l *liveLine) close() {
	if l == nil {
		return
	}
	close(l.stop)
	l.done.Wait()
	if l.drawn {
		fmt.Fprint(l.out, clearLine)
	}
}
