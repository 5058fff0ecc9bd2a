package kit

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/internal/timespan"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// duration is the value of a flag for a time: 2h, 10d, or 300 for seconds.
type duration time.Duration

// AddDuration gives a command a flag for a time.
func AddDuration(f *pflag.FlagSet, to *time.Duration, name string, fallback time.Duration, about string) {
	*to = fallback
	f.Var((*duration)(to), name, about)
}

// AddMaxWait gives a command the flag --max-wait.
func AddMaxWait(f *pflag.FlagSet, to *time.Duration, fallback time.Duration) {
	about := "how long to wait at most: 90s, 2h, 10d, or 300 for seconds"
	if fallback == 0 {
		about += " (required)"
	}
	AddDuration(f, to, "max-wait", fallback, about)
}

// CheckMaxWait refuses a --max-wait that is missing or too short.
func CheckMaxWait(d time.Duration) error {
	if d <= 0 {
		return errors.New("--max-wait must be above 0: say how long to wait at most, such as 90s, 2h, 10d or 300 (seconds)")
	}
	return nil
}

var errDuration = errors.New("expected a time such as 90s, 2h, 10d or 300 (seconds)")

// Set implements pflag.Value.
func (d *duration) Set(text string) error {
	if seconds, err := strconv.ParseInt(text, 10, 64); err == nil {
		if seconds > math.MaxInt64/int64(time.Second) || seconds < math.MinInt64/int64(time.Second) {
			return errDuration
		}
		*d = duration(time.Duration(seconds) * time.Second)
		return nil
	}
	parsed, err := timespan.Parse(text)
	if err != nil {
		return errDuration
	}
	*d = duration(parsed)
	return nil
}

func (d *duration) String() string { return ShortDuration(time.Duration(*d)) }

// Type implements pflag.Value: it is the placeholder in the help.
func (d *duration) Type() string { return "duration" }

// ShortDuration writes a time without zeros at its end: 2h, not 2h0m0s.
func ShortDuration(d time.Duration) string {
	if d == 0 {
		return "0"
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// DelayFlags are the flags about the delay between polls that "wait" and "compile"
// share.
type DelayFlags struct {
	Min, Max, Initial time.Duration

	File     string // with a schedule
	Schedule *pollcore.Planned
}

// AddTo gives a command the flags.
func (d *DelayFlags) AddTo(f *pflag.FlagSet) {
	AddDuration(f, &d.Min, "min-delay", 0, "shortest delay between polls, instead of the waiter's")
	AddDuration(f, &d.Max, "max-delay", 0, "longest delay between polls, instead of the waiter's, which counts up to 1m")
	AddDuration(f, &d.Initial, "initial-delay", 0, "delay before the first poll")
	d.AddSchedule(f)
}

// AddSchedule gives a command the flag --schedule.
func (d *DelayFlags) AddSchedule(f *pflag.FlagSet) {
	f.StringVar(&d.File, "schedule", "", "`FILE` with all delays, in seconds: {\"delays\": [900, 45, 45], \"then\": 60}")
}

// ReadSchedule reads the file with the schedule.
func (d *DelayFlags) ReadSchedule(in io.Reader) error {
	if d.File == "" {
		return nil
	}
	text, err := readFile(d.File, in)
	if err != nil {
		return Usage("--schedule: %w", err)
	}
	planned, err := pollcore.ParsePlanned(text)
	if err != nil {
		return Usage("--schedule %s: %w", terminal.Quote(d.File), err)
	}
	d.Schedule = &planned
	return nil
}

// Problems reports what is wrong with the delays. None may be below least.
func (d *DelayFlags) Problems(changed func(flag string) bool, least, maxWait time.Duration) (problems []error) {
	report := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	for _, f := range []struct {
		flag  string
		value time.Duration
	}{{"min-delay", d.Min}, {"max-delay", d.Max}} {
		if changed(f.flag) && f.value < least {
			report("--%s must be at least %s, is %s", f.flag, ShortDuration(least), ShortDuration(f.value))
		}
	}
	if d.Min > 0 && d.Max > 0 && d.Max < d.Min {
		report("--max-delay (%s) must not be below --min-delay (%s)", ShortDuration(d.Max), ShortDuration(d.Min))
	}
	if d.Schedule != nil {
		for _, flag := range []string{"delay", "min-delay", "max-delay", "initial-delay"} {
			if changed(flag) {
				report("--schedule has all delays: remove it, or --%s", flag)
			}
		}
		if first := d.Schedule.Before(1) + d.Schedule.Jitter; maxWait > 0 && first >= maxWait {
			report("--schedule must have a first delay below --max-wait (%s), has %s", ShortDuration(maxWait), ShortDuration(first))
		}
	}
	if d.Initial < 0 {
		report("--initial-delay must be at least 0, is %s", ShortDuration(d.Initial))
	}
	if maxWait > 0 && d.Initial >= maxWait {
		report("--initial-delay (%s) must be below --max-wait (%s)", ShortDuration(d.Initial), ShortDuration(maxWait))
	}
	return problems
}

// Sooner returns the shorter of two limits: that of the wait, 0 if it is not known, and
// TimeoutSeconds of the state machine, whose largest value counts as none.
func Sooner(limit time.Duration, m *asl.StateMachine) time.Duration {
	own := time.Duration(m.TimeoutSeconds) * time.Second
	if own == 0 || own == asl.MaxStandardTime || limit > 0 && limit < own {
		return limit
	}
	return own
}
