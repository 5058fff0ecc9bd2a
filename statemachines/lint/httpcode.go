package lint

import (
	"fmt"
	"math"
	"slices"

	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// checkCodes reports rules for codes of responses that no Choice gets to see: for 404 or 503 Step Functions fails the Task.
func (c *checker) checkCodes(l *loop, poll *asl.State) {
	for _, f := range c.failingCodes(l, poll) {
		c.reportCodes(poll, f, c.codesCompared(poll))
	}
}

// neverTaken are the ways by such rules: no answer of the poll takes them.
func (c *checker) neverTaken(l *loop, poll *asl.State) map[hop]bool {
	never := map[hop]bool{}
	for _, f := range c.failingCodes(l, poll) {
		never[f.hop] = true
	}
	return never
}

// failingCodes finds such rules.
func (c *checker) failingCodes(l *loop, poll *asl.State) []*failingRule {
	backInside := func(k asl.Catcher) bool { return l.inside[k.Next] } // and may bring the code of an error along
	if !typecheck.CallsHTTP(poll) || slices.ContainsFunc(poll.Catch, backInside) {
		return nil
	}
	compared := c.codesCompared(poll)
	if len(compared) == 0 {
		return nil
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
			return nil
		}
		for _, way := range found {
			for _, h := range way.hops {
				used[h] = true
			}
		}
	}
	return follows.failingOf(compared, within, used)
}

// failingRule is a rule that only responses reach for which Step Functions fails the Task.
type failingRule struct {
	hop   hop
	codes []float64 // some of those that it takes
	waits bool      // it leads on to another poll
}

// failingOf finds the rules on the ways of codes beyond the limits that no code within them uses.
func (r *router) failingOf(compared []float64, within limits, used map[hop]bool) []*failingRule {
	var rules []*failingRule
	for _, n := range compared {
		for _, code := range []float64{n, n + 1, n - 1} {
			if code != math.Trunc(code) || code <= within.most {
				continue
			}
			for _, way := range r.followCode(code) {
				rules = way.addFailing(rules, code, used)
			}
		}
	}
	return rules
}

// addFailing adds the rules on the way of a code to those that no code within the limits uses.
func (way *route) addFailing(rules []*failingRule, code float64, used map[hop]bool) []*failingRule {
	for _, h := range way.hops {
		if h.state.Choice == nil || h.way.Kind != asl.TransitionRule || used[h] {
			continue
		}
		i := slices.IndexFunc(rules, func(f *failingRule) bool { return f.hop == h })
		if i < 0 {
			i, rules = len(rules), append(rules, &failingRule{hop: h})
		}
		f := rules[i]
		f.waits = f.waits || way.ends == PollsOn
		if !slices.Contains(f.codes, code) {
			f.codes = append(f.codes, code)
		}
	}
	return rules
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

// reportCodes reports a rule for codes that no Choice gets to see.
func (c *checker) reportCodes(poll *asl.State, f *failingRule, compared []float64) {
	r := asl.ParseResource(poll.Task.Resource)
	isRange, taken := false, true
	var codes, failures []string
	for _, code := range f.codes {
		failure := r.HTTPError(int(code))
		isRange, taken = isRange || !slices.Contains(compared, code), taken && takesError(poll, []string{failure})
		codes, failures = append(codes, sayNumber(code)), append(failures, failure)
	}
	what := fmt.Sprintf("%q never answers %s %s: Step Functions fails the Task with %s instead",
		poll.Name, typecheck.HTTPStatus, join(codes, "or"), join(failures, "or"))
	advice := fmt.Sprintf("; take that error in a Catch or Retry of %q", poll.Name)
	if len(codes) > 1 {
		advice = fmt.Sprintf("; take these errors in a Catch or Retry of %q", poll.Name)
	}
	if isRange {
		taken = takesError(poll, nil)
		what = fmt.Sprintf("the rule takes only a %s of %d or more, which %q never answers: Step Functions fails the Task with an error such as %s instead",
			typecheck.HTTPStatus, mostCode+1, poll.Name, failures[0])
		advice = fmt.Sprintf("; take each of these errors, or \"States.TaskFailed\", in a Catch or Retry of %q", poll.Name)
	}
	severity := diag.Warning
	if f.waits && !taken {
		severity = diag.Danger
	}
	if taken {
		advice = fmt.Sprintf(", which a Catch or Retry of %q takes", poll.Name)
	}
	c.reportAs(severity, typecheck.NeverHolds, f.hop.state, fmt.Sprintf("/Choices/%d", f.hop.way.Rule), "%s", what+advice)
}
