package sim

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// replay is a run that is made again from the journal. It has a clock of its own, which
// fires a timer where the journal says that it has fired, and its calls have the
// replies of the journal.
type replay struct {
	calls    map[int]*replayedCall
	attempts map[int]*attempt
	missing  map[int]bool // attempts of activities that there were not
	never    map[int]Reply
}

// replayedCall is a call without a reply yet.
type replayedCall struct {
	ctx     context.Context //nolint:containedctx // of the call
	handler Handler
	call    Call
	reply   func(Reply, error)
	again   func() // gives the answer of a handler that was called again; nil: it was not
}

// Replay takes the next record of the journal of a World that is gone, in their order,
// before anything else is asked of this World; then Resume lets it go on. restore
// returns the machine of an execution that was started, and adds to its options what is
// not data: handlers and models. A record that an execution cannot take ends that
// execution, and no other: it is ABORTED, with the reason as its Cause.
func (w *World) Replay(text []byte, restore func(*Options) (*asl.StateMachine, error)) error {
	var rec record
	if err := json.Unmarshal(text, &rec); err != nil {
		return err
	}
	if rec.At.After(w.replayed.until) {
		w.replayed.until = rec.At
	}
	if rec.Kind == clockRecord {
		return nil
	}
	if rec.Kind == startRecord {
		return w.replayStart(&rec, restore)
	}
	r := w.replayed.runs[rec.Run]
	if r == nil {
		return fmt.Errorf("there is no start of the execution number %d", rec.Run)
	}
	if !r.over || rec.Kind == redriveRecord || rec.Kind == forgetRecord {
		r.replayRecord(&rec)
	}
	return nil
}

// replayed are the runs of a World that replays its journal.
type replayed struct {
	runs  map[int64]*run
	until time.Time // of the last record
}

func (w *World) replayStart(rec *record, restore func(*Options) (*asl.StateMachine, error)) error {
	if rec.Start == nil {
		return errors.New("the start of an execution has no data")
	}
	given := rec.Start.options()
	m, err := restore(&given)
	if err != nil {
		return err
	}
	o := rec.Start.options() // what is data stays as it was
	o.Handler, o.Handlers, o.StateHandlers, o.Models = given.Handler, given.Handlers, given.StateHandlers, given.Models
	o.OnMisfit, o.Repeat, o.Resume, o.OnStanding = given.OnMisfit, given.Repeat, given.Resume, given.OnStanding
	o.Clock = NewVirtualClock(rec.At)
	input := []byte(rec.Start.Input)
	if rec.Start.Text != "" {
		input = []byte(rec.Start.Text)
	}
	r, x, payload, err := w.newRun(m, input, o)
	if err != nil {
		return err
	}
	r.number = rec.Run
	w.starts.Store(max(w.starts.Load(), rec.Run))
	r.replay = &replay{calls: map[int]*replayedCall{}, attempts: map[int]*attempt{}, missing: map[int]bool{}, never: map[int]Reply{}}
	if _, err := w.add(x); err != nil {
		return err
	}
	if w.replayed.runs == nil {
		w.replayed.runs = map[int64]*run{}
	}
	w.replayed.runs[rec.Run] = r
	r.act(rec.At, func() { r.start(x, payload) })
	return nil
}

// replayRecord brings a run to where it was when a record was written, and lets it
// happen again.
func (r *run) replayRecord(rec *record) {
	if rec.Kind == missingRecord { // it is written while a timer fires
		r.replay.missing[rec.Number] = true
		return
	}
	r.fireWhile(func() bool { return r.fired < rec.Fired })
	if rec.Kind == endRecord {
		return
	}
	if rec.Kind == forgetRecord {
		r.fireWhile(func() bool { return !r.over })
		r.world.Forget(r.root.result.ExecutionARN)
		delete(r.world.replayed.runs, r.number)
		return
	}
	problem := errors.New("the execution was elsewhere")
	if r.fired == rec.Fired && r.root.lastEvent() == rec.Events {
		r.act(rec.At, func() { problem = r.replayInput(rec) })
	}
	if problem != nil && !r.over {
		r.act(rec.At, func() {
			r.fail(fmt.Errorf("the journal does not fit what the execution did (%s at %s), another version of jobpoller may have written it: %w",
				rec.Kind, formatTime(rec.At), problem))
		})
	}
}

// fireWhile fires the timers of a run that is replayed, in their order.
func (r *run) fireWhile(wanted func() bool) {
	for wanted() {
		t, f := r.clock.takeNext(&r.actor)
		if t == nil {
			return
		}
		r.fire(t, f)
	}
}

// replayInput lets an input from outside happen again.
func (r *run) replayInput(rec *record) error {
	if f := replays[rec.Kind]; f != nil {
		return f(r, rec)
	}
	return fmt.Errorf("a record of the unknown kind %q", rec.Kind)
}

// takeNext takes the first timer of the only actor of a clock.
func (c *Clock) takeNext(a *actor) (*timer, func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.due, a.queued = dueQueues{}, false
	for {
		for len(a.due) > 0 {
			t := a.due.take()
			if f := t.f; f != nil {
				t.f = nil
				return t, f
			}
		}
		if len(c.timers) == 0 {
			return nil, nil
		}
		c.model = c.timers[0].at
		c.promote()
	}
}

var errNoTask = errors.New("no such Task waits")

// replays are what lets an input from outside happen again, by the kind of its record.
var replays = map[recordKind]func(*run, *record) error{
	replyRecord:     (*run).replayReply,
	stopRecord:      (*run).replayStop,
	redriveRecord:   (*run).replayRedrive,
	skipRecord:      (*run).replaySkip,
	updateRecord:    (*run).replayUpdate,
	answerRecord:    (*run).replayAnswer,
	heartbeatRecord: (*run).replayHeartbeat,
	handOutRecord:   (*run).replayHandOut,
}

func (r *run) replayStop(rec *record) error {
	x := r.world.Execution(rec.ARN)
	if x == nil || x.x.run != r {
		return errors.New("no such child execution")
	}
	x.x.stop(rec.Name, rec.Cause)
	return nil
}

func (r *run) replayUpdate(rec *record) error {
	m := r.world.MapRun(rec.ARN)
	if m == nil || m.run.owner.x.run != r || rec.Update == nil {
		return errors.New("no such Map Run")
	}
	m.run.update(*rec.Update)
	return nil
}

func (r *run) replayRedrive(*record) error {
	if err := r.root.refusal(r.now); err != nil {
		return err
	}
	r.restart(r.root.result)
	return nil
}

func (r *run) replaySkip(rec *record) error {
	x := r.world.Execution(rec.ARN)
	if x == nil || x.x.run != r || !x.x.skip(rec.Name) {
		return ErrNoWait
	}
	return nil
}

func (r *run) replayAnswer(rec *record) error {
	a := r.replay.attempts[rec.Number]
	if a == nil || rec.Reply == nil {
		return errNoTask
	}
	if reply, err := rec.Reply.value(); !a.takeAnswer(reply, err) {
		return errNoTask
	}
	return nil
}

func (r *run) replayHeartbeat(rec *record) error {
	a := r.replay.attempts[rec.Number]
	if a == nil || a.done {
		return errNoTask
	}
	a.watch()
	return nil
}

func (r *run) replayHandOut(rec *record) error {
	if a := r.replay.attempts[rec.Number]; a == nil || !a.activityStarted(rec.Name) && !r.over {
		return errNoTask
	}
	return nil
}

func (r *run) replayReply(rec *record) error {
	c := r.replay.calls[rec.Number]
	if c == nil || rec.Reply == nil {
		return errors.New("no such call")
	}
	delete(r.replay.calls, rec.Number)
	reply, err := rec.Reply.value()
	if reply.Never && err == nil {
		r.replay.never[rec.Number] = reply
	}
	c.reply(reply, err)
	return nil
}

// Resume lets a World go on whose journal was replayed. Calls without a reply are made
// again. The clock goes on no earlier than where the journal ends.
func (w *World) Resume() {
	runs := slices.SortedFunc(maps.Values(w.replayed.runs), func(a, b *run) int { return cmp.Compare(a.number, b.number) })
	w.clock.hold()
	defer func() {
		w.clock.mu.Lock()
		defer w.clock.mu.Unlock()
		w.clock.unhold()
	}()
	w.clock.adopt(runs, w.replayed.until)
	w.replayed = replayed{}
	var queued []*attempt
	for _, r := range runs {
		queued = append(queued, r.resume()...)
	}
	slices.SortStableFunc(queued, func(a, b *attempt) int { return a.call.Time.Compare(b.call.Time) })
	for _, a := range queued {
		w.tasks.mu.Lock()
		w.tasks.offer(a, false)
		w.tasks.mu.Unlock()
	}
}

// adopt takes over the timers of runs that were replayed.
func (c *Clock) adopt(runs []*run, until time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if until.After(c.now()) {
		c.anchor()
		c.model = until
	}
	var timers []*timer
	for _, r := range runs {
		own := r.clock
		waiting := slices.Clone(r.actor.due)
		for _, e := range own.timers {
			waiting = append(waiting, e.timer)
		}
		for _, t := range waiting {
			if t.f != nil {
				t.index = -1
				timers = append(timers, t)
			}
		}
		c.tokens += own.tokens
		r.actor.due, r.actor.queued = nil, false
		r.clock, r.options.Clock = c, c
	}
	slices.SortStableFunc(timers, func(a, b *timer) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.actor.run.number, b.actor.run.number), cmp.Compare(a.sequence, b.sequence))
	})
	for _, t := range timers {
		c.sequence++
		t.sequence = c.sequence
		c.timers.push(t)
	}
	c.promote()
	c.changed.Broadcast()
}

// resume makes the calls of a run again that have no reply. It returns the activities'
// Tasks that nobody has taken.
func (r *run) resume() (queued []*attempt) {
	r.actor.mu.Lock()
	defer r.actor.mu.Unlock()
	p := r.replay
	r.replay = nil
	if r.over {
		return nil
	}
	for _, number := range slices.Sorted(maps.Keys(p.calls)) {
		c := p.calls[number]
		switch {
		case c.ctx.Err() != nil: // its Task has ended
		case c.again != nil:
			r.clock.hold()
			c.again()
		default:
			r.callHandler(c.ctx, number, c.handler, c.call, c.reply)
		}
	}
	for _, number := range slices.Sorted(maps.Keys(p.attempts)) {
		a := p.attempts[number]
		switch reply, never := p.never[a.callNumber]; {
		case a.done, a.answered != nil:
		case a.queued:
			queued = append(queued, a)
		case never && r.options.Resume != nil:
			r.clock.hold()
			r.others.Go(func() {
				defer r.clock.endCall()
				r.options.Resume(a.ctx, a.call, reply)
			})
		}
	}
	return queued
}
