package localrun

import (
	"cmp"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// progress shows a run while it lasts, and keeps the statuses of its job. In virtual
// time nothing is shown: there is nothing to wait for, and what nobody sees is not kept.
type progress struct {
	clock *sim.Clock
	live  *kit.Live
	start time.Time
	polls map[string]*polledTask // by the name of the state

	mu       sync.Mutex
	now      kit.Standing
	next     time.Time             // when a Wait state ends
	asking   map[int64]*polledTask // the Tasks that ask now, by the number of their last event
	statuses kit.StatusHistory
	crashed  map[string]string // states whose function has crashed, by the cause that its event will have
	retrying string            // state of the last event, if that is of a crash
}

// polledTask is a Task that asks for the status of a job.
type polledTask struct {
	entry  *catalog.Entry
	reader kit.JobReader

	answer          any // the last, as the machine has it: most polls get the same again
	status, message string
}

// read reads an answer.
func (t *polledTask) read(answer any) (status, message string, err error) {
	if t.answer != nil && sameJSON(t.answer, answer) {
		return t.status, t.message, nil
	}
	spelt, err := typecheck.ModelSpelling(answer, t.entry.Operation.Output)
	if err != nil {
		return "", "", err
	}
	t.answer = answer
	t.status, t.message = t.reader.Read(spelt)
	return t.status, t.message, nil
}

// sameJSON tells whether two JSON values are written alike.
func sameJSON(a, b any) bool {
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, sameJSON)
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, sameJSON)
	}
	switch b.(type) {
	case []any, map[string]any:
		return false
	}
	return a == b
}

func newProgress(m *asl.StateMachine, clock *sim.Clock, limit time.Duration) *progress {
	p := &progress{
		clock: clock, start: clock.Now(), polls: map[string]*polledTask{}, asking: map[int64]*polledTask{},
		now: kit.Standing{Status: string(pollcore.Running), Limit: kit.Sooner(limit, m)},
	}
	for _, l := range lint.Loops(m, lint.Options{}) {
		if l.Poll != nil && l.Entry != nil {
			p.polls[l.Poll.Name] = &polledTask{entry: l.Entry, reader: kit.NewJobReader(l.Entry)}
		}
	}
	return p
}

// NoteCrash notes that the function of a Task has crashed.
func (p *progress) NoteCrash(state, cause string) {
	if p.live == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.crashed == nil {
		p.crashed = map[string]string{}
	}
	p.crashed[cause] = state
}

// Record follows what the two functions return.
func (p *progress) Record(function string, result handler.Result, err error) {
	seen, message := string(result.Status), result.Reason
	if failure, ok := errors.AsType[*sim.FunctionError](err); ok {
		seen, message = failure.Type, failure.Message
	} else if err != nil {
		seen, message = "error", err.Error()
	}
	p.update(func() bool {
		switch {
		case function != statemachines.CheckStatusFunction:
			p.now.Message = message
			return true
		case err == nil:
			p.statuses = p.statuses.Add(seen, p.clock.Now().Sub(p.start))
		}
		p.see(seen, message)
		return true
	})
}

// FollowPoll follows a Task that ends with its job: what a poll was answered.
func (p *progress) FollowPoll(e *catalog.Entry, answer any, err error) {
	status, message := kit.NewJobReader(e).Read(answer)
	if err != nil {
		failed := kit.NewCallError(err)
		status, message = cmp.Or(failed.Code, "no answer"), failed.Message
	}
	p.update(func() bool {
		if err == nil {
			p.statuses = p.statuses.Add(status, p.clock.Now().Sub(p.start))
		}
		p.see(status, message)
		return true
	})
}

// Above writes whole lines, on a terminal above the live line.
func (p *progress) Above(out io.Writer, write func(out io.Writer)) {
	if p.live == nil {
		write(out)
		return
	}
	p.live.Above(write)
}

// begin starts the display, when the run begins.
func (p *progress) begin(out io.Writer, o *Options) {
	p.start = p.clock.Now()
	if !o.Quiet && !o.Virtual {
		p.live = kit.NewLive(out, o.Verbose, p.standing)
	}
}

// standing is where the run stands now.
func (p *progress) standing() kit.Standing {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.at(p.clock.Now())
}

func (p *progress) at(now time.Time) kit.Standing {
	s := p.now
	s.Elapsed, s.Next = now.Sub(p.start), max(0, p.next.Sub(now))
	return s
}

// taskEntered is the type of the event that a Task begins with.
const taskEntered = sim.EventType("TaskStateEntered")

// event follows which state the execution is in, and what its polls see.
func (p *progress) event(e sim.Event) {
	if p.live != nil {
		p.followCrash(e)
	}
	if e.Type == taskEntered || p.live != nil && strings.HasSuffix(string(e.Type), "StateEntered") {
		p.enter(e)
		return
	}
	p.mu.Lock()
	task := p.asking[e.PreviousEventID]
	if task != nil {
		delete(p.asking, e.PreviousEventID)
		p.asking[e.ID] = task
	}
	p.mu.Unlock()
	if task == nil || e.Type != sim.TaskFailed && e.Type != sim.TaskSucceeded {
		return
	}
	p.update(func() bool {
		if e.Type == sim.TaskFailed {
			p.see(e.Details().Error, "")
			return true
		}
		status, message, err := task.read(e.Details().Output.Value())
		if err != nil {
			return false
		}
		p.statuses = p.statuses.Add(status, p.clock.Now().Sub(p.start))
		p.see(status, message)
		return true
	})
}

// enter follows the entry into a state.
func (p *progress) enter(e sim.Event) {
	name := e.Details().Name
	p.update(func() bool {
		delete(p.asking, e.PreviousEventID)
		if task := p.polls[name]; task != nil {
			p.asking[e.ID] = task
		}
		p.now.Where, p.next = name, time.Time{}
		return false
	})
}

// followCrash follows whether the last event is of a crash.
func (p *progress) followCrash(e sim.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.retrying = ""
	if e.Type == sim.TaskFailed || e.Type == sim.LambdaFunctionFailed {
		cause := e.Details().Cause
		p.retrying = p.crashed[cause]
		delete(p.crashed, cause)
	}
}

// wait notes until when a Wait state, or a retry, waits. It says when a function is invoked
// again that has crashed.
func (p *progress) wait(until time.Time) {
	if p.live == nil {
		return
	}
	p.mu.Lock()
	crashed := p.retrying
	p.mu.Unlock()
	if crashed != "" {
		p.live.Above(func(out io.Writer) {
			terminal.Fprintf(out, "%s: its function failed; next try in %s\n", crashed, kit.ShortDuration(until.Sub(p.clock.Now()).Round(time.Second)))
		})
	}
	p.update(func() bool {
		p.next = until
		return false
	})
}

// see notes what a poll saw.
func (p *progress) see(status, message string) {
	p.now.Polls++
	p.now.Seen, p.now.Message = status, message
}

// update changes what is known, and shows it if change says so.
func (p *progress) update(change func() (show bool)) {
	p.mu.Lock()
	show := change() && p.live != nil
	var s kit.Standing
	if show {
		s = p.at(p.clock.Now())
	}
	p.mu.Unlock()
	if show {
		p.live.Show(s)
	}
}

// trace shows an event.
func (p *progress) trace(out io.Writer, v kit.Views, e sim.Event) {
	if v.Trace {
		p.Above(out, func(out io.Writer) { v.Event(out, p.start, e) })
	}
}

// close ends the display.
func (p *progress) close() { p.live.Close() }
