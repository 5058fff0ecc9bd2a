package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

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
		line := []rune(string(frames[i%len(frames)]) + " " + l.text())
		if width := l.width(); len(line) >= width {
			line = line[:max(0, width-1)]
		}
		fmt.Fprintf(l.out, "\r\x1b[K%s", string(line))
		l.drawn = true
	}
}

// close ends the drawing and leaves the line clean.
func (l *liveLine) close() {
	if l == nil {
		return
	}
	close(l.stop)
	l.done.Wait()
	if l.drawn {
		fmt.Fprint(l.out, "\r\x1b[K")
	}
}
