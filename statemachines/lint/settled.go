package lint

import (
	"cmp"
	"slices"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// firstLaps are the laps of a job that runs before all are alike.
type firstLaps struct {
	polls, events, transitions int
	wait                       time.Duration
}

// settleLaps finds the lap that a job which runs takes for ever, where a count chooses between several Waits: the loop
// turns so, behind the laps that lead to it.
func (c *checker) settleLaps(l *loop, r *reading) {
	shortest := func(a, b Turn) int { return cmp.Compare(a.Wait, b.Wait) }
	if len(r.Laps) == 0 || slices.MinFunc(r.Laps, shortest).Wait == slices.MaxFunc(r.Laps, shortest).Wait {
		return
	}
	values, entries := r.pollingValues(), c.entriesOf(l)
	if len(entries) != 1 || slices.ContainsFunc(values, func(value string) bool { return pathsOf(r.routes[value]) != pathsOf(r.routes[values[0]]) }) {
		return // the status decides, too
	}
	from, run := entries[0], lapRun{loop: l, reading: r, value: values[0]}
	if run.endless = c.boundsOf(l).clock; run.endless {
		from.env = from.env.At(typecheck.SomeTime) // a deadline may be over, and else chooses nothing
	}
	if turn, ok := c.settledLap(&run, from); ok {
		turn.Shortest = slices.MinFunc(r.Laps, shortest).Wait
		r.Turn, r.Laps = turn, nil
	}
}

// settledLap is the lap that a run takes for ever; not ok if it leaves the loop, or goes several ways.
func (c *checker) settledLap(run *lapRun, from entry) (Turn, bool) {
	var at []laps // each poll
	for run.follow(&path{at: from}); ; run.open, run.polling, run.left = run.polling, nil, nil {
		if !run.lap(c) || len(run.polling) != 1 || run.left != nil && !run.endless {
			return Turn{}, false
		}
		p := run.polling[0]
		if at = append(at, p.laps); p.untold || p.atMost {
			return Turn{}, false
		}
		if p.events > asl.MaxEvents {
			break
		}
		p.polls++
	}
	n := len(at) - 1 // laps
	events, seconds := at[n].events-at[n-1].events, at[n].seconds-at[n-1].seconds
	first := n
	for first > 0 && at[first].events-at[first-1].events == events && at[first].seconds-at[first-1].seconds == seconds {
		first--
	}
	i := slices.IndexFunc(run.reading.Laps, func(t Turn) bool { return t.Events == events && t.Wait.Seconds() == seconds })
	if first > n/2 || i < 0 {
		return Turn{}, false
	}
	turn := run.reading.Laps[i]
	turn.first = firstLaps{
		first, at[first].events - at[0].events, at[first].transitions - at[0].transitions,
		time.Duration((at[first].seconds - at[0].seconds) * float64(time.Second)),
	}
	return turn, true
}

// settledTurn is the turn of a loop that its table settles on, or else the one given.
func settledTurn(tables []*reading, l *loop, turn Turn) Turn {
	for _, r := range tables {
		if r.Turn.Shortest > 0 && l.inside[r.Poll.Name] && len(r.inner.states) == len(l.states) {
			return r.Turn
		}
	}
	return turn
}
