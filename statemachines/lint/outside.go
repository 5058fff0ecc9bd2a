package lint

import (
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// outside is what follows a flow that has succeeded.
type outside struct {
	inner bool // the flow is an item of a Map or a branch of a Parallel
	// flow has the state that the flow is inside of; nil if it is inside of none.
	flow  *asl.Flow
	state *asl.State
	// quiet tells that the execution succeeds then, with nothing done before.
	quiet bool
	// ignored tells that the outputs of other branches are looked at, and not that of the flow.
	ignored bool
	// dropped tells that nothing outside sees the output of the flow.
	dropped bool
	// caught are the errors that a Catch outside takes.
	caught []string
}

// enterFlows notes what follows the flows inside of the states of another.
func (c *checker) enterFlows(f *asl.Flow) {
	for _, s := range f.States {
		for i, inner := range s.Flows() {
			c.enterFlow(inner, f, s, i)
			c.enterFlows(inner)
		}
	}
}

// enterFlow notes what follows a flow inside of a state of another, which is the branch of that number
// of a Parallel.
func (c *checker) enterFlow(inner *asl.Flow, f *asl.Flow, s *asl.State, branch int) {
	around := c.outsideOf(f)
	ignored := !around.inner && ignoresBranch(f, s, branch)
	caught := slices.Clone(around.caught)
	for _, catcher := range s.Catch {
		caught = append(caught, catcher.ErrorEquals...)
	}
	c.outsides[inner] = outside{
		inner:   true,
		flow:    f,
		state:   s,
		quiet:   around.quiet && !raises(s) && (s.End || succeeds(f, s.Next)),
		ignored: ignored,
		dropped: dropsResult(s) || s.End && around.dropped || ignored,
		caught:  caught,
	}
}

// succeeds tells whether a state ends the execution as a success, with nothing
// done before.
func succeeds(f *asl.Flow, name string) bool {
	for range f.States {
		s := f.State(name)
		switch {
		case s == nil:
			return false
		case raises(s):
			return false
		case s.Type == asl.TypeSucceed:
			return true
		case s.Type != asl.TypePass:
			return false
		case s.End:
			return true
		}
		name = s.Next
	}
	return false
}

// dropsResult tells whether a state keeps nothing of its result.
func dropsResult(s *asl.State) bool {
	if s.QueryLanguage == asl.JSONPath {
		return s.ResultPath == nil && s.Assign == nil
	}
	return s.Output != nil && !slices.ContainsFunc(templatesOf(s), func(t *asl.Template) bool {
		return slices.ContainsFunc(appendExpressions(nil, t), func(text string) bool {
			return strings.Contains(text, "result") || strings.Contains(text, "$states)")
		})
	})
}

// raises tells whether an expression of a state may raise an error of its own.
func raises(s *asl.State) bool {
	return slices.ContainsFunc(templatesOf(s), func(t *asl.Template) bool {
		return slices.ContainsFunc(appendExpressions(nil, t), func(text string) bool {
			return strings.Contains(text, "$error") || strings.Contains(text, "$assert")
		})
	})
}

// endOf is where all routes of a meaning end. What follows a Map or Parallel may fail for what is no
// success, and which an item or a branch hands out; and a Catch outside may take a Fail that stops
// the other branches when the job is done.
func (r *reading) endOf(means Meaning, routes []route) End {
	end := endOf(routes)
	if means == MeansSuccess && end == EndsFailure && slices.ContainsFunc(routes, func(way route) bool { return r.outside.catches(way.leaf) }) {
		return GoesOn
	}
	return r.outside.doubt(means, end)
}

// catches tells whether a Catch outside may take the error of a Fail state.
func (o outside) catches(s *asl.State) bool {
	if s == nil || s.Fail == nil || len(o.caught) == 0 {
		return false
	}
	name, known := "", false
	if s.Fail.Error != nil {
		name, known = s.Fail.Error.Literal.(string)
	}
	return !known || takesAll(o.caught) || slices.Contains(o.caught, name)
}

// doubt is an end with a meaning, by what follows the flow.
func (o outside) doubt(means Meaning, end End) End {
	if (means == MeansFailure || means == MeansUnknown) && end == EndsSuccess && !o.quiet {
		return GoesOn
	}
	return end
}
