package cli

import (
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/jobpoller/jobpoller/internal/terminal"
)

// liveLine is the last line of a terminal, redrawn while something goes on.
type liveLine struct {
	file  *os.File
	text  func() string
	width func() int
	drawn bool

	stop chan struct{}
	done sync.WaitGroup
}

// newLiveLine starts to draw what text returns. It returns nil if out is no
// terminal.
func newLiveLine(out io.Writer, text func() string) *liveLine {
	writer, ok := out.(*terminal.Writer)
	if !ok {
		return nil
	}
	file := writer.File()
	if file == nil || !term.IsTerminal(int(file.Fd())) {
		return nil
	}
	l := &liveLine{file: file, text: text, stop: make(chan struct{})}
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
		_, _ = l.file.WriteString(clearLine + fitLine(string(frames[i%len(frames)])+" "+l.text(), l.width()))
		l.drawn = true
	}
}

// clearLine empties the line that the cursor is in.
const clearLine = "\r\x1b[K"

// fitLine is the text as one line of a terminal that is so wide: what it moved the
// cursor with could not be cleared.
func fitLine(text string, width int) string {
	line := []rune(strings.ReplaceAll(terminal.Quote(text), "\t", " "))
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
		_, _ = l.file.WriteString(clearLine)
	}
}
