package handler

import (
	"context"
	"time"
)

// Lambda kills a function at its time limit, and then there is no log line, no
// metric, no record and no name of an error. So the work of an invocation ends
// before: minReserve to maxReserve, by how long it may last.
const (
	minReserve = 500 * time.Millisecond
	maxReserve = time.Second
	// shares is how many parts the time that is left is cut into: one call of a
	// service may take all but one, which is for recording what came of it.
	shares = 4
	// minStart is what a start call needs: one that is sure to be cut off must
	// not be sent.
	minStart = 250 * time.Millisecond
)

// limitWork returns the context of an invocation's work, and when the invocation
// itself is over. An invocation without a limit of its own, as in a program that
// is not a Lambda function, has the one that is given.
func limitWork(ctx context.Context, otherwise time.Duration) (work context.Context, killed time.Time, cancel context.CancelFunc) {
	killed, bounded := ctx.Deadline()
	if !bounded {
		killed = time.Now().Add(otherwise)
	}
	work, cancel = context.WithDeadline(ctx, killed.Add(-reserve(time.Until(killed))))
	return work, killed, cancel
}

// reserve is what an invocation leaves of the time it has.
func reserve(left time.Duration) time.Duration { return min(max(left/6, minReserve), maxReserve) }

// callLimit returns the context of one call of a service: of a minute at most, and
// one that gets no answer leaves time to record that.
func callLimit(work context.Context) (context.Context, context.CancelFunc) {
	limit := defaultInvocation
	if deadline, bounded := work.Deadline(); bounded {
		left := time.Until(deadline)
		limit = min(limit, left-left/shares)
	}
	return context.WithTimeout(work, limit)
}
