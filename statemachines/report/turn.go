package report

import (
	"cmp"
	"slices"
	"time"

	"github.com/jobpoller/jobpoller/internal/fold"
	"github.com/jobpoller/jobpoller/statemachines/history"
)

// group is visits that follow one another: one turn of a loop, or several that are
// equal but for their data.
type group struct {
	// turns are equally long.
	turns [][]*history.Visit
	// poll is the first poll of each turn; nil if the turns do not poll.
	polls []*history.Poll
}

// first is the first turn.
func (g *group) first() []*history.Visit { return g.turns[0] }

// start and end are those of the group.
func (g *group) start() time.Time { return g.turns[0][0].Start }

func (g *group) end() time.Time {
	last := g.turns[len(g.turns)-1]
	return last[len(last)-1].End
}

// every says how long it is from one turn to the next: always, to a tenth of a
// second, or on average. It is empty where the times go back.
func (g *group) every() string {
	n := len(g.turns)
	if n < 2 {
		return ""
	}
	mean := g.turns[n-1][0].Start.Sub(g.start()) / time.Duration(n-1)
	steady := true
	for i := 1; i < n; i++ {
		took := g.turns[i][0].Start.Sub(g.turns[i-1][0].Start)
		if took < 0 {
			return ""
		}
		steady = steady && (took-mean).Abs() < 100*time.Millisecond
	}
	if !steady {
		return "every " + FormatDuration(mean) + " on average"
	}
	return "every " + FormatDuration(mean)
}

// untitled is the title of an execution without one.
const untitled = "Execution"

// Mood is the class of the colour of a status.
func Mood(status string) string {
	switch status {
	case history.StatusSucceeded:
		return "good"
	case history.StatusRunning:
		return "open"
	default:
		return "bad"
	}
}

// describeEnd says how an execution ended, and after what time.
func describeEnd(e *history.Execution) string {
	status := cut(e.Status, mostName)
	if !e.HasEnded() {
		return status + ", " + FormatDuration(e.Duration()) + " after its start"
	}
	return status + " after " + FormatDuration(e.Duration())
}

// nameOf is the name of a visited state, no longer than AWS lets one be.
func nameOf(v *history.Visit) string {
	return cut(cmp.Or(v.State, "(a state entered before)"), mostName)
}

// eventID is the ID of an event of a visit by its place; 0 if it is one of a child
// execution, whose events are not those of the page.
func eventID(e *history.Execution, v *history.Visit, place int) int64 {
	if v.Execution != e {
		return 0
	}
	return e.Events[place].ID
}

// strand is the visits that follow one another in one branch or iteration.
type strand struct {
	id     int64
	groups []*group
}

// likeness is what a visit has in common with its like in another turn.
type likeness struct {
	state, failure, status string
	verdict                history.Verdict
	attempts               int
	open                   bool
}

// foldVisits folds the visits of each strand.
func foldVisits(all []*history.Visit, polls map[*history.Visit]*history.Poll) []*strand {
	byID := map[int64][]*history.Visit{}
	var order []int64
	for _, v := range all {
		if byID[v.Strand] == nil {
			order = append(order, v.Strand)
		}
		byID[v.Strand] = append(byID[v.Strand], v)
	}
	var strands []*strand
	for _, id := range order {
		visits := byID[id]
		keys := make([]likeness, len(visits))
		for i, v := range visits {
			keys[i] = likeness{state: v.State, failure: v.Error, attempts: len(v.Attempts), open: v.Open}
			if p := polls[v]; p != nil {
				keys[i].status, keys[i].verdict = p.Status, p.Verdict
			}
		}
		s := &strand{id: id}
		done := 0
		for _, part := range fold.Loops(keys) {
			g := &group{}
			for range part.Times {
				turn := visits[done : done+part.Size]
				g.turns = append(g.turns, turn)
				if i := slices.IndexFunc(turn, func(v *history.Visit) bool { return polls[v] != nil }); i >= 0 {
					g.polls = append(g.polls, polls[turn[i]])
				}
				done += part.Size
			}
			s.groups = append(s.groups, g)
		}
		strands = append(strands, s)
	}
	return strands
}
