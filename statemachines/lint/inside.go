package lint

import (
	"fmt"
	"slices"

	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// hidesInside checks that a Map or Parallel does not turn the failures of the jobs that are polled
// inside of it into a success.
func (c *checker) hidesInside(f *asl.Flow, s *asl.State, inside []Loop) {
	failing := slices.IndexFunc(inside, func(l Loop) bool {
		return isExposed(s, l.Flow) && (l.Unjudged != "" && hasFail(l.Flow) ||
			slices.ContainsFunc(l.Rows, func(row Row) bool { return row.Meaning == MeansFailure && row.Ends == EndsFailure }))
	})
	if failing < 0 {
		return
	}
	if isTolerant(s) && (s.End || succeeds(f, s.Next)) {
		c.report(HiddenFailure, s, "/ToleratedFailurePercentage", "%s fails its item alone: the Map tolerates that all items fail, "+
			"and nothing behind it looks at them; lower \"ToleratedFailurePercentage\", or look at the counts of the map run", sayFailure("a", &inside[failing], s))
	}
	for i, catcher := range s.Catch {
		if !catchesInside(s, catcher.ErrorEquals) {
			continue
		}
		if c.outsideOf(f).quiet && c.endOfCatch(f, s, i, "") == EndsSuccess {
			where, advice := "where", "lead"
			if !succeeds(f, catcher.Next) {
				where, advice = "behind which", "lead on"
			}
			c.report(HiddenFailure, s, fmt.Sprintf("/Catch/%d/Next", i), "%s leads to %q, "+
				"%s the execution succeeds whether or not the job did; %s to a Fail state", sayFailure("every", &inside[failing], s), catcher.Next, where, advice)
		}
		return
	}
}

// failsInBranch checks that no branch of a Parallel always fails beside a job that another branch polls: the Parallel waits for
// all branches, also when the job has succeeded.
func (c *checker) failsInBranch(s *asl.State, inside []Loop) {
	for i := range inside {
		l := &inside[i]
		j := slices.IndexFunc(l.Rows, func(row Row) bool {
			return row.Meaning == MeansSuccess && row.Whole != nil && row.Whole.By == s.Name && row.Whole.Ends == EndsFailure
		})
		if j < 0 {
			continue
		}
		c.reportAs(diag.Danger, FailingBranch, s, "", "the branch that ends in %s always fails, also when the job that %q polls has succeeded: "+
			"%q waits for all branches, and then the execution fails; bound the loop by \"TimeoutSeconds\" or a count of its polls, "+
			"or let its success end the other branch, by a Fail state whose error a Catch takes", quoteAny(l.Rows[j].Whole.Branch), l.Poll.Name, s.Name)
		return
	}
}

// sayFailure names the failures of a loop inside of a state.
func sayFailure(which string, l *Loop, s *asl.State) string {
	if l.Poll == nil {
		return fmt.Sprintf("%s failure inside of %q", which, s.Name)
	}
	return fmt.Sprintf("%s failure of the job that %q polls", which, l.Poll.Name)
}

// hasFail tells whether a flow has a Fail state.
func hasFail(f *asl.Flow) bool {
	return slices.ContainsFunc(f.States, func(s *asl.State) bool { return s.Fail != nil })
}

// isTolerant tells whether a Map succeeds even if all of its items fail, and writes down nowhere which do.
func isTolerant(s *asl.State) bool {
	const all = 100
	if s.Map == nil || s.Map.ToleratedFailurePercentage == nil || s.Map.ToleratedFailureCount != nil || s.Map.ResultWriter != nil {
		return false
	}
	percent, _ := s.Map.ToleratedFailurePercentage.Literal.(float64)
	return percent == all
}

// isExposed tells whether no Catch inside of a state takes what fails in a flow there.
func isExposed(s *asl.State, flow *asl.Flow) bool {
	return slices.ContainsFunc(s.Flows(), func(f *asl.Flow) bool {
		return f == flow || slices.ContainsFunc(f.States, func(inner *asl.State) bool {
			return isExposed(inner, flow) && !slices.ContainsFunc(inner.Catch, func(catcher asl.Catcher) bool {
				return catchesInside(inner, catcher.ErrorEquals)
			})
		})
	})
}

// catchesInside tells whether a Catch of a Map or Parallel takes the failures of its items or branches.
func catchesInside(s *asl.State, names []string) bool {
	return takesAll(names) || s.Map != nil && s.Map.Distributed && slices.Contains(names, errorThreshold)
}

// repeatsInside checks that a Retry of a Map or Parallel does not start jobs inside of it twice: it
// runs all of it again, and a job that has started runs on.
func (c *checker) repeatsInside(s *asl.State) {
	i := slices.IndexFunc(s.Retry, func(r asl.Retrier) bool { return r.MaxAttempts > 0 && takesInside(s, r.ErrorEquals) })
	if i < 0 {
		return
	}
	start := findRepeated(s)
	if start == nil {
		return
	}
	what := "all branches"
	switch {
	case s.Map != nil:
		what = "all items"
	case len(s.Flows()) == 1:
		what = "the branch"
	}
	c.report(RepeatedStart, s, fmt.Sprintf("/Retry/%d", i), "the retrier runs %s again after one error, and %q starts a job again "+
		"that may run or have succeeded; retry the Tasks inside, or give the start call a token or a name that is the same in each attempt", what, start.Name)
}

// takesInside tells whether a retrier takes an error that comes when something inside of a state
// has begun. A name at a Parallel may be that of the start call alone.
func takesInside(s *asl.State, names []string) bool {
	if s.Map == nil {
		return takesAll(names)
	}
	return slices.ContainsFunc(names, func(name string) bool { return name != "States.ItemReaderFailed" })
}

// findRepeated is the first Task inside of a state that starts a second job if it is called again,
// and does not wait for it; nil if there is none.
func findRepeated(s *asl.State) *asl.State {
	for _, f := range s.Flows() {
		for _, inner := range f.States {
			if found := findRepeated(inner); found != nil {
				return found
			}
			if inner.Task == nil {
				continue
			}
			r := asl.ParseResource(inner.Task.Resource)
			if e := findStarted(r); r.Pattern == "" && e != nil && startsSecond(inner, e) {
				return inner
			}
		}
	}
	return nil
}
