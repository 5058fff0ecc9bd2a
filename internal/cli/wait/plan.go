package wait

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// Pace is when a schedule polls a job that does not end, and how late it sees the end
// of one that may end at any time until the deadline.
type Pace struct {
	Polls       int     `json:"polls"`
	MeanSeconds float64 `json:"meanLateSeconds"`
	MaxSeconds  float64 `json:"maxLateSeconds"`

	schedule pollcore.Schedule
}

// mostCounted is how many polls are counted one by one. All later ones have the
// longest delay between them.
const mostCounted = 10_000

// NewPace counts the polls of a schedule, with the mean of each delay that is drawn.
func NewPace(s pollcore.Schedule) Pace {
	s.Random = func(lo, hi time.Duration) time.Duration { return lo + (hi-lo)/2 } //nolint:mnd // the middle
	p := Pace{Polls: 1, schedule: s}
	soonest, longest := s.FirstBounds()
	s = s.Begin()
	last := s.Max // of the delays, before the deadline cuts one
	if s.Planned != nil {
		last = s.Planned.Then
	}
	elapsed, spread := s.First(), (longest - soonest).Seconds()
	squares := elapsed.Seconds()*elapsed.Seconds() + spread*spread/12 //nolint:mnd // of an even draw
	for elapsed < s.Total {
		now := pollcore.Progress{Attempts: p.Polls, Elapsed: elapsed}
		next := s.Next(pollcore.Retry, now)
		if next.Status != pollcore.Running {
			break
		}
		_, hi := s.Bounds(now)
		longest = max(longest, min(hi, s.Total-elapsed), next.Delay)
		more := 1
		if left := int((s.Total - elapsed) / last); p.Polls >= mostCounted && next.Delay == last && left > 1 {
			more = left
		}
		p.Polls += more
		elapsed += time.Duration(more) * next.Delay
		squares += float64(more) * next.Delay.Seconds() * next.Delay.Seconds()
	}
	if elapsed > 0 {
		p.MeanSeconds = squares / 2 / elapsed.Seconds() //nolint:mnd // of an end at any time within a delay
	}
	p.MaxSeconds = longest.Seconds()
	return p
}

// Late says how late the schedule sees the end of a job.
func (p Pace) Late() string {
	return fmt.Sprintf("sees the end of a job %s later on average, %s at most", roundSeconds(p.MeanSeconds), roundSeconds(p.MaxSeconds))
}

// pollsText says when the schedule polls.
func (p Pace) pollsText() string {
	s, text := p.schedule, "at once"
	if low, high := s.FirstBounds(); high > low {
		text = fmt.Sprintf("after %s to %s, drawn once", kit.ShortDuration(low), kit.ShortDuration(high))
	} else if low > 0 {
		text = "after " + kit.ShortDuration(low)
	}
	switch {
	case p.Polls == 1:
		return text + ", and not again"
	case s.Planned != nil:
		text += fmt.Sprintf(", then after the delays of the schedule, at last every %s", kit.ShortDuration(s.Planned.Then))
	case s.Max > s.Min:
		text += fmt.Sprintf(", again after %s, then less and less often, up to every %s", kit.ShortDuration(s.Min), kit.ShortDuration(s.Max))
	default:
		text += ", then every " + kit.ShortDuration(s.Min)
	}
	return fmt.Sprintf("%s: about %s in %s", text, kit.Plural(p.Polls, "poll"), kit.ShortDuration(s.Total))
}

// roundSeconds writes a time with as many digits as help.
func roundSeconds(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	if d >= 10*time.Second {
		return kit.ShortDuration(d.Round(time.Second))
	}
	return kit.ShortDuration(d.Round(100 * time.Millisecond)) //nolint:mnd // a tenth of a second
}

// waitPlan is what a wait would do. Its JSON members are a contract: see
// docs/reference/json.md.
type waitPlan struct {
	Pace

	Service        string        `json:"service"`
	Name           string        `json:"name"`
	Operation      string        `json:"operation"`
	Waits          []plannedWait `json:"waits"`
	MaxWaitSeconds float64       `json:"maxWaitSeconds"`
}

type plannedWait struct {
	ID    string `json:"id,omitempty"`
	Input any    `json:"input"`
}

// printPlan says what the wait would do.
func (o *waitOptions) printPlan(out io.Writer, e *catalog.Entry, targets []Target) error {
	plan := waitPlan{
		Service: e.Service.Key, Name: e.Name, Operation: e.Operation.Name, MaxWaitSeconds: o.maxWait.Seconds(),
		Pace: NewPace(o.schedule(e)),
	}
	for _, t := range targets {
		plan.Waits = append(plan.Waits, plannedWait{t.id, t.Input})
	}
	var err error
	if o.output == "json" {
		err = kit.WriteJSON(out, plan)
	} else {
		_, err = io.WriteString(out, plan.text())
	}
	if err != nil {
		return kit.WithCode(kit.ExitFailed, err)
	}
	return nil
}

func (p *waitPlan) text() string {
	var b strings.Builder
	terminal.Fprintf(&b, "%s %s: nothing was called\n", p.Service, p.Name)
	row := func(name, text string) { terminal.Fprintf(&b, "  %-7s %s\n", name, text) }
	for _, w := range p.Waits {
		text, err := json.Marshal(w.Input)
		if err != nil {
			panic(err) // it was JSON
		}
		row("call", p.Operation+" "+string(text))
	}
	row("polls", p.pollsText())
	row("late", p.Late())
	return b.String()
}
