package handler_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
)

// mute is a driver whose Describe returns when its caller gives up.
type mute struct{ *service }

func (mute) Describe(ctx context.Context, _ jobs.Ref) (any, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// slowQueue is a queue that needs a second for its answer.
type slowQueue struct{ *queue }

func (q slowQueue) Send(ctx context.Context, messages []handler.Message) []error {
	select {
	case <-time.After(time.Second):
		return q.queue.Send(ctx, messages)
	case <-ctx.Done():
		errs := make([]error, len(messages))
		for i := range errs {
			errs[i] = ctx.Err()
		}
		return errs
	}
}

// A service that does not answer leaves time to send the messages of all its jobs: else
// SQS counts their deliveries until they are in the dead-letter queue.
func TestCollectWhereAServiceHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newCollectWorld(t, "token", func(cfg *handler.Config) {
			queue, ok := cfg.Queue.(*queue)
			require.True(t, ok)
			cfg.Queue = slowQueue{queue}
		})
		registry, err := jobs.NewRegistry(mute{w.service})
		require.NoError(t, err)
		w.Jobs = registry
		for i := range 10 {
			w.mustStart(t, try{execution: fmt.Sprint(i), token: fmt.Sprint("T", i), request: request})
		}
		w.advance(time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		collected, err := w.deliver(ctx, w.queue.receive(10))
		require.NoError(t, err)
		require.Empty(t, collected.BatchItemFailures)
		require.Len(t, w.queue.messages, 10)
		require.Empty(t, w.tasks.ends)
	})
}
