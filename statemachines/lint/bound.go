package lint

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// bounds are the Choices of a loop that leave it because of a count or a time.
type bounds struct {
	loop *loop
	// counters are what the loop counts; flags hold the result of comparing a count.
	counters, flags counters
	mixed           counters // those of flags that hold it only beside a text: see findMixed
	lists           counters // those of counters that are the length of a list
	used            counters // those of lists that a slice of JSONPath makes shorter
	foreign         bool     // code or a table in the loop may count
	answered        func(s *asl.State, rule int) counters
	clock           bool // something in the machine reads the clock
	// passes are the transitions that only some turns take.
	passes map[*asl.State]map[asl.Transition]bool
	// limits are the rules that look at a bound; unsure are the limits that no trial lap decides.
	limits, unsure map[*asl.State]map[asl.Transition]bool
	// stays are the rules that compare the clock with a time that each turn sets anew: they hold in each turn or in none.
	stays      map[*asl.State]map[asl.Transition]bool
	time       bool          // a time ends the loop
	length     time.Duration // until that; 0 if it is not known
	lasting    []string      // states before the loop whose time is a part of it, and nobody knows
	timed      *laps         // until the loop is left then; nil if not known
	reversed   *asl.State    // a Choice that leaves the loop before a time, and stays in it behind that; nil for none
	never      bool          // that time does not come within a year
	renewed    bool          // by each round of an outer loop
	opened     []*loop       // see open
	once       []string      // where the first lap leads, if none comes to a second poll
	only       []string      // statuses of a job that runs in which a count ends the loop
	tried      *laps         // of a job that never ends, if they leave the loop; see tryLaps
	reset      *loop         // see findReset
	resetKnown bool
}

// newBounds finds the bounds of a loop, by the trends of its rules, and by the names that a rule compares and that the
// answer of a poll gives.
func newBounds(l *loop, trendOf func(s *asl.State, rule int) typecheck.Trend, answered func(s *asl.State, rule int) counters) *bounds {
	b := &bounds{loop: l, answered: answered, passes: map[*asl.State]map[asl.Transition]bool{}, limits: map[*asl.State]map[asl.Transition]bool{}}
	b.unsure, b.stays = map[*asl.State]map[asl.Transition]bool{}, map[*asl.State]map[asl.Transition]bool{}
	b.counters, b.flags = findCounters(l.states)
	b.lists, b.used = findLists(l.states), findUsedUp(l.states)
	b.mixed = b.findMixed(l.states)
	for _, s := range l.states {
		b.foreign = b.foreign || isForeign(s)
		if s.Task != nil && isCheckStatus(s) { // which says TIMED_OUT
			b.time, b.opened = true, []*loop{}
		}
	}
	for _, s := range l.states {
		if s.Choice != nil {
			b.choice(s, trendOf)
		}
	}
	return b
}

// isForeign tells whether a state may count where the definition does not show
// it: in code, or in a table.
func isForeign(s *asl.State) bool {
	if s.Task == nil {
		return slices.ContainsFunc(s.Flows(), countsInside)
	}
	r := asl.ParseResource(s.Task.Resource)
	_, sdk := r.SDK()
	return !sdk && r.Service != "dynamodb" || strings.EqualFold(r.Action, "updateItem") || r.Action == "invoke"
}

// countsInside tells whether a flow inside of a state may count: what it counts is in the answer of that state.
func countsInside(f *asl.Flow) bool {
	counts, _ := findCounters(f.States)
	return len(counts) > 0 || slices.ContainsFunc(f.States, isForeign)
}

// choice finds the transitions of a Choice that stay in the loop and are not
// always taken: those whose rule has a bound, and those after a rule that leaves
// the loop for one.
func (b *bounds) choice(s *asl.State, trendOf func(s *asl.State, rule int) typecheck.Trend) {
	passes, limits, unsure, stays := map[asl.Transition]bool{}, map[asl.Transition]bool{}, map[asl.Transition]bool{}, map[asl.Transition]bool{}
	left := false
	for _, way := range s.Transitions() {
		inside := b.loop.inside[way.To]
		if way.Kind == asl.TransitionRule {
			rule := readRule(&s.Choice.Rules[way.Rule])
			trend := trendOf(s, way.Rule)
			timed := isTimed(trend, inside) || trend == typecheck.NoTrend && rule.has(func(t *test) bool { return t.time })
			b.time = b.time || timed
			if trend == typecheck.Falls && !inside && len(partsOf(&s.Choice.Rules[way.Rule])) == 1 {
				b.reversed = s
			}
			unsure[way] = b.find(rule, inside, func() counters { return b.answered(s, way.Rule) }) || timed && b.foreign && trend == typecheck.NoTrend
			limits[way], stays[way] = timed || unsure[way], trend == typecheck.Stays
			left = left || limits[way] && !inside
			passes[way] = inside && (limits[way] || left)
			continue
		}
		passes[way] = inside && left
	}
	b.passes[s], b.limits[s], b.unsure[s], b.stays[s] = passes, limits, unsure, stays
}

// isLate tells whether the loop is left, by the way of that number of those that a Choice
// may take, only when its bound is reached: by a rule that looks at it, or where an
// earlier one would poll on but for it. A time that each turn sets anew is never reached.
func (b *bounds) isLate(s *asl.State, open []typecheck.Way, n int) bool {
	if b.loop.inside[open[n].To] {
		return false
	}
	looks := func(way typecheck.Way) bool { return b.limits[s][way.Transition] || b.stays[s][way.Transition] }
	return looks(open[n]) && n+1 < len(open) || slices.ContainsFunc(open[:n], func(way typecheck.Way) bool {
		return looks(way) && b.loop.inside[way.To]
	})
}

// exits are the states that the loop goes to when its bound is reached: by a rule that looks at
// it, or past one that polls on until then.
func (b *bounds) exits() []string {
	var out []string
	for _, s := range b.loop.states {
		waits := false
		for _, way := range s.Transitions() {
			switch inside := b.loop.inside[way.To]; {
			case way.Kind == asl.TransitionCatch:
			case b.limits[s][way] && inside:
				waits = true
			case !inside && (waits || b.limits[s][way]):
				out = append(out, way.To)
			}
		}
	}
	return out
}

// inside are those of some ways that stay in the loop.
func (b *bounds) inside(ways []typecheck.Way) []typecheck.Way {
	return slices.DeleteFunc(slices.Clone(ways), func(way typecheck.Way) bool { return !b.loop.inside[way.To] })
}

// isTimed tells whether a time closes a way that stays in the loop, or opens one out of it.
func isTimed(trend typecheck.Trend, inside bool) bool {
	return trend == typecheck.Moves || trend == typecheck.Grows && !inside || trend == typecheck.Falls && inside
}

// find tells whether a count in a condition bounds the loop. One that stays in the loop if
// either part holds needs a bound in both. A number of those names that a poll answers is the progress of
// the job, but for a name that says that it counts.
func (b *bounds) find(t *test, inside bool, answered func() counters) bool {
	if len(t.any) > 0 || len(t.all) > 0 {
		found, missing := false, false
		for _, part := range append(append([]*test{}, t.any...), t.all...) {
			if b.find(part, inside, answered) {
				found = true
			} else {
				missing = true
			}
		}
		return found && (len(t.any) == 0 || !inside || !missing)
	}
	counts := slices.DeleteFunc(slices.Clone(t.names), func(name string) bool { return b.lists[name] && slices.Contains(t.items, name) })
	if t.presence && b.used.has(t.names) {
		return t.holds == inside // it polls on while an item is left
	}
	if t.presence && b.lists.has(t.names) || (t.number || t.equal || t.exists) && b.counters.has(counts) || b.flags.has(t.names) {
		return true
	}
	named := (t.number || t.equal || t.flag) && counterName().MatchString(strings.Join(t.names, " "))
	return b.foreign && !t.time && (named || t.number && !answered().has(t.names))
}

// open returns what turns for ever: the loops along transitions that no bound
// stands at.
func (b *bounds) open() []*loop {
	if b.opened == nil {
		b.opened = append([]*loop{}, loops(b.loop.flow, b.loop.states, func(s *asl.State, way asl.Transition) bool {
			return !b.passes[s][way]
		})...)
	}
	return b.opened
}

// endsRunning tells whether a job that never ends leaves the loop, if no call fails.
func (b *bounds) endsRunning() bool {
	caught := func(open *loop) bool { return open.catches == nil }
	return b.tried != nil || b.time && !slices.ContainsFunc(b.open(), caught)
}

// counterName is what people call a value that limits a loop.
var counterName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`(?i)count|attempt|retr(y|ies)|iterat|remain|continue|index|tries|polls|turns|loops|expired|time[d_-]*out|exceeded|exhausted`,
	)
})
