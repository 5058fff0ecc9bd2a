package lint

import (
	"fmt"
	"slices"
	"strings"

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
	c.repeatedStart(f, s, resource)
}

// repeatedStart checks that no retrier repeats a start call whose answer was lost.
func (c *checker) repeatedStart(f *asl.Flow, s *asl.State, resource asl.Resource) {
	i := slices.IndexFunc(s.Retry, func(r asl.Retrier) bool {
		return r.MaxAttempts > 0 && (takesAll(r.ErrorEquals) || slices.Contains(r.ErrorEquals, asl.ErrorTimeout))
	})
	if i < 0 {
		return
	}
	e := c.startedBy(resource)
	if resource.Pattern == "" && e == nil {
		c.repeatedByName(f, s, i)
		c.repeatedRequest(f, s, i)
	}
	if resource.Pattern != "" || e == nil || !startsSecond(s, e) {
		return
	}
	field := fmt.Sprintf("/Retry/%d", i)
	if token := tokenOf(e); token != "" {
		uuid := "States.UUID()"
		if s.QueryLanguage == asl.JSONata {
			uuid = "$uuid()"
		}
		c.report(RepeatedStart, s, field, "the retrier repeats a start call whose answer was lost, and the job starts twice; "+ // all tokens take a UUID
			"give %q a value that is the same in each attempt, such as one that a Pass in front makes by %s, or retry only throttled calls", token, uuid)
		return
	}
	c.report(RepeatedStart, s, field, "the retrier repeats a start call whose answer was lost, and the job may start twice, as the call has no token; "+
		"%s the job may have started", adviseWrite(s, c.types.Service(s), "retry"))
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
