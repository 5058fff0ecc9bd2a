package plan

import (
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
)

// reading shows how far plan is with what it reads of AWS.
type reading struct {
	live  *kit.Live
	start time.Time

	mu      sync.Mutex
	say     func(elapsed time.Duration) string // how far it is
	trouble string                             // of the last call
}

// startReading shows what is read, until the caller closes live.
func startReading(c *cobra.Command, what string) *reading {
	r := &reading{start: time.Now()}
	r.show(what)
	r.live = kit.NewLive(c.ErrOrStderr(), false, r.standing)
	return r
}

// show notes how far the reading is.
func (r *reading) show(what string) { r.showPassing(func(time.Duration) string { return what }) }

// showPassing notes how far the reading is, which changes with time.
func (r *reading) showPassing(say func(elapsed time.Duration) string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.say = say
}

// showTrouble shows the error of a call: without a terminal, minutes would pass in silence.
func (r *reading) showTrouble(err error) {
	trouble := ""
	if err != nil {
		trouble = kit.NewCallError(err).Code
	}
	r.mu.Lock()
	r.trouble = trouble
	r.mu.Unlock()
	if trouble != "" {
		r.live.Show(r.standing())
	}
}

// standing is where the reading stands.
func (r *reading) standing() kit.Standing {
	r.mu.Lock()
	defer r.mu.Unlock()
	elapsed := time.Since(r.start)
	s := kit.Standing{Status: "READING", Elapsed: elapsed, Message: r.say(elapsed)}
	if s.Seen = r.trouble; r.trouble != "" {
		s.Message += "  last answer: " + r.trouble
	}
	return s
}
