package serve

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

	mu      sync.Mutex
	out     io.Writer
	second  int64 // in which lines are counted
	lines   int
	skipped int
}

// mostLines is how many lines of interest a second has: a load test has thousands of
// executions in one.
const mostLines = 100

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
	now := time.Now()
	if l.quiet || !l.verbose && l.isCrowded(now) {
		return
	}
	l.write(now, format, args...)
}

func (l *serveLog) write(now time.Time, format string, args ...any) {
	l.say("%s %s", now.Format(time.TimeOnly), terminal.Lines(terminal.Sprintf(format, args...)))
}

// isCrowded counts a line, and tells whether there were too many in this second. The
// first of the next says how many were left out.
func (l *serveLog) isCrowded(now time.Time) bool {
	l.mu.Lock()
	if second := now.Unix(); second != l.second {
		l.second, l.lines = second, 0
	}
	l.lines++
	crowded := l.lines > mostLines
	if crowded {
		l.skipped++
	}
	l.mu.Unlock()
	if !crowded {
		l.tellSkipped()
	}
	return crowded
}

// tellSkipped says how many lines were left out.
func (l *serveLog) tellSkipped() {
	l.mu.Lock()
	skipped := l.skipped
	l.skipped = 0
	l.mu.Unlock()
	if skipped > 0 {
		l.write(time.Now(), "%d more lines were left out: pass -v to see all", skipped)
	}
}

// warn writes a line about what is wrong.
func (l *serveLog) warn(format string, args ...any) {
	text := terminal.Lines(terminal.Sprintf(format, args...))
	if l.quiet {
		l.say("%s", text)
	} else {
		l.write(time.Now(), "%s", text)
	}
}

// more writes a line of --verbose.
func (l *serveLog) more(format string, args ...any) {
	if l.verbose {
		l.tell(format, args...)
	}
}

// newLines returns a logger that writes each message to the log of serve.
func (l *serveLog) newLines() *log.Logger { return log.New(l, "", 0) }

// newConnections returns a logger of broken connections, which only --verbose shows.
func (l *serveLog) newConnections() *log.Logger {
	if !l.verbose {
		return log.New(io.Discard, "", 0)
	}
	return l.newLines()
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
