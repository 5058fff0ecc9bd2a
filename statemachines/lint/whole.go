package lint

import (
	"fmt"
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// Whole is how the execution ends where a route does not say it: a Catch takes the failure that the route leads to, or
// another branch fails behind its success.
type Whole struct {
	Ends End // EndsSuccess, EndsFailure, or GoesOn for either
	// By is the state whose Catch takes the failure, or the Parallel with the other branch.
	By string
	// Branch are the states that fail in the other branch; nil for a Catch.
	Branch []string
}

// String says how the execution ends, and why.
func (w *Whole) String() string {
	may := map[bool]string{true: "may "}[w.Ends == GoesOn]
	if w.Branch != nil {
		fails := "fails"
		if may != "" {
			fails = "fail"
		}
		return fmt.Sprintf("%s%s by %s in another branch of %q", may, fails, quoteAny(w.Branch), w.By)
	}
	succeeds := "succeeds"
	if may != "" {
		succeeds = "succeed"
	}
	return fmt.Sprintf("%s%s by the Catch of %q", may, succeeds, w.By)
}

// equal tells whether both say the same.
func (w *Whole) equal(o *Whole) bool {
	if w == nil || o == nil {
		return w == o
	}
	return w.Ends == o.Ends && w.By == o.By && slices.Equal(w.Branch, o.Branch)
}

// addWholes adds to the rows, their forks and the errors of a table how the execution ends.
func (c *checker) addWholes(r *reading) {
	if r.status == nil {
		return
	}
	trunk := r.trunk()
	for i := range r.Rows {
		row := &r.Rows[i]
		if row.Mixed || row.FailsAt != "" || row.endsOtherwise() {
			continue
		}
		values := row.Values
		if len(values) == 0 {
			values = []string{anyOther}
		}
		var taken []route
		for _, value := range values {
			taken = append(taken, r.takenBy(value)...)
		}
		row.Whole = c.wholeOf(r, row.Ends, taken)
		for n := range row.Forks {
			fork := &row.Forks[n]
			fork.Whole = c.wholeOf(r, fork.Ends, slices.DeleteFunc(slices.Clone(taken), func(way route) bool {
				return !slices.Contains(r.targetsOf([]route{way}, trunk), fork.Route)
			}))
		}
	}
}

// executionEnds says how the execution ends behind a route.
func (c *checker) executionEnds(r *reading, way route) string {
	if whole := c.wholeOf(r, way.ends, []route{way}); whole != nil {
		return whole.String()
	}
	return doesOf[way.ends]
}

// wholeOf is how the execution ends behind routes that all have one end; nil if as they do, or if that is not known.
func (c *checker) wholeOf(r *reading, end End, routes []route) *Whole {
	var all *Whole
	for i, way := range routes {
		var one *Whole
		switch {
		case way.ends != end || way.failed != nil:
			return nil
		case end == EndsFailure:
			one = c.takenUp(r.Flow, r.States, way.leaf)
		case end == EndsSuccess:
			one = c.failsBeside(r.Flow)
		}
		switch {
		case i == 0:
			all = one
		case one == nil && all != nil:
			all = &Whole{GoesOn, all.By, all.Branch}
		case one != nil && !one.equal(all):
			all = &Whole{GoesOn, one.By, one.Branch}
		}
	}
	return all
}

// takenUp is how the execution ends behind a state outside of a loop that leads to failures of its flow; nil if it fails, or
// nobody knows. It is a nil state behind a Choice without a rule, whose States.Runtime no Catch takes.
func (c *checker) takenUp(f *asl.Flow, loop []*asl.State, leaf *asl.State) *Whole {
	if leaf == nil {
		return nil
	}
	behind := c.behind(f, leaf)
	if s := c.findRescue(f, loop, behind); s != nil {
		return &Whole{Ends: GoesOn, By: s.Name}
	}
	errors := errorsOf(behind)
	if len(errors) == 0 {
		return nil
	}
	end, by := c.endOutside(f, errors)
	if end != EndsSuccess && end != GoesOn {
		return nil
	}
	return &Whole{Ends: end, By: by.Name}
}

// retriedBy are the states around a flow whose Retry takes an error of one of its Fail states.
func (c *checker) retriedBy(f *asl.Flow) []string {
	o, inner := c.outsides[f]
	if !inner {
		return nil
	}
	var names []string
	for errors := errorsOf(f.States); inner && len(errors) > 0; o, inner = c.outsides[o.flow] {
		if m := o.state.Map; m != nil && m.Distributed {
			errors = []string{errorThreshold}
		}
		if slices.ContainsFunc(o.state.Retry, func(r asl.Retrier) bool { return r.MaxAttempts > 0 && mayTake(r.ErrorEquals, errors) }) {
			names = append(names, o.state.Name)
		}
		errors = slices.DeleteFunc(slices.Clone(errors), func(name string) bool {
			return slices.ContainsFunc(o.state.Catch, func(k asl.Catcher) bool { return takes(k.ErrorEquals, []string{name}) })
		})
	}
	return names
}

// errorsOf are the errors of the Fail states among some states; an empty one is not known.
func errorsOf(states []*asl.State) []string {
	var errors []string
	for _, s := range states {
		if s.Fail != nil {
			errors = append(errors, errorOf(s))
		}
	}
	return compact(errors)
}

// findRescue is the first of some states whose Catch leads to a success of the flow, and not into the loop; nil if there is none.
func (c *checker) findRescue(f *asl.Flow, loop, states []*asl.State) *asl.State {
	for _, s := range states {
		for _, catcher := range s.Catch {
			next := f.State(catcher.Next)
			if next != nil && !slices.Contains(loop, next) && c.waysOf(f).end(next) == EndsSuccess {
				return s
			}
		}
	}
	return nil
}

// errorThreshold is the error of a Distributed Map of whose items too many fail.
const errorThreshold = "States.ExceedToleratedFailureThreshold"

// maxBehindCatch is how many states are followed behind a Catch.
const maxBehindCatch = 12

// failsBeside is how the execution ends when a flow has succeeded beside a branch that always fails; nil if there is none, or if
// the execution may succeed all the same.
func (c *checker) failsBeside(f *asl.Flow) *Whole {
	for o, inner := c.outsides[f]; inner; o, inner = c.outsides[f] {
		for _, branch := range o.state.Flows() {
			if branch == f || c.maySucceed(branch) || c.timerIn(branch, o) == nil {
				continue
			}
			ends := c.fateOf(branch)
			end, _ := c.endOutside(branch, ends.errors)
			if end != EndsFailure && end != GoesOn {
				return nil
			}
			return &Whole{Ends: end, By: o.state.Name, Branch: namesOfStates(ends.fails)}
		}
		f = o.flow
	}
	return nil
}

// namesOfStates are the names of states.
func namesOfStates(states []*asl.State) []string {
	names := make([]string, len(states))
	for i, s := range states {
		names[i] = s.Name
	}
	return names
}

// endsOtherwise tells whether a job that has ended one way leads to the other, or to one more poll.
func (r *Row) endsOtherwise() bool {
	return r.Meaning == MeansFailure && (r.Ends == EndsSuccess || r.Ends == PollsOn) ||
		r.Meaning == MeansSuccess && (r.Ends == EndsFailure || r.Ends == PollsOn)
}
