package mock

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/internal/timespan"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// Spread is how long simulated jobs run: a fixed time, or one that is drawn for
// each job. The zero value is not a time at all.
type Spread struct {
	kind string // empty for a fixed time
	a, b float64
}

// longest is the longest time of a job.
const longest = 100 * asl.MaxStandardTime

// spreadForm is the text of a spread.
var spreadForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:(lognormal|uniform|exp|exponential)\(([^(),]+)(?:,([^(),]+))?\)|[^()]+)$`)
})

// ParseSpread reads a spread: a time ("12m", "2d", or seconds, "720"), "uniform(5m,30m)",
// "exp(10m)" or "exponential(10m)" with the mean, or "lognormal(15m,0.5)" with the
// median and the standard deviation of the logarithm.
func ParseSpread(text string) (Spread, error) {
	parts := spreadForm().FindStringSubmatch(text)
	if parts == nil {
		return Spread{}, badSpread(text)
	}
	kind, first, second := parts[1], parts[2], parts[3]
	switch kind {
	case "":
		first = text
	case "exponential":
		kind = "exp"
	}
	a, err := seconds(first)
	if err != nil {
		return Spread{}, err
	}
	s := Spread{kind: kind, a: a}
	switch {
	case (kind == "uniform" || kind == "lognormal") != (second != ""):
		return Spread{}, badSpread(text)
	case kind == "uniform":
		if s.b, err = seconds(second); err == nil && s.b < s.a {
			err = fmt.Errorf("%s: the longest time is below the shortest", text)
		}
	case kind == "lognormal":
		const widest = 10
		if s.b, err = strconv.ParseFloat(second, 64); err != nil || !(s.b >= 0 && s.b <= widest) {
			err = fmt.Errorf("%s: expected a number from 0 to %d for the standard deviation of the logarithm, found %q", text, widest, second)
		}
	}
	return s, err
}

func badSpread(text string) error {
	return fmt.Errorf("expected a time such as 12m, uniform(5m,30m), exp(10m) or lognormal(15m,0.5), found %q", text)
}

// seconds reads a time: 12m, 2d, or 720 for seconds.
func seconds(text string) (float64, error) {
	if d, err := timespan.Parse(text); err == nil && d >= 0 && d <= longest {
		return d.Seconds(), nil
	}
	if s, err := strconv.ParseFloat(text, 64); err == nil && s >= 0 && s <= longest.Seconds() {
		return s, nil
	}
	return 0, fmt.Errorf("expected a time of at most 100 years, such as 12m, 2d or 720 (seconds), found %q", text)
}

// Exactly is the spread of jobs that all run for the time.
func Exactly(d time.Duration) Spread { return Spread{a: d.Seconds()} }

// short writes seconds without parts that are 0: 2h for 2h0m0s.
func short(seconds float64) string {
	text := time.Duration(math.Round(seconds*1e3) * 1e6).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// String writes the spread as ParseSpread reads it.
func (s Spread) String() string {
	a, b := short(s.a), short(s.b)
	switch s.kind {
	case "":
		return a
	case "exp":
		return fmt.Sprintf("exp(%s)", a)
	case "lognormal":
		return fmt.Sprintf("lognormal(%s,%g)", a, s.b)
	default:
		return fmt.Sprintf("uniform(%s,%s)", a, b)
	}
}

// draw returns how long the next job runs, in whole milliseconds.
func (s Spread) draw(random *rand.Rand) time.Duration {
	t := s.a
	switch s.kind {
	case "uniform":
		t = s.a + random.Float64()*(s.b-s.a)
	case "exp":
		t = s.a * random.ExpFloat64()
	case "lognormal":
		t = s.a * math.Exp(s.b*random.NormFloat64())
	}
	t = min(t, longest.Seconds())
	return time.Duration(math.Round(t*1000)) * time.Millisecond
}

func badShare(text string) error { return fmt.Errorf("expected a share such as 5%%, found %q", text) }
