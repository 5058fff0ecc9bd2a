// Package soak runs many executions of a poller at once while requests fail,
// answers are lost and invocations die, and compares what came of it with what
// is promised: no second job, no lost or changed result, no wrong end.
package soak

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// Clock is the time of one execution.
type Clock interface {
	Now() time.Time
	// Wait lets d pass.
	Wait(d time.Duration)
}

// Place is where one execution keeps its start record, and its time.
type Place struct {
	Store startrecord.Store
	Clock Clock
	Close func() error
}

// Options are the circumstances of a soak.
type Options struct {
	Executions int
	Seed       uint64
	// Workers is how many executions run at once.
	Workers int
	// Open makes the place of an execution. Faults of the store are its own; it
	// draws them from random, and counts them.
	Open func(name string, random *rand.Rand, c *Counts) (Place, error)
	// Invocation is how long an invocation may last, LeaseMargin the margin
	// of its lease; 0 are the poller's own.
	Invocation, LeaseMargin time.Duration
	// Pace scales the waits of the state machine and the life of the jobs; 0
	// is 1.
	Pace float64
}

const (
	// faultShare is how many of the requests to S3 and of the calls of the job
	// service fail, and how many of the invocations die.
	faultShare = 0.3
	// lateShare is how many of the requests to S3 take their time.
	lateShare = 0.1
)

// Run runs the executions and returns what was counted. Its error is a broken
// set-up; what the poller did wrong is in Counts.Violations.
func Run(ctx context.Context, o Options) (*Counts, error) {
	if o.Pace == 0 {
		o.Pace = 1
	}
	counts := NewCounts()
	numbers := make(chan int)
	var workers sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for range o.Workers {
		workers.Go(func() {
			for n := range numbers {
				if err := soak(ctx, o, n, counts); err != nil {
					mu.Lock()
					failed = err
					mu.Unlock()
				}
			}
		})
	}
	for n := range o.Executions {
		numbers <- n
	}
	close(numbers)
	workers.Wait()
	return counts, failed
}

// soak runs one execution from its start to its end.
func soak(ctx context.Context, o Options, n int, counts *Counts) error {
	name := fmt.Sprintf("soak-%d-%d", o.Seed, n)
	// Each part has draws of its own, so that one fault more does not change
	// all others.
	place, err := o.Open(name, rand.New(rand.NewPCG(o.Seed, uint64(n))), counts) //nolint:gosec // faults, repeatable by design
	if err != nil {
		return err
	}
	e, err := newExecution(o, name, n, place, counts)
	if err == nil {
		e.run(ctx)
	}
	if closeErr := place.Close(); err == nil {
		err = closeErr
	}
	return err
}
