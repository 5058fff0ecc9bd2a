package lint

import (
	"fmt"
	"slices"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// timer is a branch of a Parallel that surely fails, and so ends what runs in the other branches.
type timer struct {
	around *asl.State // the Parallel
	fails  []*asl.State
	// least and most are how long that takes from the start of the execution. open tells that the definition does not say.
	least, most time.Duration
	open        bool
	// route is where a Catch leads then, and ends how that ends; route is empty if nothing takes
	// the error, or it is not known what does.
	route string
	ends  End
}

// timerOf is the first timer beside a flow, or beside a state that the flow is inside of; nil if
// there is none.
func (c *checker) timerOf(f *asl.Flow) *timer {
	o, inner := c.outsides[f]
	if !inner {
		return nil
	}
	if first, known := c.timers[f]; known {
		return first
	}
	first := c.timerOf(o.flow)
	ahead := c.leadTo(o.flow, map[string]bool{o.state.Name: true}).wait
	for _, branch := range o.state.Flows() {
		if branch == f {
			continue
		}
		t := c.timerIn(branch, o)
		if t == nil {
			continue
		}
		if t.least, t.most = t.least+ahead, min(t.most+ahead, asl.MaxStandardTime); t.isBefore(first) {
			first = t
		}
	}
	c.timers[f] = first
	return first
}

// isBefore tells whether a timer is over before another, as far as that is known.
func (t *timer) isBefore(other *timer) bool {
	return other == nil || !t.open && (other.open || t.most < other.most)
}

// timerIn is a branch as a timer; nil if it may succeed, or may never end, or if what takes its
// failure starts the Parallel again and again.
func (c *checker) timerIn(branch *asl.Flow, o outside) *timer {
	if c.maySucceed(branch) {
		return nil
	}
	ends := c.fateOf(branch)
	if ends.endless || len(ends.fails) == 0 {
		return nil
	}
	t := &timer{around: o.state, fails: ends.fails, least: ends.least, most: ends.most, open: ends.open, ends: EndsFailure}
	for inner := true; inner; o, inner = c.outsides[o.flow] {
		t.addRetries(o.state, ends.errors)
		i := slices.IndexFunc(o.state.Catch, func(k asl.Catcher) bool { return mayTake(k.ErrorEquals, ends.errors) })
		switch {
		case i >= 0 && c.comesAgain(o, i):
			return nil
		case i >= 0 && takes(o.state.Catch[i].ErrorEquals, ends.errors):
			t.route = o.state.Catch[i].Next
			t.ends = c.outsideOf(o.flow).doubt(MeansUnknown, c.waysOf(o.flow).end(o.flow.State(t.route)))
			if end, _ := c.endOutside(branch, ends.errors); t.ends == GoesOn && end != "" {
				t.ends = end
			}
			return t
		case i >= 0 || o.state.Map != nil:
			t.ends = ""
			return t
		}
	}
	return t
}

// addRetries adds the runs of a state that its Retry makes when the timer is over.
func (t *timer) addRetries(s *asl.State, errors []string) {
	i := slices.IndexFunc(s.Retry, func(r asl.Retrier) bool { return mayTake(r.ErrorEquals, errors) })
	if i < 0 {
		return
	}
	one, r := t.most, s.Retry[i]
	for n := int64(1); n <= r.MaxAttempts && t.most < asl.MaxStandardTime; n++ {
		t.most += one + max(delayOf(r, n), time.Second)
	}
	t.most = min(t.most, asl.MaxStandardTime)
}

// comesAgain tells whether a Catch leads back to its state, and nothing bounds how often.
func (c *checker) comesAgain(o outside, catcher int) bool {
	for _, l := range loops(o.flow, o.flow.States, every) {
		if !l.inside[o.state.Name] {
			continue
		}
		b := c.boundsOf(l)
		for _, open := range loops(l.flow, l.states, func(s *asl.State, way asl.Transition) bool {
			caught := way.Kind == asl.TransitionCatch && way.Rule == catcher
			return !b.passes[s][way] && (s != o.state || caught)
		}) {
			if open.inside[o.state.Name] {
				return true
			}
		}
	}
	return false
}

// bound is the timer as a bound.
func (t *timer) bound() Bound {
	b := Bound{Kind: ByBranch, By: []string{t.around.Name}, Route: t.route, Ends: t.ends, AtMost: t.least < t.most}
	for _, s := range t.fails {
		b.At = append(b.At, s.Name)
	}
	if !t.open {
		b.After = t.most
	}
	return b
}

// limit ends an execution or a flow from outside of the loop: TimeoutSeconds, or a branch that fails.
type limit struct {
	kind  BoundKind     // ByTimeout or ByBranch; Unbounded for none
	after time.Duration // 0 if the definition does not say
	timer *timer        // of the flow, even where TimeoutSeconds is over before
}

// limitOf is the limit of a flow that comes first, one whose time is known before others.
func (c *checker) limitOf(f *asl.Flow) limit {
	l := limit{Unbounded, time.Duration(c.machine.TimeoutSeconds) * time.Second, c.timerOf(f)}
	switch timer := l.timer; {
	case timer != nil && !timer.open && (l.after == 0 || timer.most < l.after):
		l.kind, l.after = ByBranch, timer.most
	case l.after > 0 || c.machine.OpenTimeout:
		l.kind = ByTimeout
	case timer != nil:
		l.kind = ByBranch
	}
	return l
}

// String names the limit.
func (l limit) String() string {
	if l.kind == ByBranch {
		return fmt.Sprintf("the branch of %q that fails in %s", l.timer.around.Name, quoteAny(l.timer.bound().At))
	}
	return "\"TimeoutSeconds\""
}

// isOpen tells whether there is a limit at a time that the definition does not say.
func (l limit) isOpen() bool { return l.kind != Unbounded && l.after == 0 }

// addTo says in a bound which branch it is, or that a branch may end the loop before it.
func (l limit) addTo(b *Bound) {
	switch {
	case l.timer == nil:
	case b.Kind == ByBranch:
		by := l.timer.bound()
		b.At, b.By, b.Route, b.Ends, b.AtMost = by.At, by.By, by.Route, by.Ends, b.AtMost || by.AtMost
	case b.Kind != Unbounded && (b.After == 0 || l.timer.open):
		by := l.timer.bound()
		b.Beside = &by
	}
}
