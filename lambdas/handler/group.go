package handler

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
)

// group is visits whose jobs are described by one call, or one visit.
type group struct {
	visits []*visit
	batch  jobs.BatchDescriber // nil for one visit
	// busy is set once the service throttles a call for a job of this name, or does not
	// answer it in time. The others are not sent then.
	busy *atomic.Bool
}

// groupVisits puts visits together whose jobs can be described by one call.
func groupVisits(visits []*visit) []*group {
	type place struct{ job, group string }
	open, sizes := map[place]*group{}, map[*group]int{}
	busy := map[string]*atomic.Bool{}
	var groups []*group
	add := func(v *visit, batch jobs.BatchDescriber) *group {
		job := v.request.Job
		if busy[job] == nil {
			busy[job] = &atomic.Bool{}
		}
		g := &group{visits: []*visit{v}, batch: batch, busy: busy[job]}
		groups = append(groups, g)
		return g
	}
	for _, v := range visits {
		batch, ok := v.check.driver.(jobs.BatchDescriber)
		if !ok {
			add(v, nil)
			continue
		}
		of, err := batch.Batch(v.check.ref)
		if err != nil || of.Size > of.Max {
			add(v, nil)
			continue
		}
		at := place{v.request.Job, of.Group}
		g := open[at]
		if g == nil || sizes[g]+of.Size > of.Max {
			g = add(v, batch)
			open[at] = g
		} else {
			g.visits = append(g.visits, v)
		}
		sizes[g] += of.Size
	}
	return groups
}

// poll describes the jobs of the group, and does what follows for each: at once for those
// whose answers are given, and one after the other for those that are described alone.
func (g *group) poll(ctx context.Context) []step {
	unanswered := g.describe(ctx)
	steps := make([]step, len(g.visits))
	var together, alone []int
	for i, v := range g.visits {
		steps[i].visit = v
		if v.check.given != nil {
			together = append(together, i)
		} else {
			alone = append(alone, i)
		}
	}
	each(len(together), storeCalls, func(n int) {
		s := &steps[together[n]]
		s.next, s.err = s.visit.poll(ctx, g)
	}, func(n int, err error) { steps[together[n]].err = err })
	each(len(alone), 1, func(n int) {
		s, cause := &steps[alone[n]], unanswered
		if cause == nil && g.busy.Load() {
			cause = fail(ErrorServiceUnavailable, "describe %s: the service throttles, or does not answer", word(s.visit.request.Job))
		}
		if cause != nil {
			s.next, s.err = s.visit.postpone(ctx, cause)
		} else {
			s.next, s.err = s.visit.poll(ctx, g)
		}
	}, func(n int, err error) { steps[alone[n]].err = err })
	return steps
}

// fail is the steps of a group whose visits all fail.
func (g *group) fail(err error) []step {
	steps := make([]step, len(g.visits))
	for i, v := range g.visits {
		steps[i] = step{visit: v, err: err}
	}
	return steps
}

// describe asks for all jobs of the group at once, and gives each its answer. One that
// the answer does not have is described alone later. The error is nil unless all jobs of
// the group are to be described later.
func (g *group) describe(ctx context.Context) error {
	if len(g.visits) == 1 || g.busy.Load() {
		return nil
	}
	refs := make([]jobs.Ref, len(g.visits))
	for i, v := range g.visits {
		refs[i] = v.check.ref
	}
	first := g.visits[0]
	call, cancel := callLimit(ctx)
	defer cancel()
	asked := first.Now()
	var outputs []any
	var err error
	if p := contain(func() { outputs, err = g.batch.DescribeBatch(call, refs) }); p != nil {
		// One odd job must not take the others to the dead-letter queue.
		first.logPanic(ctx, p)
		return nil
	}
	if err != nil && goerror.Passes(err) {
		g.note(err)
		return failBecause(ErrorServiceUnavailable, err, "describe %s", word(first.request.Job))
	}
	for i, output := range outputs[:min(len(outputs), len(refs))] { // none where the call was refused: perhaps for one of the jobs
		if output != nil {
			g.visits[i].check.given = &givenAnswer{output, asked}
		}
	}
	return nil
}

// note notes that the service throttles or does not answer in time, if the error of a
// call says so.
func (g *group) note(err error) {
	if goerror.Classify(err) == awserror.Throttled || errors.Is(err, context.DeadlineExceeded) {
		g.busy.Store(true)
	}
}
