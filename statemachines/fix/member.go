package fix

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// checkMembers refuses a loop that leaves by a member of the answer that the waiter does
// not read, for a state that no failure leads to: such an end may be a success, which a
// compiled loop does not know.
func (f *fragment) checkMembers() error {
	successes, failures := f.observed.exitsOf(pollcore.Success), f.observed.exitsOf(pollcore.Failure)
	for _, s := range f.loop.states {
		if s.Choice == nil {
			continue
		}
		for i := range s.Choice.Rules {
			rule := &s.Choice.Rules[i]
			to := f.flow.State(rule.Next)
			fails := to.Type == asl.TypeFail || slices.Contains(failures, rule.Next) && !slices.Contains(successes, rule.Next)
			if f.staysIn(rule.Next) || fails {
				continue
			}
			if name := f.otherMember(rule); name != "" {
				return refuse("a rule of %q leads to %q by %s, which a loop of %s does not look at", s.Name, rule.Next, name, f.about())
			}
		}
	}
	return nil
}

// otherMember is a member of the answer that a rule reads and the waiter does not; empty
// if there is none.
func (l *loop) otherMember(rule *asl.ChoiceRule) string {
	var names []string
	if rule.Expression == nil {
		names = l.conditionMembers(&rule.Condition)
	} else if rule.Expression.Expression != nil {
		text := contextPath().ReplaceAllString(rule.Expression.Expression.String(), "")
		for _, match := range expressionMember().FindAllStringSubmatch(text, -1) {
			names = append(names, match[1])
		}
	}
	read := map[string]bool{}
	for _, a := range l.entry.Waiter.Acceptors {
		for _, m := range []*pollcore.PathMatcher{a.Matcher.Output, a.Matcher.InputOutput} {
			if m == nil {
				continue
			}
			for _, name := range word().FindAllString(m.Path, -1) {
				read[javasdk.MemberName(name)] = true
			}
		}
	}
	for _, name := range names {
		if !read[name] && !l.own && hasMember(l.entry.Operation.Output, name, map[*catalog.Shape]bool{}) {
			return name
		}
	}
	return ""
}

var (
	// contextPath finds what is of the execution, and not of the answer.
	contextPath      = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$states\.context(?:\.\w+)*`) })
	expressionMember = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\.([A-Za-z_]\w*)`) })
	word             = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[A-Za-z_]\w*`) })
)

// hasMember tells whether a shape has a member of that name, at any depth.
func hasMember(s *catalog.Shape, name string, seen map[*catalog.Shape]bool) bool {
	if seen[s] { // it has itself in it
		return false
	}
	seen[s] = true
	if s.Element != nil && hasMember(s.Element.Shape, name, seen) {
		return true
	}
	for _, m := range s.Members {
		if javasdk.MemberName(m.Name) == name || hasMember(m.Shape, name, seen) {
			return true
		}
	}
	return false
}

// conditionMembers are the last names of the paths that a condition reads.
func (l *loop) conditionMembers(c *asl.Condition) []string {
	var names []string
	for _, part := range partsOf(c) {
		names = append(names, l.conditionMembers(part)...)
	}
	for _, p := range []*jsonpath.Path{c.Variable, c.ValuePath} {
		if p == nil || p.Context() { // of the execution
			continue
		}
		if path := slices.DeleteFunc(namesOf(p), func(name string) bool { return name == "[]" }); len(path) > 0 {
			names = append(names, l.readSource(path[len(path)-1]))
		}
	}
	return names
}

// readSource finds the member of the answer that the ResultSelector of the poll, or its
// Assign, gives another name.
func (l *loop) readSource(name string) string {
	for _, field := range []string{"ResultSelector", "Assign"} {
		n := l.node(l.poll).Get(field)
		if n == nil || n.Get(name+".$") == nil {
			continue
		}
		var path string
		if json.Unmarshal(n.Get(name+".$").Raw(), &path) == nil {
			return path[strings.LastIndexByte(path, '.')+1:]
		}
	}
	return name
}

// namesOf are the members that a path leads through, "[]" for the items of a list, up
// to where it may lead several ways.
func namesOf(p *jsonpath.Path) []string {
	var names []string
	for _, step := range p.Steps() {
		switch {
		case step.Deep:
			return names
		case step.Kind == jsonpath.StepIndex:
			names = append(names, "[]")
		case step.Kind == jsonpath.StepName:
			names = append(names, step.Names[0])
		default:
			return names
		}
	}
	return names
}
