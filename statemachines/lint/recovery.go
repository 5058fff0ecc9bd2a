package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// recovery checks what a state does after errors.
func (c *checker) recovery(f *asl.Flow, s *asl.State) {
	const interval, rate = 1, 2 // the defaults
	for i, r := range s.Retry {
		if r.MaxAttempts == 0 && (r.IntervalSeconds != interval || r.BackoffRate != rate || r.MaxDelaySeconds > 0 || r.JitterStrategy != asl.JitterNone) {
			c.report(IdleRetrier, s, fmt.Sprintf("/Retry/%d", i), "\"MaxAttempts\" is 0, so the retrier never retries, though it says when; "+
				"raise \"MaxAttempts\", or keep only \"ErrorEquals\" and \"MaxAttempts\"")
		}
	}
	if s.Task == nil {
		return
	}
	resource := asl.ParseResource(s.Task.Resource)
	if resource.WaitsForToken() && s.Task.TimeoutSeconds == nil && s.Task.HeartbeatSeconds == nil && c.limitOf(f).kind == Unbounded {
		c.report(CallbackTimeout, s, "", "the Task waits for a callback and has no \"TimeoutSeconds\" or \"HeartbeatSeconds\": "+
			"if the callback is lost, it waits for a year; set one of them")
	}
	c.redrive(s, resource)
	c.repeatedStart(s, resource)
}

// repeatedStart checks that no retrier repeats a start call whose answer was lost.
func (c *checker) repeatedStart(s *asl.State, resource asl.Resource) {
	i := slices.IndexFunc(s.Retry, func(r asl.Retrier) bool {
		return r.MaxAttempts > 0 && (takesAll(r.ErrorEquals) || slices.Contains(r.ErrorEquals, asl.ErrorTimeout))
	})
	if i < 0 {
		return
	}
	field := fmt.Sprintf("/Retry/%d", i)
	token := c.tokenOf(resource)
	if key := findKey(resource); token == "" && key != "" && differsIn(s, key) {
		token = key
	}
	switch {
	case token != "" && lacks(s, token):
		c.report(RepeatedStart, s, field, "the retrier repeats a start call whose answer was lost, and the job starts twice; "+
			"give %q a value that is the same in each attempt, such as a hash of the execution's id, or retry only throttled calls", token)
	case token == "" && startsAnother(resource):
		c.report(RepeatedStart, s, field, "the retrier repeats a start call whose answer was lost, and the job may start twice, as the call has no token; "+
			"%s the job may have started", adviseWrite(s, c.types.Service(s), "retry"))
	}
}

// startsAnother tells whether a start call makes a new job each time it is made: it has no token and no
// name of the job, the service gives the id, and no error says that it refuses a second job.
func startsAnother(r asl.Resource) bool {
	e := findStarted(r)
	if r.Pattern != "" || e == nil || e.Job.Protection() != catalog.Unprotected || e.Job.UniqueName != "" || strings.HasPrefix(e.Name, "Create") {
		return false
	}
	start := e.Service.Operations[e.Name]
	if start == nil || start.Input == nil {
		return false
	}
	if slices.ContainsFunc(start.Input.Members, func(m catalog.Member) bool { return strings.Contains(strings.ToLower(m.Name), "token") }) ||
		slices.ContainsFunc(start.Errors, func(e catalog.Error) bool { return refusesSecond().MatchString(e.Shape) }) {
		return false
	}
	for _, expression := range e.Job.Arguments {
		path, ofOutput := strings.CutPrefix(strings.Trim(expression, "[]"), "output.")
		if !ofOutput || !simplePath().MatchString(path) {
			continue
		}
		if given := start.Input.Member(path[strings.LastIndex(path, ".")+1:]); given == nil || !given.Required {
			return true
		}
	}
	return false
}

// refusesSecond matches the error of a service that starts no second job beside one that runs.
var refusesSecond = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`InUse|AlreadyRunning|AlreadyExists|Conflict|InvalidState|ResourceState`)
})

// tokenOf is what startToken returns. It looks once.
func (c *checker) tokenOf(r asl.Resource) string {
	token, known := c.tokens[r]
	if !known {
		token = startToken(r)
		c.tokens[r] = token
	}
	return token
}

// redrive notes a ".sync" Task that fails when its time is over: the job may still run,
// and a redrive starts another. A job that failed is started again on purpose.
func (c *checker) redrive(s *asl.State, r asl.Resource) {
	if !strings.HasPrefix(r.Pattern, ".sync") || s.Task.TimeoutSeconds == nil {
		return
	}
	e := findStarted(r)
	if e == nil || !catalog.ReadsStartOutput(e.Job.Arguments) { // the caller names the job
		return
	}
	if !startsSecond(s, e) {
		return
	}
	if slices.ContainsFunc(s.Catch, func(c asl.Catcher) bool {
		return slices.Contains(c.ErrorEquals, asl.ErrorAll) || slices.Contains(c.ErrorEquals, asl.ErrorTimeout)
	}) {
		return
	}
	field := s.Task.TimeoutSeconds.Field
	c.reportAs(diag.Note, RedriveRestarts, s, "/"+field, "after %q the Task fails and the job may still run: "+
		"a redrive starts a second one beside it; "+
		"catch \"States.Timeout\" and stop the job, or see that it has ended before you redrive", field)
}
