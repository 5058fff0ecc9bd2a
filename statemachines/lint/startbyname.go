package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// repeatedByName warns of a retrier that repeats a start call which the catalogue does not know: its model has no
// error by which the service refuses a second job, and a loop asks for the id in its answer.
func (c *checker) repeatedByName(f *asl.Flow, s *asl.State, retrier int) {
	operation := c.types.Operation(s)
	r := asl.ParseResource(s.Task.Resource)
	if _, sdk := r.SDK(); !sdk || operation == nil || findStarted(r) != nil || !startsByName(s, operation) {
		return
	}
	token := tokenIn(operation.Input)
	if token != nil && repeats(s, token.Name, token.Required) {
		return
	}
	poll := c.pollOf(f, s, operation)
	if poll == nil {
		return
	}
	lead := fmt.Sprintf("the retrier repeats a start call whose answer was lost, and a second job may start beside the one that %q polls", poll.Name)
	if token != nil {
		c.report(RepeatedStart, s, fmt.Sprintf("/Retry/%d", retrier), "%s; give %q a value that is the same in each attempt, or retry only throttled calls",
			lead, javasdk.MemberName(token.Name))
		return
	}
	c.report(RepeatedStart, s, fmt.Sprintf("/Retry/%d", retrier), "%s, as the call has no token; %s the job may have started",
		lead, adviseWrite(s, c.types.Service(s), "retry"))
}

// startsByName tells whether an operation starts a new job each time that a Task calls it, as far as its name, its
// errors and the names in its arguments tell.
func startsByName(s *asl.State, operation *catalog.Operation) bool {
	verb := catalog.VerbOf(operation.Name)
	starts := verb != nil && (verb.Name == "Start" || verb.Makes && jobName().MatchString(operation.Name))
	if !starts || slices.ContainsFunc(operation.Errors, func(e catalog.Error) bool { return refusesSecond().MatchString(e.Shape) }) {
		return false
	}
	return operation.Input == nil || !slices.ContainsFunc(operation.Input.Members, func(m catalog.Member) bool {
		return namesNew(operation, &m) && repeats(s, m.Name, m.Required)
	})
}

// namesNew tells whether a member of the input may name what a call starts: Name or JobName of StartReportJob.
func namesNew(operation *catalog.Operation, m *catalog.Member) bool {
	of := newName().FindStringSubmatch(javasdk.Capitalize(m.Name))
	return of != nil && strings.HasSuffix(operation.Name, of[1])
}

var (
	// refusesSecond matches an error by which a service may refuse a second job like the first.
	refusesSecond = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)already|exists|conflict|in_?use|in_?progress|concurrent|duplicate|invalid\w*state`)
	})
	// newName matches a member that may name the new job: a service may take no name twice.
	newName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([A-Z]\w*)?(?:Name|Id|Identifier|Reference)$`) })
	// tokenName matches a member by which a service may know a second call, beside those that a model marks.
	tokenName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)token$|requestid$|callerreference$|idempoten`) })
	// jobName matches an operation that makes a job, and not a resource.
	jobName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(Job|Run|Export|Import|Execution|Query|Report)$`) })
	// idName matches the id of something in an answer, and stemName the name or the id of something: first what it is.
	idName   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)(id|arn|identifier)$`) })
	stemName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)^(.*?)(?:name|id|arn|identifier)?$`) })
)

// tokenIn is the member of an input that makes a call idempotent; nil if there is none.
func tokenIn(input *catalog.Shape) *catalog.Member {
	if input == nil {
		return nil
	}
	i := slices.IndexFunc(input.Members, func(m catalog.Member) bool { return m.Token || tokenName().MatchString(m.Name) })
	if i < 0 {
		return nil
	}
	return &input.Members[i]
}

// asker is a Task of a loop that asks for what a start call's answer names.
type asker struct {
	poll *asl.State
	loop *loop // the innermost
}

// pollOf is a Task of a loop behind a start call that reads what the call's answer alone names; nil if there is none.
func (c *checker) pollOf(f *asl.Flow, start *asl.State, operation *catalog.Operation) *asl.State {
	for _, a := range c.askersOf(f)[tagOf(start)] {
		if c.types.Operation(a.poll).Service.Key == operation.Service.Key && !a.loop.inside[start.Name] {
			return a.poll
		}
	}
	return nil
}

// askersOf are the Tasks of the loops of a flow that ask for a job, by the tag of the Task that starts it.
func (c *checker) askersOf(f *asl.Flow) map[string][]asker {
	if found := c.askers[f]; found != nil {
		return found
	}
	found, types := map[string][]asker{}, c.taggedTypes()
	for _, l := range loops(f, f.States, every) {
		for _, poll := range l.states {
			asks := types.Operation(poll)
			if asks == nil || !asks.Reads() || asks.Input == nil {
				continue
			}
			inner := l.innermost(poll, c.waysOf(f).before)
			if !slices.ContainsFunc(inner.states, passesTime) {
				continue
			}
			given := types.Arguments(poll)
			for i := range asks.Input.Members {
				if tag := tagIn(given.Member(javasdk.MemberName(asks.Input.Members[i].Name))); tag != "" {
					found[tag] = append(found[tag], asker{poll, inner})
				}
			}
		}
	}
	c.askers[f] = found
	return found
}

// newIDs are the ids of an answer that the input does not have, also those in structures of the answer.
func newIDs(operation *catalog.Operation) []string {
	given := map[string]bool{}
	if operation.Input != nil {
		for i := range operation.Input.Members {
			if m := &operation.Input.Members[i]; !namesNew(operation, m) {
				given[stemOf(m.Name)] = true
			}
		}
	}
	var paths []string
	add := func(m *catalog.Member, path string) {
		if m.Shape.Type == catalog.String && idName().MatchString(m.Name) && !given[stemOf(m.Name)] {
			paths = append(paths, path)
		}
	}
	if operation.Output == nil {
		return nil
	}
	for i := range operation.Output.Members {
		m := &operation.Output.Members[i]
		add(m, m.Name)
		if m.Shape.Type != catalog.Structure {
			continue
		}
		for j := range m.Shape.Members {
			if inner := &m.Shape.Members[j]; strings.Contains(strings.ToLower(m.Name), stemOf(inner.Name)) { // unlike its owner's
				add(inner, m.Name+"."+inner.Name)
			}
		}
	}
	return paths
}

// stemOf says what a member names: "cluster" of ClusterArn and ClusterName.
func stemOf(name string) string { return strings.ToLower(stemName().FindStringSubmatch(name)[1]) }

// tagIn is the tag that a value, or its first item, has; empty if it has none.
func tagIn(v typecheck.Value) string {
	for _, one := range []typecheck.Value{v, v.Item(0)} {
		if words, known := one.Literals(); known && len(words) == 1 && strings.HasPrefix(words[0], tagPrefix) {
			return words[0]
		}
	}
	return ""
}
