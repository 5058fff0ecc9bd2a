package soak

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/startrecordtest"
)

// ModelOptions are the circumstances of a model check.
type ModelOptions struct {
	// Steps is how many operations of the handlers are taken: calls of the store
	// and of the job service.
	Steps int
	Seed  uint64
	// Wrap, if it is not nil, changes the store of each execution.
	Wrap func(store startrecord.Store) startrecord.Store
	// Expiry, if it is not nil, is when records are removed, instead of by the
	// rules of S3 and DynamoDB in turn.
	Expiry startrecordtest.Expiry
}

// Times of the model. An invocation without a deadline has a minute, and a request
// that it has sent may have its effect within the lease margin.
const (
	invocationLimit = time.Minute
	leaseMargin     = 5 * time.Second
	redriveWindow   = 14 * 24 * time.Hour
	retention       = 60 * 24 * time.Hour
	maxSkew         = 10 * time.Minute
	day             = 24 * time.Hour
)

// Model runs the handlers one operation at a time, on one goroutine: of up to four
// invocations of an execution it draws which goes on, and before and after each
// operation an invocation may die, stall for days, or lose its answer. Executions are
// aborted and redriven, for up to a year, while their records expire. What must not
// happen and does is in Counts.Violations, with the seed that does it again.
func Model(ctx context.Context, o ModelOptions) (*Counts, error) {
	counts := NewCounts()
	for n := 0; counts.Of("steps") < o.Steps && len(counts.Violations()) == 0; n++ {
		m, err := newModel(o, n, counts)
		if err != nil {
			return counts, err
		}
		m.run(ctx)
	}
	return counts, nil
}

// operations is a store in which requests are lost before or after their effect.
type operations struct {
	startrecord.Store

	random *rand.Rand
	counts *Counts
	calm   bool
}

var errNoAnswer = fmt.Errorf("%w: no answer", startrecord.ErrUnavailable)

func (s *operations) Create(ctx context.Context, key startrecord.Key, rec startrecord.Record) (startrecord.Stored, error) {
	return s.lose("create", func() (startrecord.Stored, error) { return s.Store.Create(ctx, key, rec) })
}

func (s *operations) Load(ctx context.Context, key startrecord.Key) (startrecord.Stored, error) {
	return s.lose("load", func() (startrecord.Stored, error) { return s.Store.Load(ctx, key) })
}

func (s *operations) Replace(ctx context.Context, key startrecord.Key, rec startrecord.Record, version string) (startrecord.Stored, error) {
	return s.lose("replace", func() (startrecord.Stored, error) { return s.Store.Replace(ctx, key, rec, version) })
}

func (s *operations) lose(name string, do func() (startrecord.Stored, error)) (startrecord.Stored, error) {
	draw := s.random.Float64()
	switch {
	case s.calm || draw > 0.15:
		return do()
	case draw > 0.07:
		s.counts.Add("fault: " + name + " lost before its effect")
		return startrecord.Stored{}, errNoAnswer
	default:
		if _, err := do(); errors.Is(err, startrecord.ErrExists) || errors.Is(err, startrecord.ErrChanged) {
			return startrecord.Stored{}, err
		}
		s.counts.Add("fault: " + name + " done, answer lost")
		return startrecord.Stored{}, errNoAnswer
	}
}

// invocation is one call of a handler, which stands still before and after each of
// its operations until it is resumed.
type invocation struct {
	began  time.Time
	at     moment
	parked chan bool // it stands at an operation, or false: it has ended
	resume chan bool // whether it dies there
	end    func()    // what its end means
}

// start begins an invocation and runs it to its first operation.
func (m *model) start(ctx context.Context, call func(context.Context), end func()) {
	inv := &invocation{began: m.clock.Now(), parked: make(chan bool), resume: make(chan bool), end: end}
	go func() {
		defer close(inv.parked)
		call(context.WithValue(ctx, deathKey{}, func(at moment) bool {
			inv.at = at
			inv.parked <- true
			return <-inv.resume
		}))
	}()
	m.settle(inv, <-inv.parked)
}

// step lets an invocation go on to its next operation, or die.
func (m *model) step(inv *invocation, dies bool) {
	if inv.at == before && !dies {
		m.counts.Add("steps")
	}
	inv.resume <- dies
	m.settle(inv, <-inv.parked)
}

// settle notes whether an invocation stands or has ended.
func (m *model) settle(inv *invocation, parked bool) {
	for i, other := range m.active {
		if other == inv {
			m.active = append(m.active[:i], m.active[i+1:]...)
			break
		}
	}
	if parked {
		m.active = append(m.active, inv)
		return
	}
	inv.end()
}

// mustDie tells whether an invocation has to die where it stands. What it has sent
// before Lambda killed it may have its effect for a while.
func (m *model) mustDie(inv *invocation) bool {
	late := m.clock.Now().Sub(inv.began) - invocationLimit
	if late <= 0 {
		return m.random.Float64() < 0.01
	}
	if inv.at == before && late < leaseMargin && m.random.IntN(2) == 0 {
		m.counts.Add("late effects")
		return false
	}
	return true
}

// pass lets time pass: a little, or enough to stall all that runs.
func (m *model) pass() {
	var d time.Duration
	switch draw := m.random.Float64(); {
	case draw < 0.60:
		d = time.Duration(m.random.Int64N(int64(3 * time.Second)))
	case draw < 0.95:
		d = time.Duration(m.random.Int64N(int64(90 * time.Second)))
	case draw < 0.99:
		d = time.Duration(m.random.Int64N(int64(time.Hour)))
	default:
		d = time.Duration(m.random.Int64N(int64(3 * day)))
		m.counts.Add("jumps of days")
	}
	// What is under way when its invocation is killed takes effect then, not later.
	if len(m.active) > 0 && m.random.IntN(3) == 0 {
		if left := m.active[0].began.Add(invocationLimit + leaseMargin/2).Sub(m.clock.Now()); left > 0 {
			d = left
		}
	}
	m.clock.Wait(d)
}
