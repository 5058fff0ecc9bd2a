package sim

import (
	"cmp"
	"time"
)

var closedChannel = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// Execution is an execution of a World. It is safe for concurrent use.
type Execution struct {
	world *World
	x     *execution
	arn   string
	done  chan struct{} // nil until it is asked for
}

// ARN returns the ARN of the execution.
func (e *Execution) ARN() string { return e.arn }

// Status returns the status of the execution, which may be StatusRunning.
func (e *Execution) Status() Status {
	defer e.lock()()
	return e.x.status()
}

// Root returns the execution that was started, of which a child execution is a part.
func (e *Execution) Root() *Execution { return e.x.run.root.handle }

// Done returns a channel that is closed when the execution has ended. That of a
// redrive is a new one.
func (e *Execution) Done() <-chan struct{} {
	defer e.lock()()
	switch {
	case e.x.over:
		return closedChannel
	case e.done == nil:
		e.done = make(chan struct{})
	}
	return e.done
}

// Result returns the execution once it has ended, and nil before. It is not to be
// changed. Visits, Edges and Calls are not counted in a World, so that many executions
// need little memory: package history counts them in the events.
func (e *Execution) Result() *Result {
	defer e.lock()()
	if !e.x.over {
		return nil
	}
	if e.x.result.Events == nil {
		e.x.result.Events = e.x.history.whole()
	}
	result := *e.x.result
	return &result
}

// Events returns the events after the one with the ID, at most n of them; n <= 0: all.
func (e *Execution) Events(after int64, n int) []Event {
	defer e.lock()()
	return e.x.history.after(after, n)
}

// Bytes returns how many bytes of memory the execution takes, about, with all child
// executions of its Map Runs, and with those around it if it is one.
func (e *Execution) Bytes() int64 {
	defer e.lock()()
	return e.x.run.bytes
}

// Stop stops the execution as AWS does, with error and cause, which may be empty, and
// returns when it ended. Nothing happens to one that has ended.
func (e *Execution) Stop(name, cause string) (stopped time.Time, err error) {
	r := e.x.run
	err = r.ask(func() {
		if !e.x.over && r.keep(record{Kind: stopRecord, ARN: e.ARN(), Name: name, Cause: cause}) {
			e.x.stop(name, cause)
		}
		stopped = e.x.result.Stop
	})
	return stopped, err
}

// Redrive goes on with an execution that did not succeed: see the function Redrive.
// It returns the time of the redrive. Errors: ErrRedriveRunning and its kin, and
// ErrWorldClosed.
func (e *Execution) Redrive() (redriven time.Time, err error) {
	r := e.x.run
	closed := r.ask(func() {
		if err = e.x.refusal(r.now); err == nil && r.keep(record{Kind: redriveRecord}) {
			redriven = r.now
			r.restart(e.x.result)
		}
	})
	return redriven, cmp.Or(closed, err)
}

// lock locks the execution, with all that it is a part of.
func (e *Execution) lock() (unlock func()) {
	mu := &e.x.run.actor.mu
	mu.Lock()
	return mu.Unlock
}
