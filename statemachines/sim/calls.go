package sim

import (
	"context"
	"runtime/debug"
	"sync"
)

// drive runs what begin starts to its end, on this goroutine.
func (r *run) drive(ctx context.Context, begin func()) (*Result, error) {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	r.ctx, r.caller = inner, ctx
	r.others, r.actor.pinned = &sync.WaitGroup{}, true
	r.clock.begin(&r.actor, begin)
	r.clock.drive(ctx, r)
	if !r.over {
		r.act(r.clock.Now(), r.abort)
	}
	cancel()
	r.others.Wait()
	if r.broken != nil {
		if r.breakOff == nil {
			return nil, r.broken
		}
		return r.breakOff(r.broken), r.broken
	}
	return r.root.result, nil
}

// handle calls a handler, and then reply. A run on a virtual clock calls it on its own
// goroutine, behind the function that runs; any other on one of the handler.
func (r *run) handle(ctx context.Context, h Handler, call Call, reply func(Reply, error)) {
	if r.world == nil && r.clock.Virtual() {
		r.calls = append(r.calls, func() { r.handleHere(ctx, h, call, reply) })
		return
	}
	r.called++
	if r.replay != nil {
		r.replayCall(r.called, &replayedCall{ctx: ctx, handler: h, call: call, reply: reply})
		return
	}
	r.callHandler(ctx, r.called, h, call, reply)
}

// callHandler calls a handler on a goroutine of its own.
func (r *run) callHandler(ctx context.Context, number int, h Handler, call Call, reply func(Reply, error)) {
	if w := r.world; w != nil { // Close waits for the calls that began before it
		w.mu.RLock()
		defer w.mu.RUnlock()
		if w.Err() != nil {
			return
		}
	}
	if r.burst.open {
		r.burst.holds++
	} else {
		r.clock.hold()
	}
	r.others.Go(func() {
		answer, err := r.callSafely(ctx, h, call)
		if r.world != nil && r.ctx.Err() != nil { // the World is closed: the call has no reply
			r.clock.endCall()
			return
		}
		r.clock.reply(&r.actor, func() { r.takeReply(number, answer, err, reply) })
	})
}

// takeReply goes on with what a handler returned.
func (r *run) takeReply(number int, answer Reply, err error, reply func(Reply, error)) {
	if r.over {
		return
	}
	if r.keepsJournal() {
		var data *replyData
		data, answer, err = replyOf(answer, err)
		if !r.keep(record{Kind: replyRecord, Number: number, Reply: data}) {
			return
		}
	}
	reply(answer, err)
}

func (r *run) handleHere(ctx context.Context, h Handler, call Call, reply func(Reply, error)) {
	if r.over {
		return
	}
	var answer Reply
	var err error
	r.clock.release(func() { answer, err = h(ctx, call) })
	r.clock.catchUp(&r.actor, func() { reply(answer, err) })
}

// callSafely calls a handler. In a World its panic is an error, as one of many
// executions must not end the others.
func (r *run) callSafely(ctx context.Context, h Handler, call Call) (reply Reply, err error) {
	if r.world != nil {
		defer func() {
			if value := recover(); value != nil {
				err = &PanicError{Value: value, Stack: debug.Stack()}
			}
		}()
	}
	return h(ctx, call)
}

// replayCall notes a call that the journal may have the reply of. A handler that is
// deterministic and has a state is called for its state.
func (r *run) replayCall(number int, c *replayedCall) {
	r.replay.calls[number] = c
	if r.options.Repeat == nil || !r.options.Repeat(c.call) {
		return
	}
	reply, err := r.callSafely(c.ctx, c.handler, c.call)
	c.again = func() { r.clock.reply(&r.actor, func() { r.takeReply(number, reply, err, c.reply) }) }
}
