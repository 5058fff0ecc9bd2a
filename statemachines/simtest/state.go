package simtest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// StateTest is one state under test, alone: nothing around it runs.
type StateTest struct {
	// Options are those of the test, such as the Variables and the Context that
	// the state finds, and how often it was retried. Without Models the arguments
	// and the mocked result of an integration are checked against AWS's.
	Options sim.TestOptions

	t          T
	definition []byte
}

// State returns a state of a definition for tests of its own, which run as AWS's
// TestState does. An empty name stands for a definition of that state alone.
func State[Text ~string | ~[]byte](t T, definition Text, name string) *StateTest {
	return &StateTest{t: t, definition: []byte(definition), Options: sim.TestOptions{State: name}}
}

// Return mocks the result of a Task, Parallel or Map: any value that
// encoding/json takes.
func (s *StateTest) Return(result any) *StateTest {
	s.Options.Mock = &sim.Mock{Result: result}
	return s
}

// Fail mocks the failure of a Task, Parallel or Map.
func (s *StateTest) Fail(name, cause string) *StateTest {
	s.Options.Mock = &sim.Mock{Error: &sim.TaskError{Name: name, Cause: cause}}
	return s
}

// Run runs the state once. The input is as in Sim.Run.
func (s *StateTest) Run(input any) *StateRun {
	s.t.Helper()
	text, err := inputText(input)
	if err != nil {
		s.t.Fatalf("input: %v", err)
		return nil
	}
	o := s.Options
	if o.Options.Models == nil {
		o.Options.Models = models.Load
	}
	if o.Options.Role == "" {
		o.Options.Role = "arn:aws:iam::" + sim.DefaultAccount + ":role/" + sim.DefaultStateMachine
	}
	r, err := sim.TestState(s.t.Context(), s.definition, text, o)
	if err != nil {
		s.t.Fatalf("the state %scannot be tested: %v%s", s.name(), err, suggestAnswer(err))
		return nil
	}
	return &StateRun{TestResult: r, t: s.t}
}

// name is the name that the state was asked for by, with a space.
func (s *StateTest) name() string {
	if s.Options.State == "" {
		return ""
	}
	return strconv.Quote(s.Options.State) + " "
}

// suggestAnswer says what to do about a Task that nothing answers: a line of its own.
func suggestAnswer(err error) string {
	if _, ok := errors.AsType[*sim.ResourceError](err); !ok {
		return ""
	}
	return "\nanswer the Task with Return or Fail, or with Options.Options.Handlers"
}

// StateRun is what came of a state. Its Require methods fail the test, with the
// data on its way through the state, if something else came; each returns the
// run.
type StateRun struct {
	*sim.TestResult

	t T
}

// RequireNext wants the state to have succeeded and to go on with another; ""
// stands for the end.
func (r *StateRun) RequireNext(state string) *StateRun {
	r.t.Helper()
	if r.Status != sim.TestSucceeded || r.Next != state {
		r.fatalf("want it to go on with %s", nextName(state))
	}
	return r
}

// RequireOutput wants the output, of a state that succeeded or of a catcher. The
// value is as in Run.RequireOutput.
func (r *StateRun) RequireOutput(want any) *StateRun {
	r.t.Helper()
	if r.Output == nil {
		r.fatalf("want an output")
		return r
	}
	problem, err := compareOutput(r.Output, want)
	switch {
	case err != nil:
		r.t.Fatalf("%v", err)
	case problem != "":
		r.fatalf("%s", problem)
	}
	return r
}

// RequireFailed wants a failure that no retrier and no catcher takes, with the
// error, and with a cause that contains all the texts.
func (r *StateRun) RequireFailed(name string, causes ...string) *StateRun {
	r.t.Helper()
	if r.Status != sim.TestFailed || r.Error != name {
		r.fatalf("want it to fail with error %q", name)
	}
	for _, cause := range causes {
		if !strings.Contains(r.Cause, cause) {
			r.fatalf("want the cause to contain %q", cause)
		}
	}
	return r
}

// RequireRetried wants a retrier to take the failure, after that delay; jitter is
// not counted.
func (r *StateRun) RequireRetried(delay time.Duration) *StateRun {
	r.t.Helper()
	if r.Status != sim.TestRetriable || r.retryDelay() != delay {
		r.fatalf("want a retry after %v", delay)
	}
	return r
}

// RequireCaught wants a catcher to take the failure, and to go on with the state.
func (r *StateRun) RequireCaught(state string) *StateRun {
	r.t.Helper()
	if r.Status != sim.TestCaught || r.Next != state {
		r.fatalf("want a catcher to go on with %s", nextName(state))
	}
	return r
}

// retryDelay is how long the retrier waits.
func (r *StateRun) retryDelay() time.Duration {
	details, _ := decode(r.Inspection["errorDetails"])
	members, _ := details.(map[string]any)
	seconds, _ := time.ParseDuration(fmt.Sprint(members["retryBackoffIntervalSeconds"]) + "s")
	return seconds
}

func nextName(state string) string {
	if state == "" {
		return "the end"
	}
	return fmt.Sprintf("%q", state)
}

// fatalf fails the test: what came of the state, what was wanted, and the data.
func (r *StateRun) fatalf(format string, args ...any) {
	r.t.Helper()
	var data strings.Builder
	for _, name := range slices.Sorted(maps.Keys(r.Inspection)) {
		fmt.Fprintf(&data, "\n%-22s %s", name, shorten(string(r.Inspection[name])))
	}
	r.t.Fatalf("the state %s; %s\n%s", r.end(), fmt.Sprintf(format, args...), data.String())
}

// end says what came of the state.
func (r *StateRun) end() string {
	failure := fmt.Sprintf("failed with error %q: %s", r.Error, shorten(r.Cause))
	switch r.Status {
	case sim.TestSucceeded:
		return fmt.Sprintf("went on with %s, with output %s", nextName(r.Next), shorten(string(r.Output)))
	case sim.TestRetriable:
		return fmt.Sprintf("%s, and is retried after %v", failure, r.retryDelay())
	case sim.TestCaught:
		return fmt.Sprintf("%s, and a catcher went on with %s", failure, nextName(r.Next))
	default:
		return failure
	}
}
