package lint

import (
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

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
