package wait

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore"
)

// manyReport is what several waits come to. Its JSON members are a contract: see
// docs/reference/json.md.
type manyReport struct {
	Status         string        `json:"status"`
	Waits          []*waitReport `json:"waits"`
	ElapsedSeconds float64       `json:"elapsedSeconds"`
}

// waitForMany waits for several jobs or resources at the same time. With --any, the
// first that succeeds ends the others' waits.
func (w *waits) waitForMany(ctx context.Context, targets []Target) error {
	ctx, enough := context.WithCancel(ctx)
	defer enough()
	start := time.Now()
	board := newWaitBoard(w, len(targets), start)
	reports, problems := make([]*waitReport, len(targets)), make([]error, len(targets))
	quiet := w.options
	quiet.quiet = true // the board shows them
	var all sync.WaitGroup
	for i, t := range targets {
		all.Go(func() {
			p := newWaitProgress(w.command.ErrOrStderr(), w.entry, quiet)
			defer p.close()
			reports[i], problems[i] = w.wait(ctx, t, p)
			if problems[i] != nil {
				enough()
				return
			}
			board.count(reports[i])
			if w.options.any && reports[i].Status == string(pollcore.Succeeded) {
				enough()
			}
		})
	}
	all.Wait()
	board.close()
	if err := cmp.Or(problems...); err != nil {
		return err
	}
	result := manyReport{Waits: reports, ElapsedSeconds: time.Since(start).Seconds()}
	code := w.joinCodes(reports, w.command.Context().Err() != nil)
	result.Status = statusOfCode[code]
	return w.finish(result, result.text(terminal.ColoursOf(w.command.OutOrStdout()), w.options.verbose), code)
}

// statusOfCode is the status of several waits by the exit code.
var statusOfCode = map[int]string{
	kit.ExitSucceeded: string(pollcore.Succeeded), kit.ExitFailed: string(pollcore.Failed), kit.ExitTimedOut: string(pollcore.TimedOut),
	kit.ExitUnknown: waitError, kit.ExitInterrupted: waitInterrupted,
}

// joinCodes is the exit code of several waits: that of an interrupt, else with --any
// of the best one, else of the worst.
func (w *waits) joinCodes(reports []*waitReport, interrupted bool) int {
	codes := map[int]bool{}
	for _, r := range reports {
		codes[r.exitCode()] = true
	}
	worstFirst := []int{kit.ExitFailed, kit.ExitUnknown, kit.ExitTimedOut, kit.ExitInterrupted, kit.ExitSucceeded}
	switch {
	case w.options.any && codes[kit.ExitSucceeded]:
		return kit.ExitSucceeded
	case interrupted:
		return kit.ExitInterrupted
	case w.options.any:
		slices.Reverse(worstFirst)
	}
	for _, code := range worstFirst {
		if codes[code] {
			return code
		}
	}
	return kit.ExitSucceeded
}

// text is a line for each wait under one for all of them.
func (r *manyReport) text(c terminal.Colours, verbose bool) string {
	succeeded, width := 0, 0
	for _, one := range r.Waits {
		width = max(width, len(one.ID))
		if one.Status == string(pollcore.Succeeded) {
			succeeded++
		}
	}
	var b strings.Builder
	elapsed := time.Duration(r.ElapsedSeconds * float64(time.Second)).Round(100 * time.Millisecond)
	terminal.Fprintf(&b, "%s after %s: %d of %d succeeded\n", c.Paint(kit.StyleOf(r.Status), r.Status), elapsed, succeeded, len(r.Waits))
	for _, one := range r.Waits {
		head, rows, _ := strings.Cut(one.text(c, verbose), "\n")
		if one.Status == waitInterrupted && r.Status == string(pollcore.Succeeded) {
			head = "not awaited: another one has succeeded"
		}
		terminal.Fprintf(&b, "  %-*s  %s\n", width, one.ID, terminal.Lines(head))
		for row := range strings.Lines(rows) {
			b.WriteString("  " + row)
		}
	}
	return b.String()
}

// waitBoard shows several waits while they last: a line for each that ends, and on a
// terminal a live one for all.
type waitBoard struct {
	waits *waits
	total int
	start time.Time
	live  *kit.Live

	mu    sync.Mutex
	done  int
	codes map[int]int
}

func newWaitBoard(w *waits, total int, start time.Time) *waitBoard {
	b := &waitBoard{waits: w, total: total, start: start, codes: map[int]int{}}
	if !w.options.quiet {
		b.live = kit.NewLive(w.command.ErrOrStderr(), w.options.verbose, b.standing)
	}
	return b
}

// standing says how many waits have ended, and how.
func (b *waitBoard) standing() kit.Standing {
	b.mu.Lock()
	defer b.mu.Unlock()
	parts := []string{fmt.Sprintf("%d of %d ended", b.done, b.total)}
	for _, code := range []int{kit.ExitSucceeded, kit.ExitFailed, kit.ExitTimedOut, kit.ExitUnknown} {
		if n := b.codes[code]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", statusOfCode[code], n))
		}
	}
	return kit.Standing{
		Status: string(pollcore.Running), Elapsed: time.Since(b.start), Limit: b.waits.options.maxWait, Where: strings.Join(parts, "  "),
	}
}

// count counts a wait that has ended.
func (b *waitBoard) count(r *waitReport) {
	if r.Status == waitInterrupted {
		return
	}
	b.mu.Lock()
	b.done++
	b.codes[r.exitCode()]++
	done := b.done
	b.mu.Unlock()
	b.live.Above(func(out io.Writer) {
		status := terminal.ColoursOf(out).Paint(kit.StyleOf(r.Status), r.Status)
		terminal.Fprintf(out, "%s %s, %d of %d ended\n", r.ID, status, done, b.total)
	})
}

func (b *waitBoard) close() { b.live.Close() }
