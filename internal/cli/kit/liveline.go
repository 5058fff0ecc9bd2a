package kit

import (
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/internal/terminal"
)

// Standing is where something stands that takes its time: a wait, a run.
type Standing struct {
	Status  string        // of the whole, such as RUNNING
	Elapsed time.Duration // since it began
	Limit   time.Duration // 0 if none is known
	Where   string        // the state of a run; empty for a wait
	Polls   int           // that were made
	Seen    string        // what the last poll saw, such as the status of the job
	Next    time.Duration // until the next poll; 0 if that is not known
	Message string        // what the job says of its progress, or the reason
}

// text is the standing on one line, the most useful first.
func (s Standing) text() string {
	var b strings.Builder
	b.WriteString(s.Status + " " + WholeSeconds(s.Elapsed))
	if s.Limit > 0 {
		b.WriteString(" of " + ShortDuration(s.Limit))
	}
	if s.Where != "" {
		b.WriteString("  " + s.Where)
	}
	if s.Polls > 0 {
		b.WriteString("  poll " + strconv.Itoa(s.Polls))
		if s.Seen != "" {
			b.WriteString(": " + s.Seen)
		}
	}
	if next := s.Next.Round(time.Second); next > 0 {
		b.WriteString("  next in " + WholeSeconds(next))
	}
	if s.Message != "" {
		b.WriteString("  " + s.Message)
	}
	return b.String()
}

// WholeSeconds is a time that goes on, as people read it off.
func WholeSeconds(d time.Duration) string {
	if d < time.Second {
		return "0s"
	}
	return ShortDuration(d.Truncate(time.Second))
}

// shorten cuts the long names of a standing, so that the numbers behind them are to be
// seen: that of the state, then what the poll saw.
func (s Standing) shorten(columns int) Standing {
	for _, long := range []*string{&s.Where, &s.Seen} {
		without := s
		without.Message = ""
		over := terminal.Width(without.text()) - columns
		if over > 0 && *long != "" {
			*long = terminal.Cut(*long, max(0, terminal.Width(*long)-over-1)) + "…"
		}
	}
	return s
}

// paint is the text, as much of it as fits, with the status in its colour.
func (s Standing) paint(c terminal.Colours, columns int) string {
	line := fitLine(s.shorten(columns-echo).text(), columns)
	if rest, ok := strings.CutPrefix(line, s.Status); ok {
		return string(c.Paint(StyleOf(s.Status), s.Status)) + rest
	}
	return line
}

// Live shows where something stands while it lasts: on a terminal as the last line,
// which is redrawn, else as a line where the status has changed. A nil live shows
// nothing. It is safe for concurrent use.
type Live struct {
	out     io.Writer
	display terminal.Display // nil if there is none
	colours terminal.Colours
	now     func() Standing

	mu    sync.Mutex
	drawn string // what the line shows
	last  string // what was shown where there is no terminal

	stop chan struct{}
	done sync.WaitGroup
}

// refresh is how often the line is looked at. It is drawn where it has changed.
const refresh = 200 * time.Millisecond

// NewLive starts to show what now returns, which is called on a goroutine of its
// own. Without a terminal, or with whole lines, there is a line for each call of show
// that has something new.
func NewLive(out io.Writer, wholeLines bool, now func() Standing) *Live {
	l := &Live{out: out, colours: terminal.ColoursOf(out), now: now, stop: make(chan struct{})}
	if !wholeLines {
		l.display = terminal.DisplayOf(out)
	}
	if l.display != nil {
		l.done.Go(l.animate)
	}
	return l
}

// Show tells that a poll was made, or that something else has happened. What has
// the same status as before is shown on a terminal alone.
func (l *Live) Show(s Standing) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.display != nil {
		l.draw(s)
		return
	}
	if status := s.Status + "\n" + s.Seen; status != l.last {
		l.last = status
		terminal.Fprintf(l.out, "%s%s\n", l.colours.Paint(StyleOf(s.Status), s.Status), strings.TrimPrefix(s.text(), s.Status))
	}
}

// clearLine empties the line that the cursor is in.
const clearLine = "\r\x1b[K"

// Above writes whole lines, on a terminal above the live one.
func (l *Live) Above(write func(out io.Writer)) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.erase()
	write(l.out)
}

// Close ends the drawing and leaves the line clean.
func (l *Live) Close() {
	if l == nil {
		return
	}
	close(l.stop)
	l.done.Wait()
	l.erase()
}

// animate redraws the line until close.
func (l *Live) animate() {
	ticker := time.NewTicker(refresh)
	defer ticker.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-ticker.C:
			now := l.now()
			l.mu.Lock()
			l.draw(now)
			l.mu.Unlock()
		}
	}
}

// draw shows the standing if it looks different from what is shown.
func (l *Live) draw(s Standing) {
	if s.Status == "" {
		return // nothing is known yet
	}
	if line := s.paint(l.colours, l.display.Columns()); line != l.drawn {
		_, _ = io.WriteString(l.display, clearLine+line)
		l.drawn = line
	}
}

// erase leaves the line clean.
func (l *Live) erase() {
	if l.drawn != "" {
		_, _ = io.WriteString(l.display, clearLine)
		l.drawn = ""
	}
}

// echo is the room for the ^C that a terminal shows of an interrupt.
const echo = len("^C")

// fitLine is the text as one line of a terminal that is so wide: what moved the cursor
// to the next line could not be cleared.
func fitLine(text string, width int) string {
	return terminal.Cut(strings.ReplaceAll(terminal.Quote(text), "\t", " "), width-echo)
}
