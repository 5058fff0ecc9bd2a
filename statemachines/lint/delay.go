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
	// cut is a delay that ends at a deadline at the latest: its first group is the delay, its
	// second the time that is left.
	cut = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\$min\(\[\s*(.+?)\s*,\s*\$max\(\[\s*0\s*,(` + balanced(4) + `)\]\s*\)\s*\]\s*\)$`)
	})
	// fromNow is what makes a time anew in each lap.
	fromNow = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$(?:millis|now)\(|State\.EnteredTime`) })
	// growing is a delay that grows from the second number up to the first, alone or as
	// `jobpoller compile` writes it: with a random part, and cut at a deadline.
	growing = sync.OnceValue(func() *regexp.Regexp {
		const number = `\s*(\d+(?:\.\d+)?)\s*`
		return regexp.MustCompile(`^(?:\(\$left := [^;]*; \$delay := )?` +
			`\$min\(\[` + number + `,` + number + `\*\s*\$power\(\s*[1-9]\d*(?:\.\d+)?\s*,` + balanced(2) + `\)\s*\]\s*\)` +
			`(?:; \$spread := [^;]*; \$draw := \$round\(\$delay \+ [^;]*; \$left - \$draw >= \d+ \? \$draw : [^;]*\))?$`)
	})
	// listed are the delays of a list, or one number alone.
	listed = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:(\d+)|\[\s*(\d+(?:\s*,\s*\d+)*)\s*\]\[(?:[^\[\]]|\[[^\[\]]*\])*\])$`)
	})
	// selected is a path of members, or a variable.
	selected = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\$[\w.]+$`) })
)

// balanced matches text whose parentheses close, down to a depth.
func balanced(depth int) string {
	if depth == 0 {
		return `[^()]*`
	}
	return `(?:[^()]|\(` + balanced(depth-1) + `\))*`
}

// describeDelay says how long the loop waits between two polls.
func (l *Loop) describeDelay() string {
	switch {
	case l.Turn.Shortest > 0:
		return " every " + pause(l.Turn.Shortest) + " to " + pause(max(l.Turn.Wait, l.Turn.Longest))
	case l.Turn.Longest > 0:
		return " every " + pause(l.Turn.Wait) + " to " + pause(l.Turn.Longest)
	case l.Turn.Wait > 0:
		return " every " + pause(l.Turn.Wait)
	case len(l.Waits) == 0:
		if i := slices.IndexFunc(l.States, passesTime); i >= 0 { // such as an activity
			return fmt.Sprintf(", with the time that %q takes", l.States[i].Name)
		}
		return ", with a delay that the definition does not say"
	}
	w := l.waitBeforePoll()
	switch seconds, at := w.Wait.Seconds, w.Wait.Timestamp; {
	case l.Hot && seconds != nil:
		return " without a pause"
	case at != nil && at.Expression != nil && fromNow().MatchString(at.Expression.String()):
		return fmt.Sprintf(", with a delay that %q computes", w.Name)
	case at != nil && (at.Literal != nil || at.Expression != nil || at.Path != nil && !asl.IsPlaceholder(at.Path)):
		return fmt.Sprintf(", waits until the Timestamp that %q names", w.Name)
	case seconds != nil && seconds.Literal == int64(0):
		return " without a pause"
	case seconds != nil && seconds.Expression != nil:
		return delayOfExpression(w.Name, seconds.Expression.String(), l.firstWait)
	case seconds != nil && seconds.Path != nil && !asl.IsPlaceholder(seconds.Path):
		return ", with the delay of " + seconds.Path.String()
	default:
		return ", with a delay that the definition does not say"
	}
}

// waitBeforePoll is the Wait before the next poll, or else the first of the loop.
func (l *Loop) waitBeforePoll() *asl.State {
	for _, s := range l.Waits {
		if s.Name == l.Turn.States[len(l.Turn.States)-1] {
			return s
		}
	}
	return l.Waits[0]
}

// findFirstWait finds how long a Wait whose delay grows waits when the loop comes to it first: its count need not begin
// at 0. It is 0 if that is not known.
func (c *checker) findFirstWait(l *loop, r *reading) time.Duration {
	if c.types == nil || len(r.Waits) == 0 {
		return 0
	}
	w := r.waitBeforePoll()
	if seconds := w.Wait.Seconds; seconds == nil || seconds.Expression == nil || !growing().MatchString(strings.TrimSpace(seconds.Expression.String())) {
		return 0
	}
	shortest, seen := time.Duration(0), map[*asl.State]bool{}
	for open := c.entriesOf(l); len(open) > 0; {
		at := open[0]
		open = open[1:]
		if at.state == w {
			waits, _, ok := c.types.WaitTime(w, at.env)
			if !ok {
				return 0
			}
			if shortest == 0 || waits < shortest {
				shortest = waits
			}
			continue
		}
		if seen[at.state] {
			return 0 // by several ways, or around
		}
		seen[at.state] = true
		for _, way := range c.types.Step(at.state, at.env, c.types.Result(at.state)) {
			if l.inside[way.To] {
				open = append(open, entry{l.flow.State(way.To), way.Env})
			}
		}
	}
	return shortest
}

// delayOfExpression says how long a Wait waits by an expression, and by how long it waits first, if that is known.
func delayOfExpression(name, text string, first time.Duration) string {
	text = strings.TrimSpace(text)
	if m := cut().FindStringSubmatch(text); m != nil && clock().MatchString(m[2]) {
		text = m[1]
	}
	if m := growing().FindStringSubmatch(text); m != nil {
		least := m[2]
		if first > 0 {
			least = strconv.FormatFloat(first.Seconds(), 'f', -1, 64)
		}
		return delaysUpTo(m[1], least)
	}
	if m := listed().FindStringSubmatch(text); m != nil {
		return delaysOf(strings.Split(m[1]+m[2], ",")...)
	}
	if selected().MatchString(text) {
		return ", with the delay of " + text
	}
	return fmt.Sprintf(", with a delay that %q computes", name)
}

// delaysUpTo says between which delays, in seconds, those of a loop are that grow up to a limit.
func delaysUpTo(limit, first string) string {
	most, errMost := strconv.ParseFloat(limit, 64)
	least, errLeast := strconv.ParseFloat(first, 64)
	if errMost != nil || errLeast != nil || least >= most {
		return delaysOf(limit)
	}
	return delaysOf(first, limit)
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
	if slices.Max(all) == 0 {
		return " without a pause"
	}
	text := " every " + pause(slices.Min(all))
	if slices.Max(all) > slices.Min(all) {
		text += " to " + pause(slices.Max(all))
	}
	return text
}
