package pollcore

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// The limits of a [Planned] schedule.
const (
	// MaxPlannedDelays is the most delays that it has before Then. A state machine
	// holds all of them.
	MaxPlannedDelays = 1000
	// MaxPlannedDelay is the longest delay.
	MaxPlannedDelay = 10_000 * time.Hour
)

// Planned is a schedule as data: each delay is a constant, but for the jitter of the
// first one. Its JSON form has whole seconds, and jitter is optional:
//
//	{"delays": [900, 45, 45, 60], "then": 60, "jitter": 30}
type Planned struct {
	// Delays are the delays before the first calls, in whole seconds. The first is
	// counted from the start of the job and may be 0.
	Delays []time.Duration
	// Then is the delay between all later calls, in whole seconds.
	Then time.Duration
	// Jitter makes the first delay longer by a time that is drawn once for each wait,
	// evenly from 0 to Jitter, in whole seconds: see [Planned.Draw]. All later delays
	// are as listed. So waits that start together call at different times, and see ends
	// no later than without it. 0 is none.
	Jitter time.Duration
}

// ParsePlanned reads the JSON form. Reading is strict: unknown and missing
// members, wrong types and every rule of [Planned.Validate] are reported at once
// as a [diag.Problems], each with its place in text. A text may name its JSON Schema
// as $schema.
func ParsePlanned(text []byte) (Planned, error) {
	doc, err := jsontree.Parse(text)
	if err != nil {
		return Planned{}, err
	}
	doc.Root.SkipSchema()
	var p Planned
	var r jsontree.Reader
	const most = int(MaxPlannedDelay / time.Second)
	delay := func(to *time.Duration, least int) func(*jsontree.Node) {
		return func(n *jsontree.Node) {
			var seconds int
			r.Int(&seconds, least, most)(n)
			*to = time.Duration(seconds) * time.Second
		}
	}
	r.Object(doc.Root, "a planned schedule", map[string]func(*jsontree.Node){
		"delays": func(n *jsontree.Node) {
			if len(n.Items) > MaxPlannedDelays {
				r.Report(n.Problem("expected at most %d delays, found %d", MaxPlannedDelays, len(n.Items)))
				return
			}
			r.List(func(item *jsontree.Node) {
				p.Delays = append(p.Delays, 0)
				last := len(p.Delays) - 1
				delay(&p.Delays[last], min(last, 1))(item)
			})(n)
			if n.Kind == jsontree.Array && len(n.Items) == 0 {
				r.Report(n.Problem(noDelays))
			}
		},
		"then":   delay(&p.Then, 1),
		"jitter": delay(&p.Jitter, 0),
	}, "delays", "then")
	if first := int(p.latestFirst() / time.Second); len(r.Problems) == 0 && first > most {
		r.Report(doc.Root.Get("jitter").Problem(tooLongFirst, most, first))
	}
	if err := r.Problems.Err(); err != nil {
		return Planned{}, err
	}
	return p, nil
}

const (
	noDelays     = "expected the delay before the first call, and found no delays"
	tooLongFirst = "expected a first delay of at most %v with the jitter, found %v"
)

// UnmarshalJSON reads the JSON form as strictly as [ParsePlanned].
func (p *Planned) UnmarshalJSON(text []byte) error {
	read, err := ParsePlanned(text)
	if err != nil {
		return err
	}
	*p = read
	return nil
}

// MarshalJSON writes the JSON form. Parts of a second are lost.
func (p Planned) MarshalJSON() ([]byte, error) {
	form := struct {
		Delays []int64 `json:"delays"`
		Then   int64   `json:"then"`
		Jitter int64   `json:"jitter,omitempty"`
	}{make([]int64, len(p.Delays)), int64(p.Then / time.Second), int64(p.Jitter / time.Second)}
	for i, d := range p.Delays {
		form.Delays[i] = int64(d / time.Second)
	}
	return json.Marshal(form)
}

// Validate reports every value out of range at once, as a [diag.Problems].
func (p Planned) Validate() error {
	var found diag.Problems
	report := func(pointer, format string, args ...any) {
		found = append(found, diag.Problem{Pointer: pointer, Message: fmt.Sprintf(format, args...)})
	}
	check := func(pointer string, d, least time.Duration) {
		if d < least || d > MaxPlannedDelay || d%time.Second != 0 {
			report(pointer, "expected whole seconds from %s to %s, found %s", least, MaxPlannedDelay, d)
		}
	}
	switch count := len(p.Delays); {
	case count == 0:
		report("/delays", noDelays)
	case count > MaxPlannedDelays:
		report("/delays", "expected at most %d delays, found %d", MaxPlannedDelays, count)
	default:
		check("/delays/0", p.Delays[0], 0)
		for i, d := range p.Delays[1:] {
			check(fmt.Sprintf("/delays/%d", i+1), d, time.Second)
		}
	}
	check("/then", p.Then, time.Second)
	check("/jitter", p.Jitter, 0)
	if found == nil && p.latestFirst() > MaxPlannedDelay {
		report("/jitter", tooLongFirst, MaxPlannedDelay, p.latestFirst())
	}
	return found.Err()
}

// Draw returns the schedule of one wait: what is drawn of the jitter, in whole seconds,
// is part of the first delay, and no jitter is left. random draws from [lo, hi], both
// included; nil draws evenly. Whoever continues a wait elsewhere needs the same draw
// each time, such as one from a hash of its name.
func (p Planned) Draw(random func(lo, hi time.Duration) time.Duration) Planned {
	if len(p.Delays) == 0 || p.Jitter < time.Second {
		return p
	}
	var drawn time.Duration
	if random == nil {
		drawn = rand.N(p.Jitter.Truncate(time.Second) + time.Second).Truncate(time.Second) //nolint:gosec // jitter needs no secrecy
	} else {
		drawn = min(max(0, random(0, p.Jitter).Round(time.Second)), p.Jitter)
	}
	p.Delays = slices.Clone(p.Delays)
	p.Delays[0] += drawn
	p.Jitter = 0
	return p
}

// Before returns the delay before call n, counted from 1.
func (p Planned) Before(n int) time.Duration {
	if n < 1 || n > len(p.Delays) {
		return p.Then
	}
	return p.Delays[n-1]
}

// CallAt returns the number of the call, counted from 1, whose time in the plan is
// nearest to a time since the start of the job; behind all that are listed, that of the
// last of them. So calls that take time, or come a little early, neither lose nor repeat
// a delay. Of a jitter that is not yet drawn it takes the middle.
func (p Planned) CallAt(elapsed time.Duration) int {
	since := elapsed - p.Before(1) - p.Jitter/2 //nolint:mnd // the middle
	for n := 2; n <= len(p.Delays); n++ {
		delay := p.Delays[n-1]
		if since < delay-delay/2 {
			return n - 1
		}
		since -= delay
	}
	return max(1, len(p.Delays))
}

// latestFirst is the longest first delay that the jitter makes.
func (p Planned) latestFirst() time.Duration { return p.Before(1) + p.Jitter }

// next is the delay after a call. Where nobody counts the calls, the time says
// which call it was.
func (p Planned) next(progress Progress) time.Duration {
	if progress.Attempts > 0 {
		return p.Before(progress.Attempts + 1)
	}
	return p.Before(p.CallAt(progress.Elapsed) + 1)
}
