package lint

import "github.com/jobpoller/jobpoller/statemachines/asl"

// ways are how the states of a flow hang together.
type ways struct {
	before           map[string][]*asl.State // what leads to a state
	success, failure map[string]bool         // the states that can reach such an end but by errors
	quiet            bool                    // an execution in which the flow succeeds does so, too
}

func (c *checker) waysOf(f *asl.Flow) *ways {
	w := c.ways[f]
	if w == nil {
		w = newWays(f)
		w.quiet = c.outsideOf(f).quiet
		c.ways[f] = w
	}
	return w
}

func newWays(f *asl.Flow) *ways {
	w := &ways{before: map[string][]*asl.State{}}
	steps := map[string][]string{}
	var success, failure []string
	for _, s := range f.States {
		switch {
		case s.Type == asl.TypeFail:
			failure = append(failure, s.Name)
		case s.Type == asl.TypeSucceed || s.End:
			success = append(success, s.Name)
		}
		for _, way := range s.Transitions() {
			w.before[way.To] = append(w.before[way.To], s)
			if way.Kind != asl.TransitionCatch {
				steps[way.To] = append(steps[way.To], s.Name)
			}
		}
	}
	w.success, w.failure = reach(steps, success), reach(steps, failure)
	return w
}

// reach returns what leads to names.
func reach(before map[string][]string, names []string) map[string]bool {
	reached := map[string]bool{}
	for len(names) > 0 {
		last := names[len(names)-1]
		names = names[:len(names)-1]
		if !reached[last] {
			reached[last] = true
			names = append(names, before[last]...)
		}
	}
	return reached
}

// end returns the end of a state if all its ways have the same, else GoesOn.
func (w *ways) end(s *asl.State) End {
	switch {
	case w.success[s.Name] && !w.failure[s.Name]:
		return EndsSuccess
	case w.failure[s.Name] && !w.success[s.Name]:
		return EndsFailure
	default:
		return GoesOn
	}
}
