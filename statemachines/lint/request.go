package lint

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sync"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// repeatedRequest warns of a retrier that sends a request of HTTP once more that starts a job: its method makes
// something, it has no header by which a server may know a second one, and a loop behind it asks for what it answered.
func (c *checker) repeatedRequest(f *asl.Flow, s *asl.State, retrier int) {
	method, makes := methodOf(s)
	if !makes || slices.ContainsFunc(headersOf(s), idempotencyHeader().MatchString) {
		return
	}
	poll := c.pollOfRequest(f, s)
	if poll == nil {
		return
	}
	c.report(RepeatedStart, s, fmt.Sprintf("/Retry/%d", retrier), "the retrier sends the %s again whose answer was lost, and a second job may start beside "+
		"the one that %q polls; retry only %q, by which throttled calls arrive, or send a header that is the same in each attempt "+
		"if the API takes one, such as Idempotency-Key", method, poll.Name, asl.ParseResource(s.Task.Resource).TooManyRequests())
}

// methodOf is the method of the request that a Task makes, and whether one more request makes one more thing.
func methodOf(s *asl.State) (method string, makes bool) {
	r := asl.ParseResource(s.Task.Resource)
	if r.Service != "http" && r.Service != "apigateway" || r.Pattern != "" {
		return "", false
	}
	method, _ = memberLiteral(argumentsOf(s), "Method").(string)
	return method, method == "POST" || method == "PATCH"
}

// headersOf are the names of the headers of a request.
func headersOf(s *asl.State) []string {
	arguments := argumentsOf(s)
	headers := findMember(arguments, "Headers")
	var names []string
	if headers != nil {
		for _, m := range headers.Object {
			names = append(names, m.Name)
		}
	}
	literal, _ := memberLiteral(arguments, "Headers").(map[string]any)
	return slices.AppendSeq(names, maps.Keys(literal))
}

var (
	// idempotencyHeader matches a header by which a server may know a second request. Most other tokens are of logins.
	idempotencyHeader = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)idempot|dedup|request-?id|client-?(request-?)?token`)
	})
	// loginParameter matches a parameter of a query that names no job.
	loginParameter = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)token|auth|session`) })
	// serverName matches a member that may name a server: a login may answer it, too.
	serverName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)(url|uri|host|domain|endpoint)$`) })
)

// pollOfRequest is a Task of a poll loop behind a request whose address names what the request answered, and nothing that
// another call did; nil if there is none.
func (c *checker) pollOfRequest(f *asl.Flow, start *asl.State) *asl.State {
	service := asl.ParseResource(start.Task.Resource).Service
	for _, l := range loops(f, f.States, every) {
		if l.inside[start.Name] || !slices.ContainsFunc(l.states, passesTime) {
			continue
		}
		for _, s := range l.states {
			if s.Task == nil || asl.ParseResource(s.Task.Resource).Service != service {
				continue
			}
			if method, _ := memberLiteral(argumentsOf(s), "Method").(string); asl.ReadsBy(method) && asksAnswer(f, start, s) {
				return s
			}
		}
	}
	return nil
}

// asksAnswer tells whether the address of a poll is computed from what a request answered, and from no other call.
func asksAnswer(f *asl.Flow, start, poll *asl.State) bool {
	before, behind := hopsBetween(f, f.State(f.StartAt), start), hopsBetween(f, start, poll)
	if len(behind) == 0 || len(before) == 0 && f.StartAt != start.Name {
		return false
	}
	calls := callsOf(slices.Concat(before, behind), namesOfJob(poll))
	return len(calls) == 1 && calls[start]
}

// namesOfJob are the operands of the address of a request that may name a job.
func namesOfJob(s *asl.State) []operand {
	here, f := scope{state: s, doc: stepsFrom(s.InputPath)}, formula{}
	for _, name := range []string{"ApiEndpoint", "Path", "QueryParameters"} {
		m := findMember(argumentsOf(s), name)
		switch {
		case m == nil:
		case m.Kind != asl.TemplateObject:
			f = f.with(here.template(m, nil))
		default:
			for _, parameter := range m.Object {
				if !loginParameter().MatchString(parameter.Name) {
					f = f.with(here.template(parameter.Value, nil))
				}
			}
		}
	}
	if len(f.operands) == 1 {
		return f.operands
	}
	return slices.DeleteFunc(f.operands, func(o operand) bool { return serverName().MatchString(lastName(o.inJSONata())) })
}

// hopsBetween are the fewest hops from one state to another without errors; nil if there are none.
func hopsBetween(f *asl.Flow, from, to *asl.State) []hop {
	if from == nil || from == to {
		return nil
	}
	into := map[*asl.State]hop{from: {}}
	for queue := []*asl.State{from}; len(queue) > 0 && into[to].state == nil; queue = queue[1:] {
		for _, way := range queue[0].Transitions() {
			next := f.State(way.To)
			if _, seen := into[next]; next != nil && !seen && way.Kind != asl.TransitionCatch {
				into[next] = hop{queue[0], way}
				queue = append(queue, next)
			}
		}
	}
	var hops []hop
	for h := into[to]; h.state != nil; h = into[h.state] {
		hops = append(hops, h)
	}
	slices.Reverse(hops)
	return hops
}

// callsOf are the states on a way whose results make some operands behind it.
func callsOf(hops []hop, operands []operand) map[*asl.State]bool {
	calls, open := map[*asl.State]bool{}, map[string]operand{}
	for _, o := range operands {
		open[o.String()] = o
	}
	for _, h := range slices.Backward(hops) {
		before := map[string]operand{}
		for _, o := range open {
			f := h.origin(o)
			if f.call {
				calls[h.state] = true
			}
			for _, part := range f.operands {
				before[part.String()] = part
			}
		}
		open = before
	}
	return calls
}
