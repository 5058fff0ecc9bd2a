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
		r.fatalf("the execution ended %s with error %q, cause %q; want SUCCEEDED", r.Status, r.Error, r.Cause)
	}
	return r
}

// RequireFailed wants the execution to have failed with the error, and with a
// cause that contains all the texts.
func (r *Run) RequireFailed(name string, causes ...string) *Run {
	r.t.Helper()
	if r.Status != sim.StatusFailed || r.Error != name {
		r.fatalf("the execution ended %s with error %q; want FAILED with error %q", r.Status, r.Error, name)
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
		r.fatalf("the execution ended %s; want TIMED_OUT", r.Status)
	}
	return r
}

// RequireOutput wants the output: JSON text, as a string, []byte or
// json.RawMessage, or any other value that encoding/json takes. Numbers are
// compared by value.
func (r *Run) RequireOutput(want any) *Run {
	r.t.Helper()
	r.RequireSucceeded()
	text, err := jsonText(want)
	if err != nil {
		r.t.Fatalf("wanted output: %v", err)
		return r
	}
	wanted, err := decoded(text)
	if err != nil {
		r.t.Fatalf("wanted output: %v", err)
		return r
	}
	got, err := decoded(r.Output)
	if err != nil {
		r.fatalf("the output is %s: %v", r.Output, err)
		return r
	}
	if d := differ("", got, wanted); d != nil {
		where := ""
		if d.pointer != "" {
			where = fmt.Sprintf("\nthey differ at %s: %s, want %s", d.pointer, d.got, d.want)
		}
		r.fatalf("the output is %s; want %s%s", shown(got), shown(wanted), where)
	}
	return r
}

// Path returns the states entered, in order, those inside of Parallel and inline
// Map too, but not those of child executions.
func (r *Run) Path() []string {
	var out []string
	for _, e := range r.Events {
		if strings.HasSuffix(string(e.Type), "StateEntered") {
			out = append(out, e.Details.Name)
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
			folded(got), folded(states), i+1, stepAt(got, i), stepAt(states, i))
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

// fatalf fails the test, with a trace of the execution and of its first child
// execution that did not succeed.
func (r *Run) fatalf(format string, args ...any) {
	r.t.Helper()
	trace := r.Trace()
	if child := failedChild(r.Result); child != nil {
		trace += "\n" + child.ExecutionARN + "\n" + child.Trace()
	}
	r.t.Fatalf(format+"\n\n%s", append(args, trace)...)
}

// failedChild is the first child execution that did not succeed, or nil.
func failedChild(r *sim.Result) *sim.Result {
	for child := range children(r) {
		if child.Status != sim.StatusSucceeded {
			return child
		}
	}
	return nil
}
