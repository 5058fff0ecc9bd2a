package sim

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// execution is an execution and its history: the one of Run, or a child
// execution of a distributed Map.
type execution struct {
	run     *run
	result  *Result
	history history
	limit   int  // of events
	billed  bool // by the transition
	over    bool
	inner   inside // its root
	ended   func()
	onEvent func(Event)
	handle  *Execution     // of a World; nil: of Run
	machine map[string]any // the state machine in the context object
	mapRun  *mapRun        // of a child execution; nil: of none
	branch  *branch        // of a child execution
}

func newExecution(r *run, name, arn string, start time.Time, input *Payload) *execution {
	r.bytes += executionBytes
	if input.bytes() > leastPacked { // the context object has it when the history is packed
		r.bytes += int64(valueFactor * input.bytes())
	}
	return &execution{run: r, result: &Result{
		ExecutionARN: arn, Start: r.now, random: r.random,
		context: map[string]any{
			"Id": arn, "Input": input.Value(), "Name": name,
			"RoleArn": r.options.Role, "StartTime": formatTime(start), "RedriveCount": json.Number("0"),
		},
	}}
}

// machineObject is the state machine in the context object.
func (x *execution) machineObject() map[string]any {
	if x.machine == nil {
		o := &x.run.options
		name := o.StateMachine
		if x.mapRun != nil {
			name += "/" + x.mapRun.label
		}
		x.machine = map[string]any{"Id": arn(*o, "stateMachine") + name, "Name": name}
	}
	return x.machine
}

// record appends an event to the history and returns its number, or 0 if the
// execution is over. An event that the limit leaves no room for ends it.
func (x *execution) record(t EventType, previous int64, d Details) int64 {
	if x.over {
		return 0
	}
	if x.lastEvent() == mostEvents {
		x.run.fail(fmt.Errorf("%w: %s", ErrEndless, x.result.ExecutionARN))
		return 0
	}
	if err := x.run.options.budget.spend(1, 0); err != nil {
		x.run.fail(err)
		return 0
	}
	if x.lastEvent() >= int64(x.limit)-1 {
		x.end(StatusFailed, ExecutionFailed, x.lastEvent(), Details{
			Error: errorRuntime,
			Cause: fmt.Sprintf("The execution reached the maximum number of history events (%d).", x.limit),
		})
		return 0
	}
	return x.write(t, previous, d)
}

func (x *execution) write(t EventType, previous int64, d Details) int64 {
	defer x.weigh()()
	if k := x.run.packer; k != nil && x.history.loose > mostLoose {
		x.history.pack(k)
	}
	e := x.history.add(previous, x.run.now, t, d)
	switch w := x.run.world; {
	case w != nil && x.run.replay != nil: // it was told before
	case w != nil && w.options.OnEvent != nil:
		x.run.calling(func() { w.options.OnEvent(x.handle, e) })
	case x.onEvent != nil:
		x.run.calling(func() { x.onEvent(*e) })
	}
	return e.ID
}

// weigh begins to count what is added to the history; the function that it returns ends.
func (x *execution) weigh() (end func()) {
	before := x.history.bytes
	return func() { x.run.bytes += x.history.bytes - before }
}

func (x *execution) lastEvent() int64 { return x.history.last() }

// end closes the history.
func (x *execution) end(status Status, t EventType, previous int64, d Details) {
	if x.over {
		return
	}
	x.run.keepTimers()
	x.result.Status, x.result.Stop = status, x.run.now
	x.tellStanding()
	x.write(t, previous, d)
	x.seal()
	if x.result.Events = nil; x.handle == nil || x != x.run.root {
		x.result.Events = x.history.whole()
	}
	if status == StatusFailed || status == StatusAborted {
		x.result.Error, x.result.Cause = d.Error, d.Cause
	}
	x.over = true
	if x.mapRun != nil {
		x.mapRun.count(x.branch)
	}
	if x.inner != nil {
		x.inner.kill()
	}
	x.ended()
	if x.handle != nil {
		x.handle.end()
		if status == StatusSucceeded {
			x.result.root, x.inner = nil, nil // no redrive needs it
		}
	}
}

// seal ends the history.
func (x *execution) seal() {
	defer x.weigh()()
	x.history.seal(x.run.options.KeepEvents, x.run.packer)
	x.run.bytes += int64(len(x.result.Output))
}

// end tells those who wait that the execution has ended.
func (e *Execution) end() {
	if onEnd := e.world.options.OnEnd; onEnd != nil && e.x == e.x.run.root {
		e.x.run.calls = append(e.x.run.calls, func() { onEnd(e) })
	}
	if e.done != nil {
		close(e.done)
		e.done = nil
	}
}

// timeOut ends the execution at its time limit, and abort where it is stopped.
// At AWS no event comes before that event, and the result of a time-out has no error.
func (x *execution) timeOut() {
	x.end(StatusTimedOut, ExecutionTimedOut, 0, Details{Error: asl.ErrorTimeout})
}

func (x *execution) abort() { x.stop("", "") }

func (x *execution) stop(name, cause string) {
	x.end(StatusAborted, ExecutionAborted, 0, Details{Error: name, Cause: cause})
}

// breakOff closes the history of a run that a Go error ended: as that of an execution
// which is stopped, with the error as the cause. It returns nil if that has ended.
func (x *execution) breakOff(cause error) *Result {
	if x.result.Status != "" {
		return nil
	}
	x.over, x.ended = false, func() {}
	x.end(StatusAborted, ExecutionAborted, 0, Details{Cause: cutCause(cause.Error())})
	return x.result
}

// visit counts a state that is entered.
func (x *execution) visit(s *asl.State) {
	x.bill()
	if visits := x.run.root.result.Visits; visits != nil {
		visits[s.Name]++
	}
}

// countCall counts a call of a Task.
func (x *execution) countCall(s *asl.State) {
	if calls := x.run.root.result.Calls; calls != nil {
		calls[s.Name]++
	}
}

// bill counts a transition.
func (x *execution) bill() {
	if x.billed {
		x.run.root.result.Transitions++
	}
}

// take counts a transition from one state to another.
func (x *execution) take(e Edge) {
	if edges := x.run.root.result.Edges; edges != nil {
		edges[e]++
	}
}

// newRoot makes the execution that the run is about.
func (r *run) newRoot(input *Payload) *execution {
	now := r.now
	if !r.options.StartTime.IsZero() {
		now = r.options.StartTime
	}
	x := newExecution(r, r.options.Execution, ExecutionARN(r.options), now, input)
	if r.world == nil { // a World of many executions has no room for it
		x.result.Visits, x.result.Edges, x.result.Calls = map[string]int{}, map[Edge]int{}, map[string]int{}
	}
	if r.options.Sync {
		delete(x.result.context, "RedriveCount")
	}
	r.follow(x)
	return x
}

// follow ends the run with the execution that it is about.
func (r *run) follow(x *execution) {
	x.ended = r.stop
	r.root, r.abort, r.breakOff = x, x.abort, x.breakOff
}

// limitTime ends the execution when its time is over.
func (r *run) limitTime() {
	limit := asl.MaxStandardTime
	if r.options.Express {
		limit = asl.MaxExpressTime
	}
	if own := time.Duration(r.machine.TimeoutSeconds) * time.Second; own > 0 {
		limit = min(limit, own)
	}
	if start := r.options.StartTime; r.beginning != nil && !start.IsZero() {
		limit -= r.now.Sub(start)
	}
	r.after(limit, func() { r.root.timeOut() })
}

// belongTo lets an execution go on in a run.
func (x *execution) belongTo(r *run) {
	if x.run != r { // in a World it is the same, and others read it
		x.run = r
	}
	x.over = false
}
