package pollcore

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// latenessCap is the longest delay that a Schedule takes over from a waiter
// outside SmithyExact mode. AWS's waiters hold a maxDelay of up to eight
// hours, with which a finished job is noticed hours late.
const latenessCap = time.Minute

// The rule of FullWindow: delay n is Min * Growth^(n-1), Max at most, drawn from
// Spread of it to either side as far as both Min and Max leave room. Delays that
// are drawn over a wide range find an end later than even ones of the same mean;
// so only the delays that grow are drawn, which is where waits drift apart.
const (
	Growth = 1.15
	Spread = 0.1
)

// Status is where a poll loop stands; Choice states read it.
type Status string

// The statuses of a poll loop.
const (
	Running   Status = "RUNNING"
	Succeeded Status = "SUCCEEDED"
	Failed    Status = "FAILED"
	TimedOut  Status = "TIMED_OUT"
)

// Mode is how a Schedule treats the end of the wait.
type Mode int

const (
	// FullWindow lets a call start up to and at the deadline, and a verdict
	// obtained counts even if it arrives after it: a job that has finished is
	// never reported as timed out. Its delays grow by [Growth].
	FullWindow Mode = iota
	// SmithyExact follows the specification to the letter: delays are drawn
	// between minDelay and a ceiling that doubles, no call starts in the last
	// minDelay, and a verdict that arrives late is a timeout.
	SmithyExact
)

// Schedule says when to call again and when to give up. It is a value without
// state.
type Schedule struct {
	// Total is how long the job may take, from its start. Required.
	Total time.Duration
	// Initial is the delay before the first call.
	Initial time.Duration
	// Min and Max bound the delay between calls; only the last delay may be
	// shorter than Min.
	Min, Max time.Duration
	Mode     Mode
	// MaxAttempts is how many calls may be made; 0 is any number.
	MaxAttempts int
	// Random draws from [lo, hi], both included, and may round what it draws; a
	// draw outside Min and Max is brought inside. nil draws uniformly.
	Random func(lo, hi time.Duration) time.Duration
	// Planned has the delays instead of Initial, Min, Max and Growth, in mode
	// FullWindow. Random draws only its Jitter. Only the last delay may be shorter: it
	// ends at the deadline.
	Planned *Planned
}

// Progress is how far a wait has come when a call has returned.
type Progress struct {
	// Attempts counts the calls made. 0 means that nobody counts them: the
	// delay is then taken from the time since the first call, with which it
	// grows just as fast.
	Attempts int
	Elapsed  time.Duration
}

// Decision is what a poll loop does after a call.
type Decision struct {
	Status Status
	Delay  time.Duration // before the next call, while Running
	// Exhausted is set where the status is TimedOut because MaxAttempts calls
	// have been made, not because the deadline has passed.
	Exhausted bool
}

// NewSchedule returns the waiter's FullWindow schedule for a total wait, with
// the specification's defaults and delays above a minute cut to it.
func NewSchedule(w *Waiter, total time.Duration) Schedule {
	lo, hi := w.delays()
	s := Schedule{Total: total, Min: time.Duration(lo) * time.Second, Max: time.Duration(hi) * time.Second}
	s.Max = min(s.Max, max(s.Min, latenessCap))
	return s
}

// NewSmithySchedule returns the waiter's SmithyExact schedule for a total wait.
func NewSmithySchedule(w *Waiter, total time.Duration) Schedule {
	lo, hi := w.delays()
	return Schedule{Total: total, Min: time.Duration(lo) * time.Second, Max: time.Duration(hi) * time.Second, Mode: SmithyExact}
}

// Validate reports every value out of range at once, as a [diag.Problems].
func (s Schedule) Validate() error {
	var found diag.Problems
	report := func(format string, args ...any) {
		found = append(found, diag.Problem{Message: fmt.Sprintf(format, args...)})
	}
	if s.Total <= 0 {
		report("total wait must be above 0, got %s", s.Total)
	}
	if s.MaxAttempts < 0 {
		report("maximum number of attempts must not be negative, got %d", s.MaxAttempts)
	}
	if s.Planned != nil {
		if s.Mode != FullWindow {
			report("a planned schedule has no delays to draw: use it in mode FullWindow")
		}
		if err := s.Planned.Validate(); err != nil {
			found = append(found, err.(diag.Problems)...) //nolint:errorlint // Validate says so
		}
		return found.Err()
	}
	if s.Initial < 0 {
		report("initial delay must not be negative, got %s", s.Initial)
	}
	if s.Min <= 0 {
		report("minimum delay must be above 0, got %s", s.Min)
	}
	if s.Max < s.Min {
		report("maximum delay (%s) must not be below the minimum delay (%s)", s.Max, s.Min)
	}
	return found.Err()
}

// Begin returns the schedule of one wait. It draws the jitter of a planned one, if there
// is one, so that First and Next go by the same draw.
func (s Schedule) Begin() Schedule {
	if s.Planned != nil && s.Planned.Jitter > 0 {
		drawn := s.Planned.Draw(s.Random)
		s.Planned = &drawn
	}
	return s
}

// First returns the delay before the first call, with the jitter of a planned one, which
// it draws anew unless [Schedule.Begin] has drawn it.
func (s Schedule) First() time.Duration {
	if s.Planned != nil {
		return min(s.Begin().Planned.Before(1), s.Total)
	}
	return min(s.Initial, s.Total)
}

// FirstBounds are those of the draw of First.
func (s Schedule) FirstBounds() (lo, hi time.Duration) {
	if s.Planned != nil {
		return min(s.Planned.Before(1), s.Total), min(s.Planned.latestFirst(), s.Total)
	}
	return s.First(), s.First()
}

// Next decides after a call with verdict v. It is pure but for the draw from
// Random.
func (s Schedule) Next(v Verdict, p Progress) Decision {
	if s.Mode == SmithyExact && p.Elapsed > s.Total {
		return Decision{Status: TimedOut}
	}
	switch v {
	case Success:
		return Decision{Status: Succeeded}
	case Failure:
		return Decision{Status: Failed}
	case Retry:
	}
	delay, ok := s.next(p)
	switch {
	case !ok:
		return Decision{Status: TimedOut}
	case s.MaxAttempts > 0 && p.Attempts >= s.MaxAttempts:
		return Decision{Status: TimedOut, Exhausted: true}
	default:
		return Decision{Status: Running, Delay: delay}
	}
}

// Bounds are those of the draw after a call, before the end of the wait cuts the
// delay. Without a draw, the delay of FullWindow is their middle.
func (s Schedule) Bounds(p Progress) (lo, hi time.Duration) {
	if s.Planned != nil {
		delay := s.Planned.next(p)
		return delay, delay
	}
	if s.Mode == SmithyExact {
		return s.Min, max(s.Min, s.doubleDelay(p))
	}
	delay := s.grown(p)
	spread := max(0, min(time.Duration(math.Round(float64(delay)*Spread)), delay-s.Min, s.Max-delay))
	return delay - spread, delay + spread
}

// next returns the delay before the next call, if there is time for one.
func (s Schedule) next(p Progress) (delay time.Duration, ok bool) {
	remaining := s.Total - p.Elapsed
	if s.Mode == SmithyExact {
		if remaining <= s.Min {
			return 0, false
		}
		if delay = s.draw(p); remaining-delay <= s.Min {
			delay = remaining - s.Min
		}
		return delay, true
	}
	if remaining <= 0 {
		return 0, false
	}
	if s.Planned != nil {
		return min(s.Planned.next(p), remaining), true
	}
	delay = s.draw(p)
	// The last call starts at the deadline, and the one before it leaves it a
	// minimum delay where that is possible between Min and Max.
	switch {
	case remaining-delay >= s.Min:
	case remaining <= s.Max:
		delay = remaining
	default:
		delay = max(s.Min, remaining-s.Min)
	}
	return delay, true
}

// grown is the delay of FullWindow. Delays of Min, Min*Growth, Min*Growth^2 ...
// add up to what the next one is longer than Min, divided by Growth-1.
func (s Schedule) grown(p Progress) time.Duration {
	grown := float64(s.Min) * math.Pow(Growth, float64(p.Attempts-1))
	if p.Attempts <= 0 {
		grown = float64(s.Min) + (Growth-1)*float64(max(0, p.Elapsed-s.Initial))
	}
	if grown >= float64(s.Max) {
		return s.Max
	}
	return time.Duration(math.Round(grown))
}

// doubleDelay is Min doubled with each attempt up to Max.
func (s Schedule) doubleDelay(p Progress) time.Duration {
	if p.Attempts <= 0 {
		// Undrawn delays Min, 2 Min, 4 Min ... add up to the next one less Min.
		return min(s.Max, max(0, p.Elapsed-s.Initial)+s.Min)
	}
	limit := math.Log(float64(s.Max)/float64(s.Min))/math.Ln2 + 1
	if float64(p.Attempts) > limit {
		return s.Max
	}
	return s.Min << (p.Attempts - 1)
}

func (s Schedule) draw(p Progress) time.Duration {
	lo, hi := s.Bounds(p)
	if s.Random != nil {
		return min(max(s.Min, s.Random(lo, hi)), max(s.Min, s.Max))
	}
	return lo + rand.N(hi-lo+1) //nolint:gosec // jitter needs no secrecy
}
