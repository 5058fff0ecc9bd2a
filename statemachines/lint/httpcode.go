package lint

import (
	"fmt"
	"math"
	"slices"

	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// checkCodes finds rules for codes of responses that no Choice gets to see: for 404 or 503 Step Functions fails the Task.
func (c *checker) checkCodes(l *loop, poll *asl.State) {
	backInside := func(k asl.Catcher) bool { return l.inside[k.Next] } // and may bring the code of an error along
	if !typecheck.CallsHTTP(poll) || slices.ContainsFunc(poll.Catch, backInside) {
		return
	}
	compared := c.codesCompared(poll)
	if len(compared) == 0 {
		return
	}
	within := limitsOf(poll, []string{typecheck.HTTPStatus})
	possible := &status{literals: map[string]any{}}
	possible.putNumbers(compared, within)
	r := &reading{inner: l.innermost(poll, c.waysOf(l.flow).before), bounds: c.boundsOf(l)}
	r.Flow, r.Poll, r.ByName = l.flow, poll, true
	follows := c.newRouter(r)
	used := map[hop]bool{}
	for _, code := range possible.literals {
		found := follows.followCode(code.(float64))
		if found == nil {
			return
		}
		for _, way := range found {
			for _, h := range way.hops {
				used[h] = true
			}
		}
	}
	for _, n := range compared {
		for _, code := range []float64{n, n + 1, n - 1} {
			if code != math.Trunc(code) || code <= within.most {
				continue
			}
			for _, way := range follows.followCode(code) {
				c.reportCode(poll, way, code, used)
			}
		}
	}
}

// codesCompared are the numbers that the machine compares the code of a response with.
func (c *checker) codesCompared(poll *asl.State) []float64 {
	demand := c.demandOf(poll)
	if demand == nil {
		return nil
	}
	for _, part := range demand.Compared() {
		if slices.Equal(part.Steps, []string{typecheck.HTTPStatus}) {
			return slices.Sorted(slices.Values(part.Numbers))
		}
	}
	return nil
}

// followCode follows a response with a code.
func (r *router) followCode(code float64) []route {
	return r.follow(typecheck.NarrowNumber(r.types.Result(r.poll), []string{typecheck.HTTPStatus}, code))
}

// reportCode reports the rules on the way of a code that no Choice gets to see, once each, if no other code uses them.
func (c *checker) reportCode(poll *asl.State, way route, code float64, used map[hop]bool) {
	for _, h := range way.hops {
		if h.state.Choice == nil || h.way.Kind != asl.TransitionRule || used[h] {
			continue
		}
		used[h] = true
		failure := fmt.Sprintf("States.Http.StatusCode.%g", code)
		if asl.ParseResource(poll.Task.Resource).Service == "apigateway" {
			failure = fmt.Sprintf("ApiGateway.%g", code)
		}
		severity := diag.Warning
		if way.ends == PollsOn && !takesError(poll, []string{failure}) {
			severity = diag.Danger
		}
		c.reportAs(severity, typecheck.NeverHolds, h.state, fmt.Sprintf("/Choices/%d", h.way.Rule),
			"%q never answers %s %g: Step Functions fails the Task with %s instead; take that error in a Catch or Retry of %[1]q",
			poll.Name, typecheck.HTTPStatus, code, failure)
	}
}
