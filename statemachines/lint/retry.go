package lint

import (
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// stillRunning is the error of the function check-status while the job runs; a delay may
// follow.
const stillRunning = "JobPoller.Running"

// retryLoops reads the Tasks of a flow whose retries are polls.
func (c *checker) retryLoops(f *asl.Flow, express bool) {
	for _, s := range f.States {
		if len(s.Retry) > 0 && c.isLookedAt(s) {
			if polling := c.retriedAround(s); len(polling) > 0 {
				c.retryLoopAround(f, s, polling, express)
				continue
			}
		}
		if s.Task == nil || len(s.Retry) == 0 || !c.isLookedAt(s) || slices.ContainsFunc(c.tables, func(l Loop) bool { return l.Poll == s && !l.ByName }) {
			continue
		}
		if polling := c.pollingRetriers(s); len(polling) > 0 {
			c.retryLoop(f, s, polling, express)
		}
	}
}

// pollingRetriers are the retriers of a Task that poll: of an error that its function, or
// an expression of its own, raises until the job is done.
func (c *checker) pollingRetriers(s *asl.State) []asl.Retrier {
	p := c.operations.of(s)
	raises := p != nil && p != checkStatus && retriesEvaluation(s) && c.raisesRunning(s, p)
	var polling []asl.Retrier
	attempts := int64(0)
	for _, r := range s.Retry {
		takes := func(name string) bool {
			switch {
			case p == checkStatus:
				return name == stillRunning || strings.HasPrefix(name, stillRunning+".")
			case p != nil:
				return raises && (name == asl.ErrorQueryEvaluation || name == asl.ErrorAll)
			default:
				return isFunction(s) && isOwnError(name)
			}
		}
		others := slices.ContainsFunc(r.ErrorEquals, func(name string) bool { return !takes(name) })
		if r.MaxAttempts > 0 && slices.ContainsFunc(r.ErrorEquals, takes) && (p != nil || !others) {
			polling = append(polling, r)
			attempts += r.MaxAttempts
		}
	}
	if attempts < fewAttempts {
		return nil
	}
	return polling
}

// retriesEvaluation tells whether a Retry takes the errors of the Task's own expressions.
func retriesEvaluation(s *asl.State) bool {
	return s.QueryLanguage == asl.JSONata && slices.ContainsFunc(s.Retry, func(r asl.Retrier) bool {
		return slices.Contains(r.ErrorEquals, asl.ErrorQueryEvaluation) || slices.Contains(r.ErrorEquals, asl.ErrorAll)
	})
}

// retryLoop reads and checks a loop in the Retry of a Task.
func (c *checker) retryLoop(f *asl.Flow, s *asl.State, polling []asl.Retrier, express bool) {
	before := len(c.findings)
	own := &loop{flow: f, states: []*asl.State{s}, inside: map[string]bool{s.Name: true}, taken: every}
	r := &reading{inner: own, work: workOn(own)}
	r.Flow, r.Poll, r.Retries, r.Express = f, s, true, express
	r.outside = c.outsideOf(f)
	r.Turn = retriedTurn(s, polling)
	if p := c.operations.of(s); p != nil && p != checkStatus {
		r.Turn.Events++ // the call succeeds, and then an expression fails
	}
	r.Bound = c.retriedBound(f, polling, r.Turn, c.limitOf(f))
	r.Turns, r.Lasts = c.retriedRoom(f, polling, r.Turn)
	if r.Bound.Kind == ByCount {
		r.Bound.At, r.Bound.By = []string{s.Name}, []string{"MaxAttempts"}
	}
	if p := c.operations.of(s); p != nil {
		r.Operation = p.name
		for _, status := range p.statuses {
			if p == checkStatus {
				status = status.without(string(pollcore.Running)) // which is an error here
			}
			if c.readStatus(own, r, status, lookApart) {
				break
			}
		}
	}
	r.fill()
	for _, retrier := range polling {
		if r.Operation == "" || r.Operation == checkStatus.name {
			r.Errors = append(r.Errors, ErrorRow{Names: retrier.ErrorEquals, Meaning: MeansRunning, Routes: []string{s.Name}, Ends: PollsOn})
		}
	}
	r.Errors = append(r.Errors, c.caughtErrors(r)...)
	if k := catcherOf(s, polling); k != nil && r.Bound.Kind == ByCount {
		r.Bound.Route = k.Next
		r.Bound.Ends = c.waysOf(f).end(f.State(r.Bound.Route))
	}
	c.limitOf(f).addTo(&r.Bound)
	c.checkStatuses(r)
	c.checkRace(r)
	c.checkNeed(r)
	c.checkSize(r)
	c.poll(own, s, true)
	c.reportEndlessRetry(s, polling, &r.Loop)
	r.Findings = slices.DeleteFunc(slices.Clone(c.findings[before:]), func(f Finding) bool { return !r.has(f) })
	c.tables = append(c.tables, r.Loop)
}

// without is the status as it is where a value never occurs.
func (s *status) without(value string) *status {
	out := *s
	out.values = slices.DeleteFunc(slices.Clone(s.values), func(v string) bool { return v == value })
	return &out
}
