package cli

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
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// duration is the value of a flag for a time: 2h, 90s, or 300 for seconds.
type duration time.Duration

// addDuration gives a command a flag for a time.
func addDuration(f *pflag.FlagSet, to *time.Duration, name string, fallback time.Duration, about string) {
	*to = fallback
	f.Var((*duration)(to), name, about)
}

// addMaxWait gives a command the flag --max-wait.
func addMaxWait(f *pflag.FlagSet, to *time.Duration, fallback time.Duration) {
	about := "how long to wait at most: 2h, 90s, or 300 for seconds"
	if fallback == 0 {
		about += " (required)"
	}
	addDuration(f, to, "max-wait", fallback, about)
}

// checkMaxWait refuses a --max-wait that is missing or too short.
func checkMaxWait(d time.Duration) error {
	if d <= 0 {
		return errors.New("--max-wait must be above 0: say how long to wait at most, such as 2h, 90s or 300 (seconds)")
	}
	return nil
}

var errDuration = errors.New("expected a time such as 2h, 90s or 300 (seconds)")

// Set implements pflag.Value.
func (d *duration) Set(text string) error {
	if seconds, err := strconv.ParseInt(text, 10, 64); err == nil {
		if seconds > math.MaxInt64/int64(time.Second) || seconds < math.MinInt64/int64(time.Second) {
			return errDuration
		}
		*d = duration(time.Duration(seconds) * time.Second)
		return nil
	}
	parsed, err := time.ParseDuration(text)
	if err != nil {
		return errDuration
	}
	*d = duration(parsed)
	return nil
}

func (d *duration) String() string { return shortDuration(time.Duration(*d)) }

// Type implements pflag.Value: it is the placeholder in the help.
func (d *duration) Type() string { return "duration" }

// shortDuration writes a time without zeros at its end: 2h, not 2h0m0s.
func shortDuration(d time.Duration) string {
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

// delayFlags are the flags about the delay between polls that "wait" and "compile"
// share.
type delayFlags struct {
	min, max, initial time.Duration

	file     string // with a schedule
	schedule *pollcore.Planned
}

// addTo gives a command the flags.
func (d *delayFlags) addTo(f *pflag.FlagSet) {
	addDuration(f, &d.min, "min-delay", 0, "shortest delay between polls, instead of the waiter's")
	addDuration(f, &d.max, "max-delay", 0, "longest delay between polls, instead of the waiter's, which counts up to 1m")
	addDuration(f, &d.initial, "initial-delay", 0, "delay before the first poll")
	d.addSchedule(f)
}

// addSchedule gives a command the flag --schedule.
func (d *delayFlags) addSchedule(f *pflag.FlagSet) {
	f.StringVar(&d.file, "schedule", "", "`FILE` with all delays, in seconds: {\"delays\": [900, 45, 45], \"then\": 60}")
}

// readSchedule reads the file with the schedule.
func (d *delayFlags) readSchedule(in io.Reader) error {
	if d.file == "" {
		return nil
	}
	text, err := readFile(d.file, in)
	if err != nil {
		return usage("--schedule: %w", err)
	}
	planned, err := pollcore.ParsePlanned(text)
	if err != nil {
		return usage("--schedule %s: %w", terminal.Quote(d.file), err)
	}
	d.schedule = &planned
	return nil
}

// problems reports what is wrong with the delays. None may be below least.
func (d *delayFlags) problems(changed func(flag string) bool, least, maxWait time.Duration) (problems []error) {
	report := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	for _, f := range []struct {
		flag  string
		value time.Duration
	}{{"min-delay", d.min}, {"max-delay", d.max}} {
		if changed(f.flag) && f.value < least {
			report("--%s must be at least %s, is %s", f.flag, shortDuration(least), shortDuration(f.value))
		}
	}
	if d.min > 0 && d.max > 0 && d.max < d.min {
		report("--max-delay (%s) must not be below --min-delay (%s)", shortDuration(d.max), shortDuration(d.min))
	}
	if d.schedule != nil {
		for _, flag := range []string{"delay", "min-delay", "max-delay", "initial-delay"} {
			if changed(flag) {
				report("--schedule has all delays: remove it, or --%s", flag)
			}
		}
		if first := d.schedule.Before(1) + d.schedule.Jitter; maxWait > 0 && first >= maxWait {
			report("--schedule must have a first delay below --max-wait (%s), has %s", shortDuration(maxWait), shortDuration(first))
		}
	}
	if d.initial < 0 {
		report("--initial-delay must be at least 0, is %s", shortDuration(d.initial))
	}
	if maxWait > 0 && d.initial >= maxWait {
		report("--initial-delay (%s) must be below --max-wait (%s)", shortDuration(d.initial), shortDuration(maxWait))
	}
	return problems
}

// seconds is the time.Duration of a number of them, or the nearest there is.
func seconds(s float64) time.Duration {
	if most := float64(math.MaxInt64 / int64(time.Second)); math.Abs(s) >= most {
		return time.Duration(math.Copysign(most, s)) * time.Second
	}
	return time.Duration(s * float64(time.Second))
}

// sooner returns the shorter of two limits: that of the wait, 0 if it is not known, and
// TimeoutSeconds of the state machine, whose largest value counts as none.
func sooner(limit time.Duration, m *asl.StateMachine) time.Duration {
	own := time.Duration(m.TimeoutSeconds) * time.Second
	if own == 0 || own == asl.MaxStandardTime || limit > 0 && limit < own {
		return limit
	}
	return own
}
