package sim

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// execution is an execution and its history: the one of Run, or a child
// execution of a distributed Map.
type execution struct {
	run        *run
	result     *Result
	definition map[string]any // the state machine in the context object
	limit      int            // of events
	billed     bool           // by the transition
	over       bool
	ended      func()
	onEvent    func(Event)
}

func newExecution(r *run, name, arn string, start time.Time, input *Payload) *execution {
	return &execution{run: r, result: &Result{
		ExecutionARN: arn, Start: r.clock.Now(), random: r.random,
		context: map[string]any{
			"Id": arn, "Input": input.Value(), "Name": name,
			"RoleArn": r.options.Role, "StartTime": formatTime(start), "RedriveCount": json.Number("0"),
		},
	}}
}

// begin records the start and schedules the first state.
func (x *execution) begin(flow *asl.Flow, input *Payload) {
	x.record(ExecutionStarted, 0, Details{Input: input, RoleArn: x.run.options.Role})
	s := newStrand(x, flow, newVariables(nil))
	x.result.root = s
	x.follow(s)
	s.goTo(flow.StartAt, input)
}

// follow ends the execution with the strand.
func (x *execution) follow(s *strand) {
	s.finished = func(output *Payload) {
		if !x.over {
			x.result.Output = output.JSON()
		}
		x.end(StatusSucceeded, ExecutionSucceeded, s.last, Details{Output: output})
	}
	s.failed = func(f *failure) {
		x.end(StatusFailed, ExecutionFailed, s.last, Details{Error: f.name, Cause: f.cause})
	}
}

// record appends an event to the history and returns its number, or 0 if the
// execution is over. An event that the limit leaves no room for ends it.
func (x *execution) record(t EventType, previous int64, d Details) int64 {
	if x.over {
		return 0
	}
	if len(x.result.Events) == mostEvents {
		x.run.fail(fmt.Errorf("%w: %s", ErrEndless, x.result.ExecutionARN))
		return 0
	}
	if err := x.run.options.budget.spend(1, 0); err != nil {
		x.run.fail(err)
		return 0
	}
	if len(x.result.Events) >= x.limit-1 {
		x.end(StatusFailed, ExecutionFailed, x.lastEvent(), Details{
			Error: errorRuntime,
			Cause: fmt.Sprintf("The execution reached the maximum number of history events (%d).", x.limit),
		})
		return 0
	}
	return x.write(t, previous, d)
}

func (x *execution) write(t EventType, previous int64, d Details) int64 {
	e := Event{ID: x.lastEvent() + 1, PreviousEventID: previous, Timestamp: x.run.clock.Now(), Type: t, Details: d}
	x.result.Events = append(x.result.Events, e)
	if x.onEvent != nil {
		x.run.calling(func() { x.onEvent(e) })
	}
	return e.ID
}

func (x *execution) lastEvent() int64 { return int64(len(x.result.Events)) }

// end closes the history.
func (x *execution) end(status Status, t EventType, previous int64, d Details) {
	if x.over {
		return
	}
	x.write(t, previous, d)
	x.result.Status = status
	if status == StatusFailed {
		x.result.Error, x.result.Cause = d.Error, d.Cause
	}
	x.result.Stop = x.run.clock.Now()
	x.over = true
	x.ended()
}

// timeOut ends the execution at its time limit, and abort where it is stopped.
// At AWS no event comes before that event, and the result has no error.
func (x *execution) timeOut() {
	x.end(StatusTimedOut, ExecutionTimedOut, 0, Details{Error: asl.ErrorTimeout})
}

func (x *execution) abort() { x.end(StatusAborted, ExecutionAborted, 0, Details{}) }

// visit counts a state that is entered.
func (x *execution) visit(s *asl.State) {
	x.bill()
	x.run.root.result.Visits[s.Name]++
}

// bill counts a transition.
func (x *execution) bill() {
	if x.billed {
		x.run.root.result.Transitions++
	}
}

// take counts a transition from one state to another.
func (x *execution) take(e Edge) { x.run.root.result.Edges[e]++ }

// context is the context object of the state that the strand is in.
func (s *strand) context() map[string]any {
	if s.probe != nil && s.probe.context != nil {
		return s.probe.context
	}
	name := s.state.Name
	if s.probe != nil {
		name = asl.LoneState // whatever its name
	}
	state := map[string]any{"Name": name, "EnteredTime": formatTime(s.enteredTime)}
	if works(s.state) {
		state["RetryCount"] = json.Number(strconv.Itoa(s.retryCount))
	}
	object := map[string]any{"Execution": s.x.result.context, "State": state, "StateMachine": s.x.definition}
	if s.token != "" {
		object["Task"] = map[string]any{"Token": s.token}
	}
	if s.item != nil {
		object["Map"] = map[string]any{"Item": s.item}
	}
	return object
}

// works tells whether a state can be retried.
func works(s *asl.State) bool {
	return s.Type == asl.TypeTask || s.Type == asl.TypeParallel || s.Type == asl.TypeMap
}
