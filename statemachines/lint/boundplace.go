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

// boundPlace is where a bound of a loop stands.
type boundPlace struct {
	states, operands []string
	after            time.Duration // that literals say; 0 if they do not
}

// placeOf finds where a bound stands: the Choices that look at it, and what they look at.
func (c *checker) placeOf(l *loop, kind BoundKind) boundPlace {
	b, found := c.boundsOf(l), boundPlace{}
	var lasts []time.Duration
	for _, s := range l.states {
		if s.Choice == nil || !slices.ContainsFunc(s.Transitions(), func(way asl.Transition) bool { return b.limits[s][way] }) {
			continue
		}
		for i := range s.Choice.Rules {
			for _, part := range partsOf(&s.Choice.Rules[i]) {
				operands := c.operandsOfBound(b, kind, part)
				if operands == nil {
					continue
				}
				found.states, found.operands = append(found.states, s.Name), append(found.operands, operands...)
				lasts = append(lasts, c.lastsBy(part, mostDefinitions)...)
			}
		}
	}
	found.states, found.operands = compact(found.states), compact(found.operands)
	if lasts = compact(lasts); kind == ByTime && len(lasts) == 1 {
		found.after = lasts[0]
	}
	return found
}

// boundPart is a comparison in a rule of a Choice.
type boundPart struct {
	text     string   // of an expression
	operands []string // without the clock
	timed    bool
}

// partsOf are the comparisons of a rule.
func partsOf(r *asl.ChoiceRule) []boundPart {
	var parts []boundPart
	if r.Expression != nil {
		if r.Expression.Expression == nil {
			return nil
		}
		for _, text := range connective().Split(r.Expression.Expression.String(), -1) {
			operands := slices.DeleteFunc(operandsOf(text), func(name string) bool {
				return strings.HasPrefix(name, "$states.context") || strings.HasSuffix(name, "()")
			})
			parts = append(parts, boundPart{text, operands, readsTime(text)})
		}
		return parts
	}
	addCondition(&parts, &r.Condition)
	return parts
}

func addCondition(parts *[]boundPart, c *asl.Condition) {
	if c.Not != nil {
		addCondition(parts, c.Not)
	}
	for _, part := range slices.Concat(c.And, c.Or) {
		addCondition(parts, part)
	}
	part := boundPart{timed: strings.HasPrefix(string(c.Operator), "Timestamp")}
	if c.Variable != nil && !strings.HasPrefix(c.Variable.String(), "$$") {
		part.operands = append(part.operands, c.Variable.String())
	}
	if c.ValuePath != nil && !strings.HasPrefix(c.ValuePath.String(), "$$") {
		part.operands = append(part.operands, c.ValuePath.String())
	}
	if at, ok := c.Value.(time.Time); ok {
		part.operands = append(part.operands, at.Format(time.RFC3339))
	}
	if c.Operator != "" {
		*parts = append(*parts, part)
	}
}

// operandsOfBound are what a comparison looks at, if it is one of a bound; nil if it is not.
func (c *checker) operandsOfBound(b *bounds, kind BoundKind, part boundPart) []string {
	switch {
	case kind == ByTime && (part.timed || slices.ContainsFunc(part.operands, c.isTime)):
		return append([]string{}, part.operands...)
	case kind == ByCount || kind == ByOther:
		counts := slices.DeleteFunc(slices.Clone(part.operands), func(name string) bool {
			return !b.counters[lastName(name)] && !b.flags[lastName(name)]
		})
		if len(counts) > 0 {
			return counts
		}
	}
	return nil
}

// isTime tells whether an expression that gives a name its value reads the clock.
func (c *checker) isTime(operand string) bool {
	return slices.ContainsFunc(c.definitionsOf(operand), readsTime)
}

// definitionsOf are the expressions of the machine that give a name its value.
func (c *checker) definitionsOf(operand string) []string {
	var all []string
	for s := range c.machine.All {
		for _, t := range templatesOf(s) {
			forExpressions("", t, func(called, text string) {
				if called != "" && called == lastName(operand) {
					all = append(all, text)
				}
			})
		}
	}
	return compact(all)
}

// mostDefinitions is how many expressions, each in the next, are read for a time.
const mostDefinitions = 2

// lastsBy are the times that literals of a comparison say, or those of what it looks at.
func (c *checker) lastsBy(part boundPart, depth int) []time.Duration {
	if readsTime(part.text) {
		if found := literalTimes(part.text, unitOf(part.text)); len(found) > 0 || depth == 0 {
			return found
		}
	}
	if depth == 0 {
		return nil
	}
	var all []time.Duration
	for _, operand := range part.operands {
		for _, text := range c.definitionsOf(operand) {
			found := c.lastsBy(boundPart{text: text, operands: operandsOf(text)}, depth-1)
			if len(found) == 0 && readsTime(text) && strings.Contains(text, "-") { // the comparison has the time that has passed
				found = literalTimes(part.text, time.Duration(quotient(text)*quotient(part.text))*time.Millisecond)
			}
			all = append(all, found...)
		}
	}
	return all
}

// readsTime tells whether an expression reads the clock, or a time.
func readsTime(text string) bool { return clock().MatchString(quoted().ReplaceAllString(text, "''")) }

// unitOf is what one is in an expression of times: a quotient of them is no longer in
// milliseconds.
func unitOf(text string) time.Duration { return time.Duration(quotient(text)) * time.Millisecond }

// quotient is what an expression divides a time by, or 1.
func quotient(text string) int {
	n := 1
	if m := divided().FindStringSubmatch(text); m != nil {
		n, _ = strconv.Atoi(m[1])
	}
	return max(n, 1)
}

var (
	// lasting is a number that a time is compared with, or that is added to one.
	lasting = sync.OnceValue(func() *regexp.Regexp {
		const number = `(\d+(?:\s*\*\s*\d+)*)`
		return regexp.MustCompile(`(?:[<>]=?|\+)\s*\(?\s*` + number + `|` + number + `\s*\)?\s*(?:[<>]=?|\+)`)
	})
	divided = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`/\s*(\d+)`) })
)

// literalTimes are the times that numbers in an expression say, in a unit.
func literalTimes(text string, unit time.Duration) []time.Duration {
	bare := divided().ReplaceAllString(quoted().ReplaceAllString(text, "''"), "")
	var all []time.Duration
	for _, m := range lasting().FindAllStringSubmatch(bare, -1) {
		product := 1.0
		for factor := range strings.SplitSeq(m[1]+m[2], "*") {
			n, _ := strconv.ParseFloat(strings.TrimSpace(factor), 64)
			product *= n
		}
		if lasts := product * float64(unit); lasts >= float64(time.Second) && lasts <= float64(asl.MaxStandardTime) {
			all = append(all, time.Duration(lasts))
		}
	}
	return all
}

// compact is a list, each item once, in its order.
func compact[T comparable](list []T) []T {
	var out []T
	for _, item := range list {
		if !slices.Contains(out, item) {
			out = append(out, item)
		}
	}
	return out
}

// place says where the bound stands; empty if that is not known.
func (b *Bound) place() string {
	if len(b.At) == 0 {
		return ""
	}
	names := make([]string, len(b.At))
	for i, name := range b.At {
		names[i] = fmt.Sprintf("%q", name)
	}
	if len(b.By) != 1 {
		return " in " + list(names)
	}
	return fmt.Sprintf(" by %s in %s", b.By[0], list(names))
}
