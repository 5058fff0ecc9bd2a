package fix

import (
	"regexp"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// checkLimit refuses a rule that compares a count with what nothing before the loop shows, such as the
// input, or a count that begins there: a trial of such a loop would draw it.
func (l *loop) checkLimit(s *asl.State, rule *asl.ChoiceRule, raw []byte) error {
	if !l.readsCount(raw) {
		return nil
	}
	known := object{}
	l.beginAs(known)
	begins := l.beginsCount(raw)
	for _, name := range slices.Concat(l.counted(), l.assigned(l.poll)) {
		known[name] = true
	}
	var with string
	if rule.Expression == nil {
		with = l.unknownLimit(&rule.Condition, known)
	} else {
		with = l.unknownLimitOf(raw, known)
	}
	switch {
	case with != "":
		return refuse("the rule of %q for %q compares a count with %s, and the definition does not show how many polls that lets the loop make: "+
			"compare it with a number", s.Name, rule.Next, with)
	case !begins:
		return refuse("the rule of %q for %q compares a count, and nothing before the loop sets that to a number: do so in a Pass", s.Name, rule.Next)
	default:
		return nil
	}
}

// beginsCount tells whether states before the loop set the counts that the JSON of a rule reads: members of the data, or
// variables to a number by their types.
func (l *loop) beginsCount(raw []byte) bool {
	for _, name := range l.counted() {
		if readsVariable(raw, name) && !l.beginsAsNumber(func(env typecheck.Env) typecheck.Value { return env.Variable(name) }) {
			return false
		}
	}
	for _, path := range l.countedMembers() {
		if readsMember(raw, path) && !l.setsBefore(path) && !l.beginsSums(path) {
			return false
		}
	}
	return true
}

// beginsSums tells whether each sum that the loop counts in a member of the data begins as a number.
func (l *loop) beginsSums(path string) bool {
	begins := false
	for _, s := range l.states {
		if l.countedMember(s) != path {
			continue
		}
		for _, m := range addedTo().FindAllSubmatch(l.node(s).Raw(), -1) {
			if begins = l.beginsAsNumber(inputMember(strings.Split(string(m[1])+string(m[3]), "."))); !begins {
				return false
			}
		}
	}
	return begins
}

// setsBefore tells whether a state before the loop sets a member of the data.
func (l *loop) setsBefore(path string) bool {
	for s := range l.machine.All {
		if l.isBefore(s) && l.madeMember(s) == path {
			return true
		}
	}
	return false
}

// unknownLimit is what a condition in JSONPath compares a count with and the definition does not show;
// empty for nothing.
func (l *loop) unknownLimit(c *asl.Condition, known object) string {
	for _, part := range partsOf(c) {
		if with := l.unknownLimit(part, known); with != "" {
			return with
		}
	}
	if c.ValuePath == nil {
		return ""
	}
	for _, p := range []*jsonpath.Path{c.Variable, c.ValuePath} {
		shows := l.pathReadsAnswer(p)
		if p.Variable() != "" {
			shows = shows || known[p.Variable()] != nil
		} else if !p.Context() {
			shows = shows || l.isCounted(strings.Join(namesOf(p), ".")) || l.beginsAsNumber(inputMember(namesOf(p)))
		}
		if !shows {
			return p.String()
		}
	}
	return ""
}

// isCounted tells whether a path leads to a member that the loop counts in, or into it.
func (l *loop) isCounted(path string) bool {
	return slices.ContainsFunc(l.countedMembers(), func(counted string) bool { return path == counted || strings.HasPrefix(path, counted+".") })
}

// unknownLimitOf is what the JSON of a rule in JSONata compares a count with and the definition does not
// show; empty for nothing.
func (l *loop) unknownLimitOf(raw []byte, known object) string {
	for _, path := range l.countedMembers() {
		raw = regexp.MustCompile(`\$states\.input\.`+regexp.QuoteMeta(path)+`\b`).ReplaceAll(raw, nil)
	}
	return l.unknownTimeOf(raw, known)
}
