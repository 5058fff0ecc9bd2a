package fixtruth

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/history"
)

// The ends that a loop is meant to come to.
const (
	toSuccess = "success"
	toFailure = "failure"
	toGiveUp  = "time-out"
	toError   = "error"
	toNowhere = "" // it polls until something outside ends it, or nothing says what is meant
)

// intent is what an intact machine is meant to do in a scenario, by its parameters
// alone.
type intent struct {
	end   string
	err   string   // of the execution
	calls []string // of the flow that polls, as in observed
}

// intend says what is meant of the flow of an item of a Map, or of the machine, which is
// item 0. It is nothing if that is not said.
func (b *blueprint) intend(s scenario, item int) intent {
	for _, a := range s.answers {
		unsaid := a.status == unknownStatus && b.told && namesRunning(b) // it fails without a reason to tell
		if a.err == "" && a.status == "" || unsaid {
			return intent{}
		}
	}
	var in intent
	service := newService(b, s)
	call := func(name string) { in.calls = append(in.calls, name) }
	if b.before != "" {
		call(asideCall(b.before, "prepare"))
	}
	if b.first == "choice" && b.progress { // it comes to the Wait as behind a poll
		call("dynamodb:updateItem")
	}
	for start := 1; ; start++ {
		if b.starts {
			service.started = start + item
			call(b.op.call(b.op.start))
		}
		if b.around == "index" && !b.starts {
			item = start - 1
		}
		loop := b
		if b.around == "second" && start > 1 {
			loop = b.second()
		}
		end, err, laps := loop.wait(service, item, start == 1 || b.starts)
		in.end, in.err = end, err
		for range laps {
			if loop.progress {
				call("dynamodb:updateItem")
			}
		}
		if !b.comesAgain(in.end, start) {
			break
		}
	}
	in.calls = append(in.calls, b.callsBehind(in.end)...)
	return in
}

// asideCall is the name of a call before or behind the loop.
func asideCall(service, name string) string {
	if service == "http" {
		name = "https://example.com/" + name
	}
	return service + ":invoke " + name
}

// callsBehind are the calls behind an end of the loop.
func (b *blueprint) callsBehind(end string) (calls []string) {
	switch {
	case end == toSuccess && b.after != "":
		calls = append(calls, asideCall(b.after, "report-done"))
	case end == toFailure && b.clean:
		calls = append(calls, b.op.call(b.op.stop))
	}
	if end == toFailure && b.message {
		calls = append(calls, "sns:publish")
	}
	return calls
}

// comesAgain tells whether a machine comes to its loop again behind an end.
func (b *blueprint) comesAgain(end string, rounds int) bool {
	switch b.around {
	case "outer":
		return end == toFailure && rounds < 2
	case "index", "second":
		return end == toSuccess && rounds < 2
	}
	return false
}

// second is the loop behind the loop.
func (b *blueprint) second() *blueprint {
	loop := *b
	loop.first, loop.choices, loop.progress = "", defaultWaits, false
	return &loop
}

// wait polls as the machine is meant to, and returns where that leads and how often it
// waited after a poll. Begins tells that it comes in as the machine does at first.
func (b *blueprint) wait(s *service, item int, begins bool) (end, err string, laps int) {
	retried, counted := 0, 0
	if (b.first == "loop" || b.first == "choice") && begins {
		counted = 1
	}
	for laps < 200 {
		answers, failure := b.ask(s, item)
		if failure != "" {
			if slices.Contains(b.retriedErrors(), failure) && b.retried && retried < 4 {
				retried++
				continue
			}
			retried = 0
			caught := slices.Contains(b.caughtErrors(), failure) || slices.Contains(b.caughtErrors(), "States.TaskFailed") && failure != "States.Timeout"
			switch {
			case !caught:
				return toError, failure, laps
			case b.catch == "success":
				return toSuccess, "", laps
			case b.catch == "failure":
				return toFailure, "Job.Failed", laps
			}
			laps++
			continue
		}
		retried = 0
		switch end := b.decide(answers); {
		case end == toSuccess:
			return end, "", laps
		case end == toFailure:
			return end, "Job.Failed", laps
		case b.counter == "" || laps+counted < b.limit || b.boundOfRunning && !slices.Contains(b.waits(), answers[0]):
		case b.goesOn:
			return toSuccess, "", laps
		default:
			return toGiveUp, "Wait.TimedOut", laps
		}
		laps++
	}
	return toNowhere, "", laps
}

// ask polls each job once, up to the first error.
func (b *blueprint) ask(s *service, item int) (statuses []string, failure string) {
	ids := []string{"job-1", "job-2"}[item : item+b.jobs]
	if b.starts && b.op.name == "" {
		ids = []string{fmt.Sprintf("job-%d", s.started)}
	}
	for _, id := range ids {
		a := s.next(id)
		if a.err != "" {
			return nil, a.err
		}
		if a.other {
			a.status = b.op.failure[0]
		}
		statuses = append(statuses, a.status)
	}
	return statuses, ""
}

// decide judges the statuses of the jobs.
func (b *blueprint) decide(statuses []string) string {
	succeeded, failed := 0, 0
	if b.choices == defaultSucceeds {
		return b.decideByDefault(statuses)
	}
	for _, s := range statuses {
		switch {
		case slices.Contains(b.op.success, s):
			succeeded++
		case slices.Contains(b.op.failure, s), !slices.Contains(b.waits(), s) && namesRunning(b):
			failed++
		}
	}
	need, lost := len(statuses), 1
	if b.any {
		need, lost = 1, len(statuses)
	}
	switch {
	case succeeded >= need:
		return toSuccess
	case failed >= lost:
		return toFailure
	}
	return toNowhere
}

// decideByDefault judges the statuses where what no rule names is a success.
func (b *blueprint) decideByDefault(statuses []string) string {
	switch {
	case slices.ContainsFunc(statuses, func(s string) bool { return slices.Contains(b.op.failure, s) }):
		return toFailure
	case slices.ContainsFunc(statuses, func(s string) bool { return slices.Contains(b.waits(), s) }):
		return toNowhere
	}
	return toSuccess
}

// Misses says where the intact twin does not do what its parameters mean: then the
// generator is wrong.
func (d *Drawn) Misses(ctx context.Context) []string {
	m, err := parse(d.Twin)
	if err != nil {
		return []string{err.Error()}
	}
	var missed []string
	for _, s := range d.intact.scenarios() {
		o, err := d.intact.run(ctx, m, d.Input, s, usual)
		if err != nil {
			missed = append(missed, fmt.Sprintf("%s: %v", s, err))
			continue
		}
		d.twins[s.String()] = o
		if text := d.intact.miss(s, o); text != "" {
			missed = append(missed, fmt.Sprintf("%s: %s", s, text))
		}
	}
	return missed
}

func (b *blueprint) miss(s scenario, o *observed) string {
	wanted := []intent{b.intend(s, 0)}
	if b.around == "map" {
		wanted = append(wanted, b.intend(s, 1))
	}
	status, failure := history.StatusSucceeded, ""
	for _, want := range wanted {
		switch want.end {
		case toNowhere:
			return ""
		case toFailure, toGiveUp, toError:
			status, failure = history.StatusFailed, want.err
		}
	}
	if o.status != status || o.err != failure {
		return fmt.Sprintf("%s %s, meant is %s %s", o.status, o.err, status, failure)
	}
	for place, f := range o.flows {
		want := wanted[0]
		if strings.HasPrefix(place, "index 1") {
			want = wanted[1]
		}
		names := f.names()
		if f.cut && len(names) < len(want.calls) {
			want.calls = want.calls[:len(names)]
		}
		if len(f.polled) > 0 && !slices.Equal(names, want.calls) {
			return fmt.Sprintf("%s: calls %v, meant are %v", place, names, want.calls)
		}
	}
	return ""
}
