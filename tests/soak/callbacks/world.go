// Package callbacks runs waits for jobs, each in a world of its own in virtual time, in
// which calls are slow, lost or throttled, invocations die, messages and events come late,
// twice or never, reads come late, and clocks differ. A model that shares no code with the
// functions says what must come of a wait: one answer, in time, which is true of the job.
package callbacks

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/memstore"
	"github.com/jobpoller/jobpoller/tests/soak"
)

const (
	timeLimit      = 30 * time.Second // of an invocation
	slowest        = 4 * time.Minute  // that a call, or a message, may be late
	longestBackOff = time.Minute      // after a call that failed
	longestWorld   = 30 * 24 * time.Hour
	clockSkew      = 2 * time.Second
)

// Classes are the ways in which a service protects a job from a second start.
var Classes = []string{"token", "forgetful token", "natural key", "none"}

var idempotencies = map[string]jobs.Idempotency{
	"token":           {Class: jobs.ByToken},
	"forgetful token": {Class: jobs.ByToken, Window: 10 * time.Minute},
	"natural key":     {Class: jobs.ByNaturalKey},
	"none":            {Class: jobs.NoProtection},
}

// world is one execution with one poller.
type world struct {
	seed     uint64
	name     string
	class    string
	callback bool
	stops    bool // jobs whose time is up
	breach   Breach
	maxWait  time.Duration
	maxDelay time.Duration

	faultShare, lateReadShare float64

	counts   *soak.Counts
	store    *store
	service  *service
	handlers []*handler.Handler // on clocks that differ

	invocations atomic.Int64
	running     sync.WaitGroup
	over        atomic.Bool

	mu       sync.Mutex
	random   *rand.Rand
	injected time.Duration
	waits    []*wait
	tokens   tokens
}

// drawer draws what happens in a world.
type drawer struct{ *rand.Rand }

func (d drawer) chance(share float64) bool { return d.Float64() < share }
func (d drawer) upTo(n int) int            { return d.IntN(n + 1) }

func (d drawer) seconds(from, to time.Duration) time.Duration {
	return from + time.Duration(d.upTo(int((to-from)/time.Second)))*time.Second
}

// newWorld draws the world of a seed.
func newWorld(seed uint64, n int, breach Breach, counts *soak.Counts) (*world, error) {
	d := drawer{rand.New(rand.NewPCG(seed, uint64(n)))} //nolint:gosec // repeatable by design
	w := &world{
		seed: d.Uint64(), name: fmt.Sprintf("seed %d, wait %d", seed, n), class: Classes[d.IntN(len(Classes))],
		callback: d.chance(0.75), stops: d.chance(0.5), counts: counts, random: d.Rand,
		breach:        breach,
		maxWait:       d.seconds(5*time.Minute, 3*time.Hour),
		maxDelay:      []time.Duration{20 * time.Second, time.Minute, 5 * time.Minute, 20 * time.Minute}[d.IntN(4)],
		faultShare:    []float64{0, 0.01, 0.05, 0.1, 0.2}[d.IntN(5)],
		lateReadShare: []float64{0, 0, 0.1}[d.IntN(3)],
	}
	w.store = &store{inner: memstore.New(nil)}
	life := d.seconds(0, w.maxWait+w.maxWait/4)
	switch {
	case d.chance(0.1):
		life = 10 * 24 * time.Hour
	case d.chance(0.2): // the end crosses the deadline
		life = w.maxWait + d.seconds(-time.Minute, 3*time.Minute)
	}
	w.service = &service{world: w, idempotency: idempotencies[w.class], life: life, end: []string{"DONE", "DONE", "BROKEN"}[d.IntN(3)]}
	var records startrecord.Store = w.store
	if !w.callback && d.chance(0.5) {
		records = inS3{records}
	}
	var driver jobs.Driver = w.service
	if w.class == "natural key" {
		driver = searchable{w.service}
	}
	registry, err := jobs.NewRegistry(driver)
	if err != nil {
		return nil, err
	}
	for _, skew := range []time.Duration{-clockSkew, 0, clockSkew} {
		if breach == FastClocks {
			skew = time.Minute
		}
		h, err := handler.New(handler.Config{
			Store: records, Jobs: registry, Queue: &queue{w}, Tasks: &tasks{w}, NoDwell: true,
			Now:    func() time.Time { return time.Now().Add(skew) },
			Random: func(n int64) int64 { return w.drawInt(n) },
			Log:    slog.New(slog.DiscardHandler),
		})
		if err != nil {
			return nil, err
		}
		w.handlers = append(w.handlers, h)
	}
	return w, nil
}

// Breach is what a world does though the functions rely on that it does not. The model
// must see what comes of it.
type Breach int

// The breaches.
const (
	NoBreach Breach = iota
	LostMessages
	HeldMessages      // for a day
	ForgottenTokens   // of starts
	WrongDescriptions // of a job's end
	FastClocks        // of the functions
	UnheardStops
	UnansweredStarts
)

// Run runs execution n of a seed to its end, in a bubble of synctest.
func Run(seed uint64, n int, breach Breach, counts *soak.Counts) error {
	w, err := newWorld(seed, n, breach, counts)
	if err != nil {
		return err
	}
	w.run()
	w.running.Wait()
	w.judge()
	return nil
}

// handler is that of an invocation, whose clock is drawn.
func (w *world) handler() *handler.Handler { return w.handlers[w.drawInt(int64(len(w.handlers)))] }

func (w *world) drawInt(n int64) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.random.Int64N(n)
}

func (w *world) withRandom(draw func(d drawer)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	draw(drawer{w.random})
}

func (w *world) chance(share float64) (yes bool) {
	w.withRandom(func(d drawer) { yes = d.chance(share) })
	return yes
}

func (w *world) seconds(from, to time.Duration) (t time.Duration) {
	w.withRandom(func(d drawer) { t = d.seconds(from, to) })
	return t
}

// inject adds a delay that the world has put into the wait.
func (w *world) inject(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.injected += d
}

func (w *world) isCalm() bool { return w.over.Load() }
func (w *world) isOver() bool { return w.over.Load() }

func (w *world) violation(format string, args ...any) {
	w.counts.Violate("%s (%s, callback %t): %s", w.name, w.class, w.callback, fmt.Sprintf(format, args...))
}

// jobBegins sends the events of the job, some of which are too early.
func (w *world) jobBegins() {
	if !w.callback {
		return
	}
	var at []time.Duration
	w.withRandom(func(d drawer) {
		for range d.upTo(2) {
			at = append(at, max(0, w.service.life+d.seconds(-time.Minute, 5*time.Minute)))
		}
	})
	for _, after := range at {
		w.running.Go(func() {
			<-time.After(after)
			if !w.isOver() {
				w.announce("0")
			}
		})
	}
}
