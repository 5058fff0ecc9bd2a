package kit

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// Reading shows how far a command is with what it reads of AWS.
type Reading struct {
	live  *Live
	start time.Time

	mu      sync.Mutex
	say     func(elapsed time.Duration) string // how far it is
	trouble string                             // of the last call
}

// StartReading shows what is read, until Close.
func StartReading(out io.Writer, what string) *Reading {
	r := &Reading{start: time.Now()}
	r.Show(what)
	r.live = NewLive(out, false, r.Standing)
	return r
}

// Show notes how far the reading is.
func (r *Reading) Show(what string) { r.ShowPassing(func(time.Duration) string { return what }) }

// ShowPassing notes how far the reading is, which changes with time.
func (r *Reading) ShowPassing(say func(elapsed time.Duration) string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.say = say
}

// Count notes how many things are read. The others take so long at least.
func (r *Reading) Count(done, all int, thing string, left time.Duration) {
	if all == 0 {
		return
	}
	took := time.Since(r.start)
	if done > 0 {
		left = max(left, took/time.Duration(done)*time.Duration(all-done))
	}
	r.ShowPassing(func(elapsed time.Duration) string {
		message := fmt.Sprintf("%d of %s", done, Plural(all, thing))
		if left := left - (elapsed - took); left >= time.Second {
			message += ", " + WholeSeconds(left) + " left"
		}
		return message
	})
}

// ShowTrouble shows the error of a call: without a terminal, minutes would pass in silence.
func (r *Reading) ShowTrouble(err error) {
	trouble := ""
	if err != nil {
		trouble = NewCallError(err).Code
	}
	r.mu.Lock()
	r.trouble = trouble
	r.mu.Unlock()
	if trouble != "" {
		r.live.Show(r.Standing())
	}
}

// Standing is where the reading stands.
func (r *Reading) Standing() Standing {
	r.mu.Lock()
	defer r.mu.Unlock()
	elapsed := time.Since(r.start)
	s := Standing{Status: "READING", Elapsed: elapsed, Message: r.say(elapsed)}
	if s.Seen = r.trouble; r.trouble != "" {
		s.Message += "  last answer: " + r.trouble
	}
	return s
}

// Close ends the showing.
func (r *Reading) Close() { r.live.Close() }
