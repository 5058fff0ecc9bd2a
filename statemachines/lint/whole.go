package lint

import (
	"fmt"
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
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

// behind are a state and what follows it without errors.
func (c *checker) behind(f *asl.Flow, s *asl.State) []*asl.State {
	all := []*asl.State{s}
	for i := 0; i < len(all); i++ {
		for _, way := range c.waysOut(all[i]) {
			next := f.State(way.To)
			if next != nil && (way.Kind != asl.TransitionCatch || c.failsInside(all[i])) && !slices.Contains(all, next) {
				all = append(all, next)
			}
		}
	}
	return all
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

// errorOf is the error of a Fail state; empty if it is not known.
func errorOf(s *asl.State) string {
	if s.Fail.Error == nil {
		return ""
	}
	name, _ := s.Fail.Error.Literal.(string)
	return name
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

// endOutside is how the execution ends when a flow fails with one of some errors, and the state whose Catch leads there; no state
// if no Catch takes the error, and no end if nobody knows.
func (c *checker) endOutside(f *asl.Flow, errors []string) (end End, by *asl.State) {
	for o, inner := c.outsides[f]; inner; o, inner = c.outsides[o.flow] {
		if m := o.state.Map; m != nil {
			if m.ToleratedFailureCount != nil || m.ToleratedFailurePercentage != nil {
				return "", nil
			}
			if m.Distributed {
				errors = []string{errorThreshold}
			}
		}
		ends, left := map[End]bool{}, []string(nil)
		for _, name := range errors {
			i := slices.IndexFunc(o.state.Catch, func(k asl.Catcher) bool { return mayTake(k.ErrorEquals, []string{name}) })
			switch {
			case i < 0:
				left = append(left, name)
			case !takes(o.state.Catch[i].ErrorEquals, []string{name}):
				return "", nil
			default:
				ends[c.endOfCatch(o.flow, o.state, i, name)] = true
			}
		}
		switch {
		case len(left) == len(errors):
			continue
		case len(ends) > 1 || len(left) > 0 && !ends[EndsFailure]:
			return GoesOn, o.state
		case ends[EndsFailure]:
			errors = append(slices.Clip(left), "") // of the Fail states that the Catch leads to
			continue
		}
		for end := range ends {
			return c.outsideOf(o.flow).doubt(MeansFailure, end), o.state
		}
	}
	return EndsFailure, nil
}

// errorThreshold is the error of a Distributed Map of whose items too many fail.
const errorThreshold = "States.ExceedToleratedFailureThreshold"

// endOfCatch is how a flow ends if a catcher of a Map or Parallel takes an error, which may be empty, and all Tasks behind it go
// well; GoesOn if it may be either, or if it runs the state again.
func (c *checker) endOfCatch(f *asl.Flow, s *asl.State, catcher int, name string) End {
	k := s.Catch[catcher]
	next := f.State(k.Next)
	behind := c.behind(f, next)
	if slices.Contains(behind, s) || slices.ContainsFunc(behind, func(s *asl.State) bool { return raises(s) || c.failsInside(s) }) {
		return GoesOn
	}
	env := c.types.Input(next)
	if path, known := errorMember(s, &k); known && name != "" {
		if narrowed := env.Narrow("", path, name); narrowed.IsReachable() {
			env = narrowed
		}
	}
	left := maxBehindCatch
	return c.endFrom(f, next, env, &left)
}

// maxBehindCatch is how many states are followed behind a Catch.
const maxBehindCatch = 12

// errorMember is where the name of an error is that a catcher takes, in the input of the state that it leads to.
func errorMember(s *asl.State, k *asl.Catcher) (path []string, known bool) {
	switch {
	case s.QueryLanguage == asl.JSONata:
		return []string{"Error"}, k.Output == nil
	case k.ResultPath == nil:
		return nil, false
	default:
		return append(slices.Clone(stepsFrom(k.ResultPath)), "Error"), true
	}
}

// endFrom is how a flow ends from a state on, if all Tasks go well.
func (c *checker) endFrom(f *asl.Flow, s *asl.State, env typecheck.Env, left *int) End {
	if end := c.waysOf(f).end(s); end != GoesOn {
		return end
	}
	if *left--; *left < 0 {
		return GoesOn
	}
	end := End("")
	for _, way := range c.types.Step(s, env, c.types.Result(s)) {
		one := EndsSuccess
		switch {
		case way.Kind == asl.TransitionCatch:
			continue
		case !way.End:
			one = c.endFrom(f, f.State(way.To), way.Env, left)
		}
		if end != "" && one != end {
			return GoesOn
		}
		end = one
	}
	if end == "" {
		return GoesOn
	}
	return end
}

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
