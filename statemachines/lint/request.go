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
// something, it has no header by which a server may know a second one, and a loop behind it asks the server.
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
		"the one that %q polls; retry only \"States.Http.StatusCode.429\", by which throttled calls arrive, or send a header that is the same in each attempt "+
		"if the API takes one, such as Idempotency-Key", method, poll.Name)
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

// idempotencyHeader matches a header by which a server may know a second request.
var idempotencyHeader = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)idempot|request-?id|token`) })

// pollOfRequest is a Task of a poll loop without a request, which asks by the same integration for what its address
// names; nil if there is none.
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
			method, _ := memberLiteral(argumentsOf(s), "Method").(string)
			computed := slices.ContainsFunc([]string{"ApiEndpoint", "Path", "QueryParameters"}, func(name string) bool {
				m := findMember(argumentsOf(s), name)
				return m != nil && m.Kind != asl.TemplateLiteral
			})
			if method == "GET" && computed {
				return s
			}
		}
	}
	return nil
}
