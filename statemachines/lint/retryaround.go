package lint

import (
	"fmt"
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// retriedAround are the retriers of a Parallel, a Map or a nested state machine that poll: they run all
// of it again while a Fail state inside of it says that the job is not done.
func (c *checker) retriedAround(s *asl.State) []asl.Retrier {
	errors, asks := c.raisedInside(s)
	nested := isNested(s)
	if !nested && (!asks || len(errors) == 0) {
		return nil
	}
	var polling []asl.Retrier
	attempts := int64(0)
	for _, r := range s.Retry {
		if r.MaxAttempts > 0 && (nested && (takesAll(r.ErrorEquals) || slices.ContainsFunc(r.ErrorEquals, isOwnError)) || !nested && meets(r.ErrorEquals, errors)) {
			polling, attempts = append(polling, r), attempts+r.MaxAttempts
		}
	}
	if attempts < fewAttempts {
		return nil
	}
	return polling
}

// isNested tells whether a Task runs a state machine and waits for its end.
func isNested(s *asl.State) bool {
	if s.Task == nil {
		return false
	}
	r := asl.ParseResource(s.Task.Resource)
	return r.Service == "states" && r.Action == "startExecution" && r.Pattern != ""
}

// raisedInside are the errors of the Fail states inside of a state to which a Choice leads, and
// whether a Task inside of it asks for a status. A loop inside polls by itself.
func (c *checker) raisedInside(s *asl.State) (errors []string, asks bool) {
	for _, f := range s.Flows() {
		if len(loops(f, f.States, every)) > 0 {
			return nil, false
		}
		for _, inner := range f.States {
			asks = asks || inner.Task != nil && (c.operations.of(inner) != nil || isFunction(inner) || readsService(inner))
			isChoice := func(from *asl.State) bool { return from.Choice != nil }
			if inner.Fail != nil && inner.Fail.Error != nil && slices.ContainsFunc(c.waysOf(f).before[inner.Name], isChoice) {
				if name, ok := inner.Fail.Error.Literal.(string); ok {
					errors = append(errors, name)
				}
			}
			more, other := c.raisedInside(inner)
			errors, asks = append(errors, more...), asks || other
		}
	}
	return errors, asks
}

// turnAround is one try of a Parallel, a Map or a nested state machine that polls. exact tells that each try takes as
// many events: of one branch, in which one way leads to the Fail state that is retried. Else they are the most.
func (c *checker) turnAround(s *asl.State, polling []asl.Retrier) (turn Turn, exact bool) {
	turn = retriedTurn(s, polling)
	if turn.Events, turn.Transitions = visit(s); s.Task != nil {
		turn.Events -= 2 // it is entered and exited once
		return turn, true
	}
	if s.Parallel == nil || len(s.Flows()) != 1 {
		return turn, false
	}
	branch, raising := s.Flows()[0], map[string]bool{}
	for _, inner := range branch.States {
		if inner.Fail != nil {
			name, known := "", false
			if inner.Fail.Error != nil {
				name, known = inner.Fail.Error.Literal.(string)
			}
			if !known || slices.ContainsFunc(polling, func(r asl.Retrier) bool { return meets(r.ErrorEquals, []string{name}) }) {
				raising[inner.Name] = true
			}
		}
	}
	way := c.fewest(branch, raising)
	if len(raising) != 1 || way.first == nil || way.more || way.longer || way.wait > 0 {
		return turn, false
	}
	const started, called = 1, 3 // a Task is entered, scheduled and started
	path := c.pathTo(branch, way.first)
	turn.Events, turn.Transitions = way.events+c.costOf(way.first).events+started, len(path)+1
	asks := slices.IndexFunc(path, func(inner *asl.State) bool { return inner.Task != nil })
	if turn.called = started + called; asks > 0 {
		turn.called += c.costOf(path[asks-1]).events + c.fewest(branch, map[string]bool{path[asks-1].Name: true}).events
	}
	return turn, asks >= 0
}

// readsService tells whether a Task calls an operation of a service that changes nothing.
func readsService(s *asl.State) bool {
	r := asl.ParseResource(s.Task.Resource)
	_, sdk := r.SDK()
	return sdk && r.Pattern == "" && !Changes(s)
}

// retryLoopAround adds the loop in the Retry of a Parallel, a Map or a nested state machine, whose
// statuses are not judged.
func (c *checker) retryLoopAround(f *asl.Flow, s *asl.State, polling []asl.Retrier, express bool) {
	turn, exact := c.turnAround(s, polling)
	l := Loop{Flow: f, States: []*asl.State{s}, Retries: true, Express: express, Turn: turn, Bound: c.retriedBound(f, polling, turn, c.limitOf(f))}
	l.Turns, l.Lasts = c.retriedRoom(f, polling, turn)
	if l.Bound.AtMost = !exact; !exact && l.Bound.Kind == Unbounded {
		l.Bound.After = 0
	}
	l.Unjudged = fmt.Sprintf("the Retry of %q runs all of it again, and lint follows no status from one try to the next", s.Name)
	if s.Task != nil {
		l.Unjudged = fmt.Sprintf("%q runs another state machine, which looks at the status", s.Name)
	}
	if l.Bound.Kind == ByCount {
		l.Bound.At, l.Bound.By = []string{s.Name}, []string{"MaxAttempts"}
		if k := catcherOf(s, polling); k != nil {
			l.Bound.Route, l.Bound.Ends = k.Next, c.waysOf(f).end(f.State(k.Next))
		}
	}
	c.limitOf(f).addTo(&l.Bound)
	before := len(c.findings)
	c.reportEndlessRetry(s, polling, &l)
	c.pollAround(s)
	l.Findings = slices.Clone(c.findings[before:])
	c.tables = append(c.tables, l)
}

// pollAround checks the calls inside of a Map or Parallel whose Retry polls: an error that no retrier takes ends the
// whole wait.
func (c *checker) pollAround(s *asl.State) {
	for _, f := range s.Flows() {
		for _, inner := range f.States {
			if len(inner.Catch) > 0 {
				continue
			}
			if inner.Task != nil && (c.operations.of(inner) != nil || readsService(inner)) && !slices.ContainsFunc(s.Retry, func(r asl.Retrier) bool {
				return r.MaxAttempts > 0 && slices.ContainsFunc(r.ErrorEquals, func(name string) bool { return c.takesThrottling(inner, name) })
			}) {
				c.poll(&loop{flow: f, states: []*asl.State{inner}}, inner, true)
			}
		}
	}
}
