package localloop

import (
	"context"
	"errors"
	"time"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/access"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// Call is a call of a store (Create, Load, Replace, ReplaceIndexed, FindKey) or of a
// driver (Start, Find, Describe, DescribeBatch, Stop).
type Call struct {
	Name string
	// Ref is the job of the call, where Start and Find set it when they return.
	Ref jobs.Ref
}

// Around makes a call by do, whose error it returns or replaces. A test notes the
// calls with it, lets them fail, or lets the invocation die at them.
type Around func(ctx context.Context, call *Call, do func() error) error

// AroundStore returns a store whose calls go through around. It finds records by their
// jobs if the store does.
func AroundStore(s startrecord.Store, around Around) startrecord.Store {
	if i, ok := s.(startrecord.Indexed); ok {
		return indexed{store{s, around}, i}
	}
	return store{s, around}
}

type store struct {
	startrecord.Store

	around Around
}

func (s store) Create(ctx context.Context, key startrecord.Key, rec startrecord.Record) (startrecord.Stored, error) {
	return s.call(ctx, "Create", func() (startrecord.Stored, error) { return s.Store.Create(ctx, key, rec) })
}

func (s store) Load(ctx context.Context, key startrecord.Key) (startrecord.Stored, error) {
	return s.call(ctx, "Load", func() (startrecord.Stored, error) { return s.Store.Load(ctx, key) })
}

func (s store) Replace(ctx context.Context, key startrecord.Key, rec startrecord.Record, version string) (startrecord.Stored, error) {
	return s.call(ctx, "Replace", func() (startrecord.Stored, error) { return s.Store.Replace(ctx, key, rec, version) })
}

func (s store) call(ctx context.Context, name string, do func() (startrecord.Stored, error)) (stored startrecord.Stored, err error) {
	err = s.around(ctx, &Call{Name: name}, func() error {
		stored, err = do()
		return err
	})
	return stored, err
}

type indexed struct {
	store

	index startrecord.Indexed
}

func (s indexed) ReplaceIndexed(ctx context.Context, key startrecord.Key, rec startrecord.Record, version string) (startrecord.Stored, error) {
	return s.call(ctx, "ReplaceIndexed", func() (startrecord.Stored, error) { return s.index.ReplaceIndexed(ctx, key, rec, version) })
}

func (s indexed) Find(ctx context.Context, jobID string) (key startrecord.Key, err error) {
	err = s.around(ctx, &Call{Name: "FindKey"}, func() error {
		key, err = s.index.Find(ctx, jobID)
		return err
	})
	return key, err
}

// AroundDriver returns a driver whose calls go through around. It can stop and find jobs
// if the driver can. It knows the events and the batches that the driver knows.
func AroundDriver(d jobs.Driver, around Around) jobs.Driver {
	base := driver{d, around}
	stopper, stops := d.(jobs.Stopper)
	finder, finds := d.(jobs.Finder)
	switch {
	case stops && finds:
		return struct {
			driver
			stopping
			finding
		}{base, stopping{stopper, around}, finding{finder, around}}
	case stops:
		return struct {
			driver
			stopping
		}{base, stopping{stopper, around}}
	case finds:
		return struct {
			driver
			finding
		}{base, finding{finder, around}}
	default:
		return base
	}
}

type driver struct {
	inner  jobs.Driver
	around Around
}

func (d driver) Name() string                                { return d.inner.Name() }
func (d driver) Waiter() *pollcore.Waiter                    { return d.inner.Waiter() }
func (d driver) Idempotency(r jobs.Request) jobs.Idempotency { return d.inner.Idempotency(r) }
func (d driver) Permissions() []access.Permission            { return d.inner.Permissions() }

func (d driver) Start(ctx context.Context, r jobs.Request) (jobs.Ref, error) {
	call := &Call{Name: "Start"}
	err := d.around(ctx, call, func() (err error) {
		call.Ref, err = d.inner.Start(ctx, r)
		return err
	})
	return call.Ref, err
}

func (d driver) Describe(ctx context.Context, ref jobs.Ref) (output any, err error) {
	err = d.around(ctx, &Call{Name: "Describe", Ref: ref}, func() error {
		output, err = d.inner.Describe(ctx, ref)
		return err
	})
	return output, err
}

// EndTime implements jobs.EndTimer.
func (d driver) EndTime(output any) (at time.Time, ok bool) {
	if timer, says := d.inner.(jobs.EndTimer); says {
		return timer.EndTime(output)
	}
	return time.Time{}, false
}

// WasStopped implements jobs.StopTeller.
func (d driver) WasStopped(output any) (stopped, known bool) {
	if teller, says := d.inner.(jobs.StopTeller); says {
		return teller.WasStopped(output)
	}
	return false, false
}

// JobIDs implements jobs.Announcer: a job without events has no ids.
func (d driver) JobIDs(ref jobs.Ref) ([]string, error) {
	if announcer, ok := d.inner.(jobs.Announcer); ok {
		return announcer.JobIDs(ref)
	}
	return nil, nil
}

// ReadEvent implements jobs.Announcer.
func (d driver) ReadEvent(event map[string]any) (id string, ok bool) {
	if announcer, announces := d.inner.(jobs.Announcer); announces {
		return announcer.ReadEvent(event)
	}
	return "", false
}

// Batch implements jobs.BatchDescriber.
func (d driver) Batch(ref jobs.Ref) (jobs.Batch, error) {
	if batch, ok := d.inner.(jobs.BatchDescriber); ok {
		return batch.Batch(ref)
	}
	return jobs.Batch{}, errors.New("the driver describes one job at a time")
}

// DescribeBatch implements jobs.BatchDescriber, for a driver whose Batch succeeds.
func (d driver) DescribeBatch(ctx context.Context, refs []jobs.Ref) (outputs []any, err error) {
	batch, ok := d.inner.(jobs.BatchDescriber)
	if !ok {
		return nil, errors.New("the driver describes one job at a time")
	}
	err = d.around(ctx, &Call{Name: "DescribeBatch"}, func() error {
		outputs, err = batch.DescribeBatch(ctx, refs)
		return err
	})
	return outputs, err
}

type stopping struct {
	inner  jobs.Stopper
	around Around
}

func (d stopping) Stop(ctx context.Context, ref jobs.Ref) error {
	return d.around(ctx, &Call{Name: "Stop", Ref: ref}, func() error { return d.inner.Stop(ctx, ref) })
}

type finding struct {
	inner  jobs.Finder
	around Around
}

func (d finding) Find(ctx context.Context, r jobs.Request) (ref jobs.Ref, found bool, err error) {
	call := &Call{Name: "Find"}
	err = d.around(ctx, call, func() error {
		call.Ref, found, err = d.inner.Find(ctx, r)
		return err
	})
	return call.Ref, found, err
}
