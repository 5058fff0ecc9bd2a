package fix

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// readsClock finds what reads the time that goes on, or the start of the execution.
var readsClock = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$millis\(|\$now\(|\bState\.EnteredTime\b|\bExecution\.StartTime\b`)
})

// checkDeadlines refuses a loop whose deadline the definition does not show.
func (l *loop) checkDeadlines() error {
	for _, s := range l.states {
		if s.Choice == nil {
			continue
		}
		for i := range s.Choice.Rules {
			rule, raw := &s.Choice.Rules[i], l.node(s).Get("Choices").Items[i].Raw()
			if err := l.checkDeadline(s, rule, raw); err != nil {
				return err
			}
			if err := l.checkLimit(s, rule, raw); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkDeadline refuses a rule that compares the time with what nothing before the loop shows, such
// as the input: a trial of such a loop would draw it.
func (l *loop) checkDeadline(s *asl.State, rule *asl.ChoiceRule, raw []byte) error {
	known, instead := object{}, "set it from a number, such as $millis() + 7200000"
	l.beginAs(known)
	var with string
	if rule.Expression == nil { // JSONPath has no expression of a time
		with, instead = l.unknownTime(&rule.Condition, known), "count the polls instead, or compare the time in a Choice in JSONata, "+
			"such as $millis() - $toMillis($started) > 7200000, where a state before the loop assigns $$.State.EnteredTime to started"
	} else {
		with = l.unknownTimeOf(timedPart(raw), known)
	}
	if with == "" {
		return nil
	}
	if setter := l.setterOf(with); setter != "" {
		return refuse("the rule of %q for %q compares the time with %s, which %q sets in the loop: set it in a state before the loop",
			s.Name, rule.Next, with, setter)
	}
	return refuse("the rule of %q for %q compares the time with %s, and the definition does not show how long that lets the loop wait: %s",
		s.Name, rule.Next, with, instead)
}

// setterOf is the state of the loop that sets a variable, such as "$deadline"; empty if none does, or the name is no variable.
func (l *loop) setterOf(name string) string {
	for _, s := range l.states {
		for _, part := range partsThatAssign(l.node(s)) {
			if assign := part.Get("Assign"); assign != nil && slices.ContainsFunc(assign.Members, func(m jsontree.Member) bool { return "$"+variableOf(m) == name }) {
				return s.Name
			}
		}
	}
	return ""
}

// joinedBy finds what joins the comparisons of a condition in JSONata.
var joinedBy = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(?:and|or)\b`) })

// timedPart are the comparisons of a condition in JSONata that read the time.
func timedPart(raw []byte) []byte {
	parts := slices.DeleteFunc(joinedBy().Split(string(raw), -1), func(part string) bool { return !readsClock().MatchString(part) })
	return []byte(strings.Join(parts, " and "))
}

// unknownTimeOf is what the JSON of a rule in JSONata compares the time with and the definition does
// not show; empty for nothing.
func (l *loop) unknownTimeOf(raw []byte, known object) string {
	rest := clockNames().ReplaceAll(raw, nil)
	for _, found := range readVariable().FindAllSubmatch(rest, -1) {
		if name := string(found[1]); string(found[3]) == "" && name != "states" && known[name] == nil {
			return "$" + name
		}
	}
	for _, found := range readInput().FindAllSubmatch(rest, -1) {
		name, _, _ := strings.Cut(strings.TrimPrefix(string(found[1]), "."), ".")
		if bytes.Contains(found[0], []byte("context")) || !l.gives(name) {
			return string(found[0])
		}
	}
	return ""
}

// partsOf are the conditions inside of one.
func partsOf(c *asl.Condition) []*asl.Condition {
	parts := slices.Concat(c.And, c.Or)
	if c.Not != nil {
		parts = append(parts, c.Not)
	}
	return parts
}

// unknownTime is what a condition in JSONPath compares the time with and the definition does not
// show; empty for nothing.
func (l *loop) unknownTime(c *asl.Condition, known object) string {
	for _, part := range partsOf(c) {
		if with := l.unknownTime(part, known); with != "" {
			return with
		}
	}
	isClock := func(p *jsonpath.Path) bool { return p != nil && p.Context() && readsClock().MatchString(p.String()) }
	with := c.ValuePath
	switch {
	case isClock(c.ValuePath):
		with = c.Variable
	case !isClock(c.Variable):
		return ""
	}
	switch {
	case with == nil:
		return fmt.Sprintf("the fixed time %v", c.Value)
	case isClock(with) || with.Variable() != "" && known[with.Variable()] != nil:
		return ""
	default:
		return with.String()
	}
}
