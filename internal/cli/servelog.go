package cli

import (
	"bytes"
	"io"
	"log"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/internal/terminal"
)

// serveLog writes a line for each thing of interest, from any goroutine. No line has
// what executions work on.
type serveLog struct {
	quiet   bool // only what is wrong
	verbose bool // every event

	mu  sync.Mutex
	out io.Writer
}

// Write writes lines of others' loggers.
func (l *serveLog) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(bytes.TrimRight(p, "\n"))) {
		l.warn("%s", strings.TrimRight(line, "\n"))
	}
	return len(p), nil
}

// say writes a line that nothing turns off.
func (l *serveLog) say(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	terminal.Fprintf(l.out, "%s\n", terminal.Lines(terminal.Sprintf(format, args...)))
}

// tell writes a line of interest, with the time of this machine.
func (l *serveLog) tell(format string, args ...any) {
	if !l.quiet {
		l.say("%s %s", time.Now().Format(time.TimeOnly), terminal.Lines(terminal.Sprintf(format, args...)))
	}
}

// warn writes a line about what is wrong.
func (l *serveLog) warn(format string, args ...any) {
	text := terminal.Lines(terminal.Sprintf(format, args...))
	if l.quiet {
		l.say("%s", text)
	} else {
		l.tell("%s", text)
	}
}

// more writes a line of --verbose.
func (l *serveLog) more(format string, args ...any) {
	if l.verbose {
		l.tell(format, args...)
	}
}

// lines is a logger of what is wrong.
func (l *serveLog) lines() *log.Logger { return log.New(l, "", 0) }

// connections is a logger of broken connections, which only --verbose shows.
func (l *serveLog) connections() *log.Logger {
	if !l.verbose {
		return log.New(io.Discard, "", 0)
	}
	return l.lines()
}

// newStructured returns a logger for what the server does wrong.
func (l *serveLog) newStructured() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{} // each line has one
		}
		return a
	}}))
}
