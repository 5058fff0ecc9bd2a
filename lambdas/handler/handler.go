// Package handler holds the Lambda handlers. Behind a Choice/Wait loop RunJob starts a
// job at most once, and CheckStatus says whether it has ended. For a Task that waits for
// a callback RunJob starts the job, and Collect answers the Task.
// What ties them together is the start record that RunJob writes before it
// starts the job. The mains, users' own mains, local runs and tests all use
// this package; it does I/O only through the store and the drivers it is given.
package handler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// Defaults of Config.
const (
	DefaultLeaseMargin = 5 * time.Second
	DefaultRetention   = 60 * 24 * time.Hour
	DefaultOutputLimit = 200 * 1024
)

// maxOutputLimit leaves of the 256 KiB that Step Functions passes between states
// a sixteenth for the other members of a result.
const maxOutputLimit = 240 * 1024

// redriveWindow is how long after its end an execution can be redriven
// (https://docs.aws.amazon.com/step-functions/latest/dg/redrive-executions.html).
const redriveWindow = 14 * 24 * time.Hour

// defaultInvocation is how long an invocation may last where its context has
// no deadline, as in a program that is not a Lambda function.
const defaultInvocation = time.Minute

// Config is what the handlers work with.
type Config struct {
	Store startrecord.Store
	Jobs  *jobs.Registry
	// Queue holds the messages of the waits that Collect ends, and Tasks answers their
	// Tasks. RunJob needs the queue for a Task that waits for a callback, Collect both.
	Queue Queue
	Tasks Tasks
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Random draws a number from [0, n), for the jitter of the next wait; nil
	// draws uniformly.
	Random func(n int64) int64
	// LeaseMargin is how long after an invocation's end a request that it
	// sent may still have an effect; 0 is DefaultLeaseMargin.
	LeaseMargin time.Duration
	// Retention is how long a start record is kept; 0 is DefaultRetention. It
	// must exceed the longest maxWaitSeconds by 14 days, the time in which an
	// execution can be redriven.
	Retention time.Duration
	// StoreFlags are the flags with which "jobpoller records" opens the store, for errors
	// that name the command: empty for those of the store's location, "none" if the store is
	// in the memory of a process. StoreVariables stand before the command, such as
	// "AWS_ENDPOINT_URL=http://localhost:4566 ".
	StoreFlags, StoreVariables string
	// MaxWait is the longest maxWaitSeconds that a request may ask for; 0
	// leaves only the bound that Retention sets.
	MaxWait time.Duration
	// OutputLimit is the size in bytes of the JSON above which a result's
	// output is cut to the fields that the waiter reads; 0 is
	// DefaultOutputLimit, and more than 245760 leaves no room for the rest.
	OutputLimit int
	// NoDwell is for a clock that stands still while a handler runs: a check
	// returns after one describe call, whatever dwellSeconds the request has.
	NoDwell bool
	// Log gets one record an invocation, without payloads; nil discards.
	Log *slog.Logger
	// Metrics counts what happened to jobs; nil counts nothing.
	Metrics *Metrics
}

// Handler serves the functions. It is safe for concurrent use.
type Handler struct {
	Config

	requests knownRequests
	// index is the store, nil if it does not find records by their jobs.
	index startrecord.Indexed
	// announcers are the drivers whose services send events, by their jobs.
	announcers func() map[string]jobs.Announcer
}

// New checks cfg and fills in its defaults. All problems are reported at once.
func New(cfg Config) (*Handler, error) {
	var problems []error
	if cfg.Store == nil {
		problems = append(problems, errors.New("no store: give one for the start records"))
	}
	if cfg.Jobs == nil || len(cfg.Jobs.Names()) == 0 {
		problems = append(problems, errors.New("no jobs: register at least one driver"))
	}
	if cfg.LeaseMargin < 0 || cfg.Retention < 0 || cfg.MaxWait < 0 || cfg.OutputLimit < 0 {
		problems = append(problems, errors.New("lease margin, retention, longest wait and output limit must not be negative"))
	}
	if cfg.OutputLimit > maxOutputLimit {
		problems = append(problems, fmt.Errorf("output limit must be at most %d bytes, is %d", maxOutputLimit, cfg.OutputLimit))
	}
	problems = append(problems, cfg.checkRetention())
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	cfg.Retention = cmp.Or(cfg.Retention, DefaultRetention)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Random == nil {
		cfg.Random = rand.Int64N
	}
	if cfg.LeaseMargin == 0 {
		cfg.LeaseMargin = DefaultLeaseMargin
	}
	if cfg.OutputLimit == 0 {
		cfg.OutputLimit = DefaultOutputLimit
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	p := &Handler{Config: cfg}
	p.index, _ = cfg.Store.(startrecord.Indexed)
	p.announcers = sync.OnceValue(p.findAnnouncers)
	return p, nil
}

// checkRetention returns an error for records that would not outlive the last
// redrive of their execution.
func (c Config) checkRetention() error {
	if retention := cmp.Or(c.Retention, DefaultRetention); retention <= redriveWindow+c.MaxWait {
		return fmt.Errorf("retention (%s) must be longer than the longest wait (%s) and 14 days: "+
			"an execution can be redriven for 14 days after its end", retention, c.MaxWait)
	}
	return nil
}

// findAnnouncers returns the drivers whose services send events.
func (p *Handler) findAnnouncers() map[string]jobs.Announcer {
	found := map[string]jobs.Announcer{}
	for _, name := range p.Jobs.Names() {
		driver, err := p.Jobs.Driver(name)
		if announcer, ok := driver.(jobs.Announcer); ok && err == nil {
			found[name] = announcer
		}
	}
	return found
}

// place is where the record of a key is, for messages.
func (p *Handler) place(key startrecord.Key) word { return word(p.Store.Location(key)) }

// replace writes a record that is still of the given version. Every write moves
// the record's expiry, so that it outlives a redriven wait too.
func (p *Handler) replace(ctx context.Context, key startrecord.Key, rec startrecord.Record, version string) (startrecord.Stored, error) {
	rec.ExpiresAt = p.Now().UTC().Add(p.Retention)
	return p.Store.Replace(ctx, key, rec, version)
}

// replaceIndexed is replace, and lets the record be found by its job.
func (p *Handler) replaceIndexed(ctx context.Context, key startrecord.Key, rec startrecord.Record, version string) (startrecord.Stored, error) {
	rec.ExpiresAt = p.Now().UTC().Add(p.Retention)
	return p.index.ReplaceIndexed(ctx, key, rec, version)
}
