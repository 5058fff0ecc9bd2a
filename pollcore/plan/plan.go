// Package plan finds the poll schedule that fits how long jobs take: the fewest calls
// for a stated lateness.
//
// Backoff answers how not to overload a failing server. A poller asks when its job is
// done, which reliability engineering knows as optimum inspection: R. E. Barlow,
// L. C. Hunter, F. Proschan, Optimum checking procedures, J. SIAM 11 (1963), 1078-1095.
// Jobs of similar length need two to three times fewer calls than a fixed delay at the
// same lateness. For jobs whose end is as likely at any time, a fixed delay is as good,
// and the plan says so.
package plan

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jobpoller/jobpoller/pollcore"
)

// Method is how a plan finds its delays.
type Method string

// The methods.
const (
	// Fixed is one delay between all calls.
	Fixed Method = "fixed"
	// Initial is an initial delay, and a fixed one between the calls; of two kinds of jobs
	// also the delay between the two.
	Initial Method = "initial"
	// Hazard is the rule that a delay is inverse to the square root of how likely a
	// job is to end now.
	Hazard Method = "hazard"
	// Exact is a dynamic programme. It takes only stated distributions: on learned
	// ones, jobs of a length that was never seen are found hours late.
	Exact Method = "exact"
	// Growth is a delay that grows with the time since the start, for a lateness that
	// no job exceeds, whatever it takes.
	Growth Method = "growth"
)

// Limits bound a schedule. The zero value has the defaults.
type Limits struct {
	// MinDelay is the shortest delay: a second if it is shorter.
	MinDelay time.Duration
	// MaxDelay is the longest delay of Hazard and Exact. 0 is no limit.
	MaxDelay time.Duration
	// Delays is how many delays a schedule may list. 0 is 100, and of Hazard up to
	// pollcore.MaxPlannedDelays where those need 10 % fewer calls.
	Delays int
	// Jitter is that of the schedule, in whole seconds and MaxJitter at most: jobs that
	// start together are polled at times that differ by up to it. The first delay is
	// shorter by half of it where it can be. Costs are the mean over what is drawn.
	Jitter time.Duration
	// Method is the only one to use; empty is the simplest that is good enough. It is an
	// error where the goal or the distribution does not admit it.
	Method Method
}

// MaxJitter is the longest jitter of a plan.
const MaxJitter = 24 * time.Hour

// fewDelays is the default of Limits.Delays.
const fewDelays = 100

// Plan is a schedule for a goal.
type Plan struct {
	Schedule pollcore.Planned
	Method   Method
	// Why says in a sentence why it is this method.
	Why string
	// Bound is the share of the calls of a fixed delay that the best schedule needs,
	// at the same mean lateness: 0.32 means that knowledge of the durations saves 68 %
	// of the calls at most. It is 1 if nothing is known. It is a limit for many polls:
	// with a few, a schedule may need more.
	Bound float64
	// Cost is what the schedule costs for the distribution; 0 if nothing is known.
	Cost Cost
	// Fixed is the schedule with a fixed delay for the same goal, and FixedCost what it
	// costs.
	Fixed     pollcore.Planned
	FixedCost Cost
}

// The errors of Best; errors.Is finds them.
var (
	// ErrUnreachable is a goal that the shortest delay does not reach.
	ErrUnreachable = errors.New("no schedule is in time")
	// ErrLearned is the exact programme for a learned distribution.
	ErrLearned = errors.New("method exact takes only a stated distribution")
)

// One call is what a job needs at least; fewer than oneCall are as good as one.
const oneCall = 1.05

// fewCalls are those for which the bound can be wrong.
const fewCalls = 4

// alike is the deviation of durations, as a share of their mean, that nobody notices.
const alike = 0.001

// worthwhile is the share of the calls that a method must save to be worth its delays.
const worthwhile = 0.1

// Best returns the schedule with the fewest calls that meets the goal. Delays are whole
// seconds. It prefers a simple schedule where that needs 10 % more calls at most, and
// never takes more calls for the distribution than a fixed delay.
func Best(d Distribution, g Goal, limits Limits) (Plan, error) {
	if err := g.Validate(); err != nil {
		return Plan{}, err
	}
	s, err := newSearch(d, g, limits)
	if err != nil {
		return Plan{}, err
	}
	if err := s.checkMethod(limits.Method); err != nil {
		return Plan{}, err
	}
	if !d.IsKnown() || g.At == Worst || limits.Method == Growth {
		return s.universal()
	}
	fixed, ok := s.findFixed()
	if !ok {
		return Plan{}, unreachable(Fixed, s)
	}
	cost := fixed.polls(s.d).cost(s.d)
	s.late = max(cost.late, s.lateness())
	plan := Plan{Bound: s.bound(cost), Fixed: fixed.planned, FixedCost: fixed.measure(s.d)}
	best, why := fixed, ""
	switch limits.Method {
	case "":
		best, why = s.choose(fixed, plan.Bound)
	case Fixed, Growth: // of Growth see above
	case Initial:
		best, ok = s.findInitial()
	case Hazard:
		best, ok = s.findHazard()
	case Exact:
		best, ok = s.findExact()
	}
	if !ok {
		return Plan{}, unreachable(limits.Method, s)
	}
	if why == "" {
		if best.method != Fixed {
			best = s.settle(best, fixed)
		}
		why = "Method " + string(limits.Method) + " was asked for."
	}
	plan.Schedule, plan.Method, plan.Why, plan.Cost = best.planned, best.method, why, best.measure(s.d)
	if g.At == Mean && g.Price == 0 { // the limit can be wrong where there are few polls
		plan.Bound = min(plan.Bound, plan.Cost.Calls/plan.FixedCost.Calls)
	}
	return plan, nil
}

// checkMethod says why a method cannot be used.
func (s *search) checkMethod(m Method) error {
	anyDuration := !s.d.IsKnown() || s.goal.At == Worst // the plan does not use the distribution
	switch {
	case m == "":
	case !slices.Contains([]Method{Fixed, Initial, Hazard, Exact, Growth}, m):
		return fmt.Errorf("%q is not a method: expected fixed, initial, hazard, exact or growth", m)
	case m == Growth && s.goal.Share == 0:
		return errors.New("method growth needs a lateness as a share of the job's length, such as 5%")
	case m == Fixed && anyDuration && s.goal.Share > 0:
		return errors.New("method fixed needs a lateness in seconds where it must hold for any duration: use method growth")
	case m == Exact && s.d.learned:
		return fmt.Errorf("%w: past jobs do not show what happens seldom, and the method would find such jobs hours late. Use method hazard", ErrLearned)
	case m != Fixed && m != Growth && anyDuration:
		return fmt.Errorf("method %s needs a distribution of the durations, and a lateness that is a mean, p50 or p95", m)
	}
	return nil
}

// unreachable says how late the shortest delays are.
func unreachable(method Method, s *search) error {
	c := s.schedule(method, []float64{s.least}, s.least)
	late := "delays of " + duration(s.least).String() + " or more are later"
	if s.d.IsKnown() {
		s.meets(&c)
		late = fmt.Sprintf("with delays of %s, the shortest, it is %s", duration(s.least), s.statistic(c))
	}
	less := ""
	if s.jitter > 0 {
		less = ", or take less jitter"
	}
	return fmt.Errorf("%w: method %s does not reach a lateness of %s: %s. Allow more%s", ErrUnreachable, method, s.goal, late, less)
}

// choose returns the simplest schedule that is good enough, and why it is.
func (s *search) choose(fixed candidate, bound float64) (best candidate, why string) {
	best = fixed
	best.method = Initial
	if best = s.settle(best, fixed); best.planned.Then == fixed.planned.Then {
		best = fixed
	}
	if initial, ok := s.findInitial(); ok {
		earlier := s.goal.Price == 0 && initial.calls <= best.calls && initial.measure(s.d).Mean < best.measure(s.d).Mean // a score has the lateness
		if initial.score < best.score || earlier {
			best = s.settle(initial, fixed)
		}
	}
	simple := "A fixed delay"
	switch {
	case len(best.planned.Delays) > 1:
		simple = "A fixed delay after two others"
	case best.method == Initial:
		simple = "A fixed delay after an initial delay"
	}
	if bound > 1-worthwhile && best.calls >= fewCalls {
		return best, fmt.Sprintf("%s is as good as any schedule: knowledge of the durations saves %.0f %% of the calls at most.", simple, 100*(1-bound))
	}
	program, ok := candidate{}, false
	if best.calls >= 1+indifferent {
		program, ok = s.findHazard()
		if exact, found := s.findExact(); found && (!ok || exact.score < program.score) {
			program, ok = exact, true
		}
	}
	if listed := ok && program.score <= (1-worthwhile)*best.score; listed {
		best = s.settle(program, fixed)
	}
	switch {
	case best.calls < oneCall && s.d.Variation() < alike:
		return best, "All jobs take as long: one poll when they end."
	case best.calls < oneCall:
		return best, "One poll is enough: nearly all jobs have ended by then."
	case best.method == Hazard && s.d.learned:
		return best, "Polls gather where past jobs ended. The others are for jobs of lengths that were not seen."
	case best.method == Hazard, best.method == Exact:
		return best, "Polls gather where jobs end."
	}
	return best, fmt.Sprintf("%s does: a list of up to %d delays saves less than 10 %% of the calls.", simple, s.more)
}
