package callbacks

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"syscall"
	"time"
)

// fault is what becomes of a call to the store, the queue, Step Functions or the service.
type fault int

const (
	noFault    fault = iota
	lostBefore       // the request is lost, and the caller is told so
	lostAfter        // the answer is lost
	throttled        // refused because of too many requests
	slow             // the effect comes later, and the answer after it
	diesBefore       // the invocation ends before the call
	diesAfter        // and after it
)

// errLost is what a caller sees of a call that was lost.
var errLost = &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}

// killed is what an invocation panics with where Lambda would end it.
type killed struct{}

// invocation is one invocation of a function. Its faults are drawn from a source of its
// own, so that they do not depend on what runs beside it.
type invocation struct {
	world *world
	calm  bool // no faults

	mu     sync.Mutex
	random *rand.Rand
	dead   bool
}

type invocationKey struct{}

func (w *world) newInvocation() *invocation {
	n := w.invocations.Add(1)
	return &invocation{world: w, random: rand.New(rand.NewPCG(w.seed, uint64(n))), calm: w.isCalm()} //nolint:gosec // repeatable by design
}

// invoke runs a function with a time limit, as Lambda does. died tells that it was killed.
func invoke[T any](i *invocation, do func(ctx context.Context) (T, error)) (result T, died bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithValue(context.Background(), invocationKey{}, i), timeLimit)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			if _, ok := p.(killed); !ok {
				panic(p)
			}
		}
		i.mu.Lock()
		defer i.mu.Unlock()
		if i.dead { // the panic of a visit does not end the others
			died = true
		}
	}()
	result, err = do(ctx)
	return result, false, err
}

// chance and the like draw from the source of the invocation.
func (i *invocation) chance(share float64) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.random.Float64() < share
}

func (i *invocation) intN(n int) int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.random.IntN(n)
}

func (i *invocation) upTo(d time.Duration) time.Duration { return time.Duration(i.intN(int(d) + 1)) }

// draw decides what becomes of a call.
func (i *invocation) draw(possible []fault) (fault, time.Duration) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.dead {
		return diesBefore, 0
	}
	if i.calm || i.random.Float64() >= i.world.faultShare {
		return noFault, 0
	}
	f := possible[i.random.IntN(len(possible))]
	if f == diesBefore || f == diesAfter {
		i.dead = true
	}
	return f, time.Duration(1+i.random.IntN(int(slowest/time.Second))) * time.Second
}

// call makes a call of an invocation: its effect, and what may become of it.
func call[T any](ctx context.Context, name string, possible []fault, effect func() (T, error)) (answer T, err error) {
	i, ok := ctx.Value(invocationKey{}).(*invocation)
	if !ok {
		return effect()
	}
	f, late := i.draw(possible)
	if f != noFault {
		i.world.counts.Add(fmt.Sprintf("fault: %s of %s", f, name))
	}
	switch f {
	case diesBefore:
		panic(killed{})
	case diesAfter:
		_, _ = effect()
		panic(killed{})
	case lostBefore:
		i.world.inject(longestBackOff)
		return answer, errLost
	case lostAfter:
		_, _ = effect()
		i.world.inject(longestBackOff)
		return answer, errLost
	case throttled:
		i.world.inject(longestBackOff)
		return answer, errThrottled
	case slow:
		i.world.inject(late + longestBackOff)
		return comesLate(ctx, i, late, effect)
	default:
		return effect()
	}
}

// callFor makes a call for its effect alone.
func callFor(ctx context.Context, name string, possible []fault, effect func() error) error {
	_, err := call(ctx, name, possible, func() (struct{}, error) { return struct{}{}, effect() })
	return err
}

// comesLate makes a call that lasts. Its effect comes also if the caller has gone.
func comesLate[T any](ctx context.Context, i *invocation, late time.Duration, effect func() (T, error)) (answer T, err error) {
	type result struct {
		answer T
		err    error
	}
	done := make(chan result, 1)
	i.world.running.Go(func() {
		<-time.After(late)
		answer, err := effect()
		done <- result{answer, err}
	})
	select {
	case r := <-done:
		return r.answer, r.err
	case <-ctx.Done():
		return answer, errLost
	}
}

func (f fault) String() string {
	return [...]string{"none", "lost before its effect", "answer lost", "throttled", "slow", "death before", "death after"}[f]
}
