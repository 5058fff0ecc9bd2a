package simtest

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// Run is a run that has ended. Its Require methods fail the test, with a trace
// of the run, if something else happened; each returns the run.
type Run struct {
	*sim.Result

	t       T
	machine *asl.StateMachine
}

// RequireSucceeded wants the execution to have succeeded.
func (r *Run) RequireSucceeded() *Run {
	r.t.Helper()
	if r.Status != sim.StatusSucceeded {
		r.failEnd("SUCCEEDED")
	}
	return r
}

// RequireFailed wants the execution to have failed with the error, and with a
// cause that contains all the texts.
func (r *Run) RequireFailed(name string, causes ...string) *Run {
	r.t.Helper()
	if r.Status != sim.StatusFailed || r.Error != name {
		r.failEnd(fmt.Sprintf("FAILED with error %q", name))
	}
	for _, cause := range causes {
		if !strings.Contains(r.Cause, cause) {
			r.fatalf("the cause is %q; want it to contain %q", r.Cause, cause)
		}
	}
	return r
}

// RequireTimedOut wants the execution to have reached its TimeoutSeconds.
func (r *Run) RequireTimedOut() *Run {
	r.t.Helper()
	if r.Status != sim.StatusTimedOut {
		r.failEnd("TIMED_OUT")
	}
	return r
}

// RequireOutput wants the output: JSON text, as a string, []byte or
// json.RawMessage, or any other value that encoding/json takes. Numbers are
// compared by value.
func (r *Run) RequireOutput(want any) *Run {
	r.t.Helper()
	r.RequireSucceeded()
	switch problem, err := compareOutput(r.Output, want); {
	case err != nil:
		r.t.Fatalf("%v", err)
	case problem != "":
		r.fatalf("%s", problem)
	}
	return r
}

// Path returns the states entered, in order, those inside of Parallel and inline
// Map too, but not those of child executions.
func (r *Run) Path() []string {
	var out []string
	for _, e := range r.Events {
		if strings.HasSuffix(string(e.Type), "StateEntered") {
			out = append(out, e.Details().Name)
		}
	}
	return out
}

// RequirePath wants exactly these states to have been entered, in this order.
func (r *Run) RequirePath(states ...string) *Run {
	r.t.Helper()
	if got := r.Path(); !slices.Equal(got, states) {
		i := 0
		for i < len(got) && i < len(states) && got[i] == states[i] {
			i++
		}
		r.fatalf("the path is %s\nwant        %s\nthey part at step %d: %s, want %s",
			foldPath(got), foldPath(states), i+1, stepAt(got, i), stepAt(states, i))
	}
	return r
}

// stepAt is the state at a step of a path, quoted.
func stepAt(path []string, i int) string {
	if i >= len(path) {
		return "the end"
	}
	return strconv.Quote(path[i])
}

// RequireVisits wants the state to have been entered that often.
func (r *Run) RequireVisits(state string, n int) *Run {
	r.t.Helper()
	r.mustHave(state)
	if got := r.Visits[state]; got != n {
		r.fatalf("state %q was entered %d times; want %d", state, got, n)
	}
	return r
}

// Attempts returns how often the Task of the state was called, retries and
// child executions counted.
func (r *Run) Attempts(state string) int { return r.Calls[state] }

// children are the child executions of the distributed Maps of an execution.
func children(r *sim.Result) iter.Seq[*sim.Result] {
	return func(yield func(*sim.Result) bool) {
		for _, run := range r.MapRuns {
			for _, child := range run.Executions {
				if child != nil && !yield(child) {
					return
				}
			}
		}
	}
}

// RequireAttempts wants the Task of the state to have been called that often,
// retries counted.
func (r *Run) RequireAttempts(state string, n int) *Run {
	r.t.Helper()
	r.mustHave(state)
	if got := r.Attempts(state); got != n {
		r.fatalf("the Task of state %q was called %d times; want %d", state, got, n)
	}
	return r
}

// RequireElapsed wants the execution to have taken exactly that long, in
// virtual time.
func (r *Run) RequireElapsed(want time.Duration) *Run {
	r.t.Helper()
	if got := r.Duration(); got != want {
		r.fatalf("the execution took %v of virtual time; want %v", got, want)
	}
	return r
}

// RequireElapsedBetween wants the execution to have taken no less than least
// and no more than most, for a machine with jitter.
func (r *Run) RequireElapsedBetween(least, most time.Duration) *Run {
	r.t.Helper()
	if got := r.Duration(); got < least || got > most {
		r.fatalf("the execution took %v of virtual time; want %v to %v", got, least, most)
	}
	return r
}

// RequireTransitions wants that many billed transitions.
func (r *Run) RequireTransitions(n int) *Run {
	r.t.Helper()
	if r.Transitions != n {
		r.fatalf("the execution took %d transitions; want %d", r.Transitions, n)
	}
	return r
}

func (r *Run) mustHave(state string) {
	r.t.Helper()
	for s := range r.machine.All {
		if s.Name == state {
			return
		}
	}
	r.t.Fatalf("the definition has no state %q", state)
}

// fatalf fails the test. How the execution ended, and why, comes before the
// trace.
func (r *Run) fatalf(format string, args ...any) {
	r.t.Helper()
	r.t.Fatalf("%s\n%s%s", fmt.Sprintf(format, args...), ending(r.Result), r.traces())
}

// failEnd fails the test of an execution that ended otherwise than wanted.
func (r *Run) failEnd(want string) {
	r.t.Helper()
	r.t.Fatalf("%s; want %s%s", ending(r.Result), want, r.traces())
}

// traces are the trace of the execution and, before it, the end and the trace of
// its first child execution that did not succeed.
func (r *Run) traces() string {
	child := firstFailure(r.Result)
	if child == nil {
		return "\n\n" + r.Trace()
	}
	return "\nchild execution " + child.ExecutionARN + ": " + ending(child) + "\n\n" + r.Trace() + "\n" + child.ExecutionARN + "\n" + child.Trace()
}

// ending says how an execution ended, where, and why.
func ending(r *sim.Result) string {
	text := "the execution ended " + string(r.Status)
	if r.Status == sim.StatusSucceeded {
		return text
	}
	for _, e := range slices.Backward(r.Events) {
		if strings.HasSuffix(string(e.Type), "StateEntered") {
			text += fmt.Sprintf(" in state %q", e.Details().Name)
			break
		}
	}
	if r.Error != "" || r.Cause != "" {
		text += fmt.Sprintf(" with error %q: %s", r.Error, shorten(r.Cause))
	}
	return text
}

// firstFailure is the first child execution that did not succeed, or nil.
func firstFailure(r *sim.Result) *sim.Result {
	for child := range children(r) {
		if child.Status != sim.StatusSucceeded {
			return child
		}
	}
	return nil
}
