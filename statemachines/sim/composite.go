package sim

import (
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// composite is the inside of a Parallel or Map: its branches or iterations.
type composite struct {
	owner       *strand
	iterates    bool // an inline Map
	limit       int  // of the concurrency, as the definition has it; 0: none
	concurrency int
	branches    []*branch
	next        int // branch to start
	running     int
	failures    int
	items       int // of a Map
	ended       bool
	// last is the last event of the branch that ended last.
	last      int64
	tolerance *tolerance      // nil: one failed branch is too many
	mapRun    childExecutions // of a distributed Map
}

// branch is a branch of a Parallel, or an iteration, or a child execution, of a
// Map.
type branch struct {
	index  int
	flow   *asl.Flow
	input  func() (*Payload, *failure)
	strand *strand // nil until it is started
	output *Payload
	done   bool
	items  int // of the Map: 1, or as many as are in the batch

	counted counted // by its Map Run
}

// childExecutions are those of a distributed Map, which run in the place of
// strands of the execution.
type childExecutions interface {
	start(c *composite, b *branch, input *Payload)
	resume(c *composite, b *branch)
	redrive() Details // counts a redrive, for the history
	// export writes the results where the state has a ResultWriter.
	export(c *composite, then func(output *Payload, f *failure) *failure) *failure
	end(status Status)
}

// resume goes on with a strand that did not finish: with the branches of its
// state that did not, or with its state from the beginning.
func (s *strand) resume() {
	s.dead, s.over, s.pending, s.pause, s.attempt = false, false, nil, nil, nil
	c, _ := s.inner.(*composite)
	switch {
	case c != nil:
		s.retryCount, s.retries = 0, nil
		c.next, c.running, c.failures, c.ended = 0, 0, 0, false
		if c.mapRun != nil {
			s.record(MapRunRedriven, c.mapRun.redrive())
		}
		s.after(0, func() { s.failState(c.begin()) })
	case s.inside: // its EnteredTime stays
		s.after(0, func() { s.x.run.steps.enter(s, s.enteredTime) })
	default:
		s.after(0, s.enter)
	}
}

// begin starts the branches that may run.
func (c *composite) begin() *failure {
	c.owner.inner = c
	c.last = c.owner.last
	for !c.ended && c.running < c.concurrency && c.next < len(c.branches) && c.owner.alive() {
		if f := c.startNext(c.owner.last); f != nil {
			return c.stop(f)
		}
	}
	if !c.ended && c.running == 0 && c.owner.alive() {
		return c.complete()
	}
	return nil
}

// startNext starts the next branch that is not done yet, after the event.
func (c *composite) startNext(previous int64) *failure {
	for c.next < len(c.branches) {
		b := c.branches[c.next]
		c.next++
		if b.done {
			continue
		}
		return c.start(b, previous)
	}
	return nil
}

// start starts a branch, or goes on with it where a redrive finds it.
func (c *composite) start(b *branch, previous int64) *failure {
	if b.strand != nil {
		c.running++
		c.resume(b, previous)
		return nil
	}
	input, f := b.input()
	if f != nil {
		return f
	}
	c.running++
	if c.mapRun != nil {
		c.mapRun.start(c, b, input)
		return nil
	}
	b.strand = newStrand(c.owner.x, b.flow, newVariables(c.owner.variables))
	b.strand.iterations = append(slices.Clone(c.owner.iterations), b.index)
	c.follow(b, previous)
	b.strand.goTo(b.flow.StartAt, input)
	return nil
}

// resume goes on with a branch in a redrive.
func (c *composite) resume(b *branch, previous int64) {
	if c.mapRun != nil {
		c.mapRun.resume(c, b)
		return
	}
	c.follow(b, previous)
	b.strand.resume()
}

func (c *composite) iteration(b *branch) Details {
	return Details{Name: c.owner.state.Name, Index: &b.index}
}

// follow tells the composite how the strand of a branch ends, which goes on
// after the event.
func (c *composite) follow(b *branch, previous int64) {
	s := b.strand
	s.last = previous
	if c.iterates {
		s.record(MapIterationStarted, c.iteration(b))
	}
	s.finished = func(output *Payload) {
		end := s.last
		if c.iterates {
			end = s.x.record(MapIterationSucceeded, s.last, c.iteration(b))
		}
		c.branchDone(b, output, s.last, end)
	}
	s.failed = func(f *failure) {
		if c.iterates {
			s.x.record(MapIterationFailed, s.last, c.iteration(b))
		}
		if s.state.Type == asl.TypeTask {
			s.x.record(EventType(s.state.Type+stateAborted), s.last, Details{})
		}
		c.branchFailed(b, f, s.last)
	}
}

// branchDone goes on after a branch that succeeded: the next branch after its
// last event, the whole after its end.
func (c *composite) branchDone(b *branch, output *Payload, last, end int64) {
	b.done, b.output = true, output
	b.strand.release()
	c.last = end
	c.proceed(last)
}

// branchFailed goes on after a branch that failed.
func (c *composite) branchFailed(b *branch, f *failure, last int64) {
	c.failures += b.items
	c.last = last
	if c.tolerance.allows(c.failures, c.items) {
		c.proceed(last)
		return
	}
	f.inner = true
	c.owner.failState(c.stop(f))
}

// proceed starts the next branch after the event, or ends the whole after the
// last.
func (c *composite) proceed(last int64) {
	c.running--
	if c.ended || !c.owner.alive() {
		return
	}
	if f := c.startNext(last); f != nil {
		c.owner.failState(c.stop(f))
		return
	}
	if c.running == 0 {
		c.owner.failState(c.complete())
	}
}

// stop aborts the branches that run, because of a failure that it returns.
func (c *composite) stop(f *failure) *failure {
	c.ended = true
	c.owner.last = c.last
	for _, b := range c.branches {
		if c.mapRun != nil || b.strand == nil || b.done || b.strand.over || b.strand.dead {
			continue // a Map Run ends its child executions itself
		}
		c.abort(b, c.last)
	}
	if c.mapRun != nil {
		c.mapRun.end(StatusFailed)
		if c.exports() && len(c.branches) > 0 && f.name != errorResultWriter {
			return c.mapRun.export(c, func(*Payload, *failure) *failure { return c.failRun(f) })
		}
		return c.failRun(f)
	}
	return f
}

// exports tells whether the results of a Map Run go to S3.
func (c *composite) exports() bool {
	w := c.owner.state.Map.ResultWriter
	return w != nil && w.Resource != ""
}

// failRun fails a Map Run.
func (c *composite) failRun(f *failure) *failure {
	c.mapRun.end(StatusFailed)
	c.owner.record(MapRunFailed, Details{Error: f.name, Cause: f.cause})
	return f
}

// abort stops a branch and writes down where it was. All of its events come after
// the one that ends the whole, as AWS has it.
func (c *composite) abort(b *branch, cause int64) {
	s := b.strand
	if inside, _ := s.inner.(*composite); inside != nil && !inside.ended {
		for _, inner := range inside.branches {
			if inside.mapRun == nil && inner.strand != nil && !inner.done && !inner.strand.over {
				inside.abort(inner, cause)
			}
		}
		if inside.mapRun != nil {
			s.x.record(MapRunAborted, cause, Details{})
		}
	}
	s.kill()
	if c.iterates {
		s.x.record(MapIterationAborted, cause, c.iteration(b))
	}
	if s.inside {
		s.x.record(EventType(s.state.Type+stateAborted), cause, Details{})
	}
}

// kill stops all branches without a trace.
func (c *composite) kill() {
	c.ended = true
	for _, b := range c.branches {
		if b.strand != nil {
			b.strand.kill()
		}
	}
	if c.mapRun != nil {
		c.mapRun.end(StatusAborted)
	}
}

// release gives the room of the variables of all branches back. A Map Run is listed for
// long, but never goes on with its branches.
func (c *composite) release() {
	for _, b := range c.branches {
		if b.strand != nil {
			b.strand.release()
		}
		b.input, b.strand, b.output = nil, nil, nil
	}
}

// complete ends the whole with the outputs of its branches.
func (c *composite) complete() *failure {
	c.ended = true
	s := c.owner
	s.last = c.last
	outputs := make([]any, 0, len(c.branches))
	for _, b := range c.branches {
		if b.done {
			outputs = append(outputs, b.output.Value())
		}
	}
	if c.mapRun != nil && s.state.Map.ResultWriter != nil {
		return c.mapRun.export(c, func(output *Payload, f *failure) *failure {
			if f != nil {
				return c.failRun(f)
			}
			return c.succeed(output)
		})
	}
	return c.succeed(newPayload(outputs))
}

// succeed ends the whole with an output.
func (c *composite) succeed(output *Payload) *failure {
	s := c.owner
	succeeded, previous := ParallelStateSucceeded, s.last
	if s.state.Type == asl.TypeMap {
		succeeded = MapStateSucceeded
	}
	if c.mapRun != nil {
		c.mapRun.end(StatusSucceeded)
		previous = s.x.record(MapRunSucceeded, previous, Details{})
	}
	s.x.record(succeeded, previous, Details{}) // the exit comes after neither
	if !s.alive() {
		return nil
	}
	return s.complete(output)
}

// tolerance is how many of the items of a Map may fail.
type tolerance struct {
	count *int64   // nil: as many as there are
	share *float64 // percent; nil: all
}

// allows tells whether so many failed of so many items are no failure of the Map.
func (t *tolerance) allows(failures, items int) bool {
	const whole = 100
	return t != nil && (t.count == nil || int64(failures) <= *t.count) && (t.share == nil || float64(failures)*whole <= *t.share*float64(items))
}
