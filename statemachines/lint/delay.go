package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

var (
	// growing is a delay that grows from the second number up to the first.
	growing = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\$min\(\[\s*(\d+(?:\.\d+)?)\s*,\s*(\d+(?:\.\d+)?)\s*\*\s*\$power\(`)
	})
	// steady is a delay that only a deadline makes shorter.
	steady = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\$min\(\[\s*(\d+)\s*,\s*\$max\(\[\s*0\s*,`) })
	// planned are the delays of a list.
	planned = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[\s*(\d+(?:\s*,\s*\d+)*)\s*\]\[`) })
)

// describeDelay says how long the loop waits between two polls.
func (l *Loop) describeDelay() string {
	switch {
	case l.Turn.Longest > 0:
		return " every " + pause(l.Turn.Wait) + " to " + pause(l.Turn.Longest)
	case l.Turn.Wait > 0:
		return " every " + pause(l.Turn.Wait)
	case len(l.Waits) == 0:
		return ", with a delay that the definition does not say"
	}
	w := l.Waits[0]
	for _, s := range l.Waits {
		if s.Name == l.Turn.States[len(l.Turn.States)-1] {
			w = s // before the next poll
		}
	}
	switch seconds := w.Wait.Seconds; {
	case seconds != nil && seconds.Literal == int64(0):
		return " without a pause"
	case seconds != nil && seconds.Expression != nil:
		return delayOfExpression(w.Name, seconds.Expression.String())
	case seconds != nil && seconds.Path != nil && !asl.IsPlaceholder(seconds.Path):
		return ", with the delay of " + seconds.Path.String()
	default:
		return ", with a delay that the definition does not say"
	}
}

// delayOfExpression says how long a Wait waits by an expression.
func delayOfExpression(name, text string) string {
	text = strings.TrimSpace(text)
	if m := growing().FindStringSubmatch(text); m != nil {
		return delaysOf(m[2], m[1])
	}
	if m := steady().FindStringSubmatch(text); m != nil {
		return delaysOf(m[1])
	}
	if m := planned().FindStringSubmatch(text); m != nil {
		return delaysOf(strings.Split(m[1], ",")...)
	}
	if !strings.ContainsAny(text, " ()") {
		return ", with the delay of " + text
	}
	return fmt.Sprintf(", with a delay that %q computes", name)
}

// delaysOf says between which of some delays, in seconds, those of a loop are.
func delaysOf(seconds ...string) string {
	var all []time.Duration
	for _, s := range seconds {
		n, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
		if err != nil {
			return "" // the pattern has numbers alone
		}
		all = append(all, time.Duration(n*float64(time.Second)))
	}
	text := " every " + pause(slices.Min(all))
	if slices.Max(all) > slices.Min(all) {
		text += " to " + pause(slices.Max(all))
	}
	return text
}
