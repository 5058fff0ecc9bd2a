package control

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/jobpoller/jobpoller/internal/timespan"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// Clock is a clock that clients change, one after the other.
type Clock struct {
	clock *sim.Clock

	turn   chan struct{} // holds a token while nobody changes the clock
	before mode          // the pause; guarded by turn
}

// mode is how a clock goes on after a pause.
type mode struct {
	virtual bool
	factor  float64
}

// NewClock lets clients change a clock.
func NewClock(c *sim.Clock) *Clock {
	k := &Clock{clock: c, turn: make(chan struct{}, 1), before: mode{factor: 1}}
	k.turn <- struct{}{}
	return k
}

// State is how a clock stands. Its JSON members are a contract.
type State struct {
	Now time.Time `json:"now"`
	// Mode is real, virtual, manual, or a factor such as x60.
	Mode   string  `json:"mode"`
	Factor float64 `json:"factor"`
	// NextEvent is when the next timer is due; nil if none waits.
	NextEvent *time.Time `json:"nextEvent"`
	// Calls of Tasks are under way, and Tokens are waited for from outside.
	Calls  int `json:"calls"`
	Tokens int `json:"tokens"`
}

// Change is what a client asks of a clock: one of its members.
type Change struct {
	// Advance lets so much time pass, such as "10m" or "1d", and To the time until
	// then. All that is due on the way happens, in order, before the answer.
	Advance string     `json:"advance,omitempty"`
	To      *time.Time `json:"to,omitempty"`
	// NextEvent lets the time pass until the next timer is due.
	NextEvent bool `json:"nextEvent,omitempty"`
	// Factor is how fast the clock goes from now on; 0 lets it stand.
	Factor *float64 `json:"factor,omitempty"`
	// Virtual lets the clock jump from timer to timer.
	Virtual bool `json:"virtual,omitempty"`
	// Pause lets the clock stand, and false lets it go on as before.
	Pause *bool `json:"pause,omitempty"`
}

// maxSettle is how long a change waits for what happens on the way.
const maxSettle = time.Minute

// State returns how the clock stands.
func (k *Clock) State() State {
	s := k.clock.State()
	state := State{Now: s.Now.UTC(), Mode: "x" + strconv.FormatFloat(s.Factor, 'g', -1, 64), Factor: s.Factor, Calls: s.Calls, Tokens: s.Tokens}
	switch {
	case s.Virtual:
		state.Mode = "virtual"
	case s.Factor == 0:
		state.Mode = "manual"
	case s.Factor == 1:
		state.Mode = "real"
	}
	if !s.Next.IsZero() {
		next := s.Next.UTC()
		state.NextEvent = &next
	}
	return state
}

// Change changes the clock, and returns how it stands when all that is due has
// happened.
func (k *Clock) Change(ctx context.Context, c Change) (State, error) {
	if n := c.members(); n != 1 {
		return State{}, refuse(http.StatusBadRequest, "expected one of advance, to, nextEvent, factor, virtual and pause, found %d", n)
	}
	ctx, cancel := context.WithTimeout(ctx, maxSettle)
	defer cancel()
	select {
	case <-k.turn:
		defer func() { k.turn <- struct{}{} }()
	case <-ctx.Done():
		return State{}, refuse(http.StatusConflict, "another change of the clock is under way")
	}
	if err := k.change(ctx, c); err != nil {
		return State{}, err
	}
	return k.State(), nil
}

func (c *Change) members() int {
	n := 0
	for _, given := range []bool{c.Advance != "", c.To != nil, c.NextEvent, c.Factor != nil, c.Virtual, c.Pause != nil} {
		if given {
			n++
		}
	}
	return n
}

func (k *Clock) change(ctx context.Context, c Change) error {
	now := k.clock.Now()
	switch {
	case c.Advance != "":
		d, err := readDuration(c.Advance)
		if err != nil {
			return refuse(http.StatusBadRequest, "advance: %v", err)
		}
		return k.advance(ctx, now.Add(d))
	case c.To != nil:
		if c.To.Sub(now) > maxAdvance {
			return refuse(http.StatusBadRequest, "to: at most %d days from now", maxAdvance/day)
		}
		if c.To.Before(now) {
			return refuse(http.StatusBadRequest, "to: the clock is past that, at %s", now.UTC().Format(time.RFC3339))
		}
		return k.advance(ctx, *c.To)
	case c.NextEvent:
		at, ok := k.clock.Next()
		if !ok {
			return refuse(http.StatusConflict, "no timer waits: start an execution, or answer what waits for a token")
		}
		return k.advance(ctx, at)
	case c.Virtual:
		k.clock.SetVirtual()
		return nil
	case c.Factor != nil:
		if err := k.clock.SetFactor(*c.Factor); err != nil {
			return refuse(http.StatusBadRequest, "factor: %v", err)
		}
		return nil
	}
	return k.pause(*c.Pause)
}

// pause lets the clock stand, or go on.
func (k *Clock) pause(pause bool) error {
	s := k.clock.State()
	stands := !s.Virtual && s.Factor == 0
	switch {
	case pause && !stands:
		k.before = mode{s.Virtual, s.Factor}
		return k.clock.SetFactor(0)
	case !pause && stands && k.before.virtual:
		k.clock.SetVirtual()
	case !pause && stands:
		return k.clock.SetFactor(k.before.factor)
	}
	return nil
}

func (k *Clock) advance(ctx context.Context, to time.Time) error {
	err := k.clock.Advance(ctx, to)
	if err != nil && ctx.Err() != nil {
		return refuse(http.StatusGatewayTimeout, "calls of Tasks are still under way: the clock is at %s", k.clock.Now().UTC().Format(time.RFC3339))
	}
	return err
}

const (
	day        = 24 * time.Hour
	maxAdvance = 100 * asl.MaxStandardTime
)

// readDuration reads a time span, such as 10m or 1.5d.
func readDuration(text string) (time.Duration, error) {
	d, err := timespan.Parse(text)
	if err != nil || d <= 0 || d > maxAdvance {
		return 0, fmt.Errorf("expected a time span such as 90s, 10m, 24h or 7d, found %q", text)
	}
	return d, nil
}
