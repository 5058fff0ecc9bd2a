package pollcore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jobpoller/jobpoller/internal/smithy"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// defaultCallTimeout is what CallTimeout names as the default.
const defaultCallTimeout = 30 * time.Second

// WaitOption changes how a [Wait] goes on. The options that change which calls
// count as done or failed (Transient, Successes, NotFoundGrace) are of Wait
// alone: they have no form in the Smithy data, so Lambdas and state machines
// cannot follow them.
type WaitOption func(*waitSettings)

type waitSettings struct {
	schedule    Schedule
	bounded     bool // by Between: not the waiter's own delays
	callTimeout time.Duration
	onAttempt   func(Attempt)
	onTimeout   func(context.Context) error

	poller Poller

	transient       func(error) bool
	successesNeeded int
	grace           time.Duration
	graceErrors     []string
}

// newWaitSettings applies the options to the waiter's own schedule.
func newWaitSettings(w *Waiter, total time.Duration, options []WaitOption) (waitSettings, error) {
	s := waitSettings{callTimeout: defaultCallTimeout, successesNeeded: 1}
	for i, option := range options {
		if option == nil {
			return s, diag.Problems{{Message: fmt.Sprintf("option %d is nil", i+1)}}
		}
		option(&s)
	}
	own := NewSchedule(w, total)
	if s.schedule.Mode == SmithyExact {
		own = NewSmithySchedule(w, total)
	}
	if !s.bounded {
		s.schedule.Min, s.schedule.Max = own.Min, own.Max
	}
	s.schedule.Total = total
	if err := s.validate(); err != nil {
		return s, err
	}
	s.schedule = s.schedule.Begin()
	return s, nil
}

func (s *waitSettings) validate() error {
	var found diag.Problems
	report := func(format string, args ...any) {
		found = append(found, diag.Problem{Message: fmt.Sprintf(format, args...)})
	}
	if err := s.schedule.Validate(); err != nil {
		found = append(found, err.(diag.Problems)...) //nolint:errorlint // Validate says so
	}
	if s.callTimeout <= 0 {
		report("CallTimeout must be above 0, got %s", s.callTimeout)
	}
	if s.successesNeeded < 1 {
		report("Successes must be at least 1, got %d", s.successesNeeded)
	}
	if s.grace < 0 {
		report("NotFoundGrace must not be negative, got %s", s.grace)
	}
	if s.grace > 0 && len(s.graceErrors) == 0 {
		report("NotFoundGrace needs the names of the errors that it is for")
	}
	for _, name := range s.graceErrors {
		if !errorName.MatchString(name) {
			report("NotFoundGrace needs error codes or shape names, got %q", name)
		}
	}
	if s.schedule.Mode == SmithyExact && s.schedule.Initial >= s.schedule.Total && s.schedule.Total > 0 {
		report("initial delay (%s) leaves no time for a call in the total wait of %s", s.schedule.Initial, s.schedule.Total)
	}
	return found.Err()
}

// tolerates tells whether the caller wants to go on waiting although the
// workflow says that the wait has failed.
func (s *waitSettings) tolerates(r Result, opErr error, elapsed time.Duration) bool {
	if opErr == nil || r.Acceptor != NoAcceptor {
		return false
	}
	if s.transient != nil && s.transient(opErr) {
		return true
	}
	return elapsed <= s.grace && slices.ContainsFunc(s.graceErrors, func(name string) bool { return hasErrorName(opErr, smithy.ShapeName(name)) })
}

// Poller runs the turns of a poll loop: poll once, and again after each delay
// that poll returns for as long as it returns again. A retry.Strategy is one.
type Poller interface {
	Poll(ctx context.Context, poll func(context.Context) (delay time.Duration, again bool, err error)) error
}

// Using leaves the repetition to a Poller, such as one with a limit that
// several waits share. The waiter still judges each call and chooses each
// delay; should the Poller end the series first, its error is the Cause of the
// Error, which matches [ErrTimedOut] if it matches context.DeadlineExceeded and
// else [ErrTooManyAttempts].
func Using(p Poller) WaitOption { return func(s *waitSettings) { s.poller = p } }

// InitialDelay waits before the first call, for a job that cannot have ended
// sooner.
func InitialDelay(d time.Duration) WaitOption {
	return func(s *waitSettings) { s.schedule.Initial = d }
}

// Between bounds the delay between calls instead of the waiter's minDelay and
// maxDelay, without the cap of a minute.
func Between(minDelay, maxDelay time.Duration) WaitOption {
	return func(s *waitSettings) { s.bounded, s.schedule.Min, s.schedule.Max = true, minDelay, maxDelay }
}

// Every calls at a fixed interval, without backoff and jitter.
func Every(d time.Duration) WaitOption { return Between(d, d) }

// Follow calls when the plan says, with neither the waiter's delays nor an
// [InitialDelay].
func Follow(p Planned) WaitOption { return func(s *waitSettings) { s.schedule.Planned = &p } }

// Exact follows the specification to the letter: see [SmithyExact].
func Exact() WaitOption { return func(s *waitSettings) { s.schedule.Mode = SmithyExact } }

// MaxAttempts ends the wait with [ErrTooManyAttempts] after n calls.
func MaxAttempts(n int) WaitOption { return func(s *waitSettings) { s.schedule.MaxAttempts = n } }

// Jitter draws the delays: from [lo, hi], both included, which are narrow
// around a delay that grows (see [Growth]), and in [SmithyExact] mode wide. A
// draw outside the shortest and the longest delay is brought inside. Of the delays of
// [Follow] it draws the jitter.
func Jitter(random func(lo, hi time.Duration) time.Duration) WaitOption {
	return func(s *waitSettings) { s.schedule.Random = random }
}

// CallTimeout limits each call, so that none hangs; the last one, which may
// start at the deadline, can still finish. Default 30 s. A call
// that is cut short fails the wait unless [Transient] says otherwise, since no
// acceptor expects it; one that began at the end of the total wait is a timeout.
func CallTimeout(d time.Duration) WaitOption { return func(s *waitSettings) { s.callTimeout = d } }

// OnAttempt is called after each call, on the goroutine of Wait.
func OnAttempt(f func(Attempt)) WaitOption { return func(s *waitSettings) { s.onAttempt = f } }

// OnTimeout is called when the wait ends because the total wait has passed or
// the attempts are used up, to stop the job for instance. Its context outlives
// that of Wait by one CallTimeout; its error becomes the HookErr of the Error.
func OnTimeout(f func(context.Context) error) WaitOption {
	return func(s *waitSettings) { s.onTimeout = f }
}

// Transient goes on waiting after an error that no acceptor matches if
// classify says so, where the specification would fail at once.
func Transient(classify func(error) bool) WaitOption {
	return func(s *waitSettings) { s.transient = classify }
}

// Successes wants n successes in a row, for states that flap.
func Successes(n int) WaitOption { return func(s *waitSettings) { s.successesNeeded = n } }

// NotFoundGrace goes on waiting after the named errors (codes or shape names)
// until d has passed since Wait began, unless an acceptor matches them: a
// resource that was just made may not be visible everywhere.
func NotFoundGrace(d time.Duration, errorTypes ...string) WaitOption {
	return func(s *waitSettings) { s.grace, s.graceErrors = d, errorTypes }
}
