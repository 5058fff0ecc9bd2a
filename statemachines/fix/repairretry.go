package fix

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"sync"

	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/edit"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
	"github.com/jobpoller/jobpoller/statemachines/trial"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// retry are the edits by which a Task retries throttled calls and faults of the service,
// and no error that the user handles.
func (c *checked) retry(s *asl.State, o RepairOptions) []candidate {
	op, err := typecheck.FindOperation(s.Task.Resource, o.Models)
	if err != nil || c.writes(s, o) {
		return nil
	}
	starts := (op != nil && !op.Reads() || lint.SendsRequest(s)) && !c.polls(s)
	twice := starts && (lint.SendsRequest(s) || lint.RepeatsWrite(s))
	names := slices.DeleteFunc(faultNames(s.Task.Resource, op, twice), func(name string) bool {
		return slices.ContainsFunc(s.Catch, func(k asl.Catcher) bool { return slices.Contains(k.ErrorEquals, name) }) ||
			slices.ContainsFunc(s.Retry, func(r asl.Retrier) bool { return slices.Contains(r.ErrorEquals, name) }) // the first that names it counts
	})
	if len(names) == 0 || c.catchesThrottling(s, names) {
		return nil
	}
	about := "a throttled call of " + s.Name
	if !twice {
		about = "a throttled or failed call of " + s.Name
	}
	one := candidate{class: Sure, about: about, does: "is made again", mended: isRetried(names)}
	for _, name := range names {
		one.frame = append(one.frame, trial.Kind{Task: s.Name, Sort: trial.Fails, Value: name})
	}
	retrier := retrierValue(names)
	at := s.Position.Pointer
	switch all := slices.IndexFunc(s.Retry, func(r asl.Retrier) bool { return slices.Contains(r.ErrorEquals, asl.ErrorAll) }); {
	case len(s.Retry) == 0:
		one.edits = []edit.Edit{firstRetrier(s, retrier)}
	case all >= 0:
		one.class = Offered // it may say "never" on purpose
		one.edits = []edit.Edit{{Op: edit.Before, At: fmt.Sprintf("%s/Retry/%d", at, all), Value: retrier}}
	default:
		one.edits = []edit.Edit{{Op: edit.Append, At: at + "/Retry", Value: retrier}}
	}
	if starts {
		one.class = Offered
	}
	if name := c.mayEndWait(s, op, names); name != "" {
		one.class, one.also = Offered, name+" may be the error that ends the wait, which then ends later"
	}
	return []candidate{one}
}

// retrierValue is the retrier of some errors, as compile writes it. It says nothing that Step Functions takes anyway.
func retrierValue(names []string) json.RawMessage {
	r, usual := compile.FaultRetrier(names), asl.DefaultRetrier()
	members := []any{"ErrorEquals", listOf(names), "IntervalSeconds", r.IntervalSeconds, "MaxAttempts", r.MaxAttempts}
	if r.BackoffRate != usual.BackoffRate {
		members = append(members, "BackoffRate", r.BackoffRate)
	}
	return value(append(members, "MaxDelaySeconds", r.MaxDelaySeconds, "JitterStrategy", r.JitterStrategy)...)
}

// mayEndWait is the error of a poll that may say that a resource is gone, where a Catch takes that for the end of the wait. It is
// one by which other errors arrive, too: the service's model declares none for a resource that is gone. Empty if there is none.
func (c *checked) mayEndWait(s *asl.State, op *catalog.Operation, names []string) string {
	l := c.loopOf(s)
	if l == nil || l.Poll != s || op == nil || len(l.GoneErrors()) > 0 || !slices.Contains(names, op.Service.UnmodeledErrorName()) ||
		slices.ContainsFunc(op.Errors, func(e catalog.Error) bool { return saysGone().MatchString(e.Shape) }) {
		return ""
	}
	name := op.Service.UnmodeledErrorName()
	taker := slices.IndexFunc(s.Catch, func(k asl.Catcher) bool { return takesName(k.ErrorEquals, name) })
	endsBadly := []lint.End{lint.EndsFailure, lint.PollsOn, lint.StartsAgain}
	for _, row := range l.Errors {
		if taker >= 0 && slices.Equal(row.Names, s.Catch[taker].ErrorEquals) && !slices.Contains(endsBadly, row.Ends) {
			return name
		}
	}
	return ""
}

// saysGone finds the names of errors that say that a resource is not there.
var saysGone = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`NotFound|NotExist|NoSuch|NotAvailable`) })

// takesName tells whether some names of a Retry or Catch take an error of a Task, which is no time-out.
func takesName(names []string, name string) bool {
	return slices.ContainsFunc(names, func(taken string) bool { return taken == name || taken == asl.ErrorAll || taken == asl.ErrorTaskFailed })
}

// catchesThrottling tells whether a Catch takes the error by which throttled calls of a Task arrive,
// and no other of some names is one.
func (c *checked) catchesThrottling(s *asl.State, names []string) bool {
	throttled, ok := mock.ThrottleFailure(s.Task.Resource)
	return ok && !slices.Contains(names, throttled.Name) &&
		slices.ContainsFunc(s.Catch, func(k asl.Catcher) bool { return slices.Contains(k.ErrorEquals, throttled.Name) })
}

// caughtFaults are the errors of a call that fix would retry and a Catch names, if that is all of
// them, or has the error by which throttled calls arrive.
func (c *checked) caughtFaults(s *asl.State, o RepairOptions) []string {
	op, err := typecheck.FindOperation(s.Task.Resource, o.Models)
	if err != nil {
		return nil
	}
	all := faultNames(s.Task.Resource, op, op != nil && !op.Reads() && !c.polls(s) && lint.RepeatsWrite(s))
	isCaught := func(name string) bool {
		return slices.ContainsFunc(s.Catch, func(k asl.Catcher) bool { return slices.Contains(k.ErrorEquals, name) })
	}
	left := slices.DeleteFunc(slices.Clone(all), isCaught)
	if len(left) > 0 && !c.catchesThrottling(s, left) {
		return nil
	}
	return slices.DeleteFunc(all, func(name string) bool { return !isCaught(name) })
}

// polls tells whether a loop, or its own Retry, calls a Task again and again: one call more does what the next poll does.
func (c *checked) polls(s *asl.State) bool {
	return slices.ContainsFunc(c.loops, func(l lint.Loop) bool { return l.Poll == s })
}

// writes tells whether a Task changes something, and neither starts a job that is polled nor
// calls a function, which may only look.
func (c *checked) writes(s *asl.State, o RepairOptions) bool {
	op, err := typecheck.FindOperation(s.Task.Resource, o.Models)
	if r := asl.ParseResource(s.Task.Resource); err != nil || op == nil || op.Reads() || r.IsFunction() || r.Service == "lambda" {
		return false
	}
	return !slices.ContainsFunc(c.loops, func(l lint.Loop) bool { return l.Start == s || l.Poll == s })
}

// passingErrors are the errors of a Task on a Lambda function or an HTTP API after which it may be called again.
func (c *checked) passingErrors(s *asl.State) []string {
	return asl.ParseResource(s.Task.Resource).PassingErrors(!c.polls(s) && lint.SendsRequest(s))
}

// faultNames are the errors of a call that may be made again, as Step Functions spells them: of
// one that would do something twice, those by which nothing but throttled calls arrive.
func faultNames(resource string, op *catalog.Operation, twice bool) []string {
	r := asl.ParseResource(resource)
	if names := r.PassingErrors(twice); names != nil {
		return names
	}
	if op == nil {
		return nil
	}
	var names []string
	add := func(f *sim.TaskError) {
		if f != nil && !slices.Contains(names, f.Name) {
			names = append(names, f.Name)
		}
	}
	if throttled, ok := mock.ThrottleFailure(resource); ok && (!twice || awserror.ClassifyName(throttled.Name, "") == awserror.Throttled) {
		add(throttled)
	}
	for _, e := range op.Errors {
		if !twice && e.Shape != "" && awserror.ClassifyAnswer(e.Status, e.Shape).Passes() {
			add(mock.ServiceFailure(resource, op, mock.Answer{Code: e.Shape, Status: e.Status}))
		}
	}
	for _, name := range lint.ThrottlingErrors(resource, op) {
		add(&sim.TaskError{Name: name})
	}
	if twice {
		return names
	}
	add(mock.ServiceFailure(resource, op, mock.Answer{Code: "InternalFailure", Status: http.StatusInternalServerError}))
	add(mock.ClientFailure(resource, op, ""))
	return names
}
