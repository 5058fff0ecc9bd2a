package fixtruth

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/history"
)

// Way is what a machine does with a status of its job.
type Way string

// The ways.
const (
	PollsOn  Way = "polls on"
	Succeeds Way = "succeeds"
	Fails    Way = "fails"
	GoesOn   Way = "goes on to another loop"
	Breaks   Way = "breaks" // in an error of the engine
)

// Any stands for a status that the service does not have.
const Any = ""

// Ways are what the loop of a Task that polls does with each status, and with any other, by runs on
// answers that have the members of a job with that status. Answers have all members where a status that nobody
// knows leaves open which, and where a run breaks by an absent one: a table may say where the others lead. A run that
// does not come to the Task says nothing of an answer.
func (d *Drawn) Ways(ctx context.Context, task string) (map[string]Way, error) {
	return d.ways(ctx, task, false)
}

// WholeWays are the ways of answers that have all members, where a Catch takes the failure of a Task that lacks one.
func (d *Drawn) WholeWays(ctx context.Context, task string) (map[string]Way, error) {
	if !d.plan.readsReason || d.plan.catch == "" {
		return map[string]Way{}, nil
	}
	return d.ways(ctx, task, true)
}

func (d *Drawn) ways(ctx context.Context, task string, whole bool) (map[string]Way, error) {
	m, err := parse(d.Text)
	if err != nil {
		return nil, err
	}
	op, ways := d.plan.op, map[string]Way{}
	for _, status := range slices.Concat(op.success, op.failure, op.running, op.ending, []string{unknownStatus}) {
		a := answer{status: status}
		s := d.plan.scenarioOf(task, a, a, answer{status: op.success[0]})
		s.full = whole || status == unknownStatus
		o, err := d.plan.run(ctx, m, d.Input, s, usual)
		if err == nil && isBroken(o.err) {
			s.full = true
			o, err = d.plan.run(ctx, m, d.Input, s, usual)
		}
		if err != nil {
			return nil, err
		}
		if status == unknownStatus {
			status = Any
		}
		if o.endless && len(o.flows) == 0 || o.loops(task) > 0 {
			ways[status] = o.way(task)
		}
	}
	return ways, nil
}

// scenarioOf is the scenario in which the loop of a Task gets answers. With two loops in sequence,
// the job of the other one succeeds at once.
func (b *blueprint) scenarioOf(task string, answers ...answer) scenario {
	s := scenario{answers: answers, full: true}
	if b.around == "second" {
		s.then = []answer{{status: b.op.success[0]}}
		if task == pollSecond {
			s.answers, s.then = s.then, s.answers
		}
	}
	return s
}

// loops counts the flows in which a Task polls.
func (o *observed) loops(task string) int {
	loops := 0
	for _, f := range o.flows {
		loops += min(1, f.polls[task])
	}
	return loops
}

// way tells what the loop of a Task does in a run that begins with one status. A loop inside another polls it twice.
// Where another loop stands behind it, the end of the run says nothing of this one.
func (o *observed) way(task string) Way {
	const mostOfALoop = 2
	polls := 0
	for _, f := range o.flows {
		polls += f.polls[task]
	}
	switch {
	case polls > mostOfALoop*o.loops(task):
		return PollsOn
	case o.goesBehind(task) && (o.endless || o.status != history.StatusSucceeded):
		return GoesOn
	case isBroken(o.err):
		return Breaks
	case o.endless:
		return PollsOn
	case o.status == history.StatusSucceeded:
		return Succeeds
	}
	return Fails
}

// goesBehind tells whether a run leaves the loop of a Task for the one behind it.
func (o *observed) goesBehind(task string) bool {
	for _, f := range o.flows {
		if task == poll && f.polls[pollSecond] > 0 {
			return true
		}
	}
	return false
}

// Ends tells whether the loop of a Task gives up on a job that stays in a status, and on a service that
// cannot be asked.
func (d *Drawn) Ends(ctx context.Context, task, status string) (job, service bool, err error) {
	m, err := parse(d.Text)
	if err != nil {
		return false, false, err
	}
	ends := map[answer]bool{}
	for _, a := range []answer{{status: status}, {err: d.plan.op.throttled()}} {
		o, err := d.plan.run(ctx, m, d.Input, d.plan.scenarioOf(task, a), usual)
		if err != nil {
			return false, false, err
		}
		ends[a] = !o.endless || o.goesBehind(task)
	}
	return ends[answer{status: status}], ends[answer{err: d.plan.op.throttled()}], nil
}

// Errors are the errors by which runs of a machine end, empty for none, by the status that their job begins with.
func (d *Drawn) Errors(ctx context.Context, text []byte) (map[string]string, error) {
	m, err := parse(text)
	if err != nil {
		return nil, err
	}
	op, ends := d.plan.op, map[string]string{}
	for _, status := range slices.Concat(op.success, op.failure, d.plan.waits()) {
		a := answer{status: status}
		o, err := d.plan.run(ctx, m, d.Input, d.plan.scenarioOf(poll, a, a, answer{status: op.success[0]}), usual)
		if err != nil {
			return nil, err
		}
		ends[status] = o.err
	}
	return ends, nil
}

// EndOf tells whether a machine ends by itself where the job of a Task stays in a status, and with which error.
func (d *Drawn) EndOf(ctx context.Context, text []byte, task, status string) (failure string, ended bool, err error) {
	m, err := parse(text)
	if err != nil {
		return "", false, err
	}
	o, err := d.plan.run(ctx, m, d.Input, d.plan.scenarioOf(task, answer{status: status}), usual)
	if err != nil {
		return "", false, err
	}
	return o.err, !o.endless && o.status != history.StatusTimedOut, nil
}

// Means is what a status says of the job: success, failure, running or ending, or what the user says.
// It is nothing for a status that the service does not have, that is debated, or may be either.
func (d *Drawn) Means(status string) string {
	if said := d.Said()[status]; said != "" {
		return said
	}
	op := d.plan.op
	for name, all := range map[string][]string{"success": op.success, "failure": op.failure, "running": op.running, "ending": op.ending} {
		if slices.Contains(all, status) && !slices.Contains(op.debated, status) && !slices.Contains(op.either, status) {
			return name
		}
	}
	return ""
}

// Said is what the user says of statuses: the meaning of each, or nothing.
func (d *Drawn) Said() map[string]string {
	said := map[string]string{}
	if d.plan.said {
		op := d.plan.op
		for means, all := range map[string][]string{"success": op.success, "failure": op.failure, "running": d.plan.waits()} {
			for _, status := range all {
				said[status] = means
			}
		}
	}
	return said
}

// StatusMember is the name of the member that says the status.
func (d *Drawn) StatusMember() string { return d.plan.op.status[len(d.plan.op.status)-1] }

// behaves tells whether a run ends as that of the twin, and calls the same Tasks, but for
// those that the machine does not have. One that polls on may end after a time.
func (d *Drawn) behaves(o, twin *observed, bound time.Duration) bool {
	succeeds := func(o *observed) bool { return o.status == history.StatusSucceeded }
	switch {
	case twin.endless:
		return o.endless || bound > 0 && !succeeds(o) && o.took > bound/2
	case o.endless || succeeds(o) != succeeds(twin):
		return false
	}
	places := map[string]bool{}
	for place := range o.flows {
		places[place] = true
	}
	for place := range twin.flows {
		places[place] = true
	}
	for place := range places {
		f, as := o.flows[place], twin.flows[place]
		if f.isCut() || as.isCut() {
			continue // it comes as far as time lets it
		}
		made, wanted := slices.DeleteFunc(f.names(), d.lacks), slices.DeleteFunc(as.names(), d.lacks)
		if bound > 0 && o.took > bound/2 { // another bound gives another number of turns
			made, wanted = slices.Compact(made), slices.Compact(wanted)
		}
		if !slices.Equal(made, wanted) && (!d.startsMore(wanted, made) || !isPart(made, wanted)) {
			return false
		}
	}
	return true
}

// startsMore tells whether some calls start the job again which others start once: how often a failed job is started is the
// user's matter, and a change may end the execution at once.
func (d *Drawn) startsMore(calls, others []string) bool {
	start := d.plan.op.call(d.plan.op.start)
	starts := func(calls []string) int {
		return len(slices.DeleteFunc(slices.Clone(calls), func(call string) bool { return call != start }))
	}
	return starts(others) == 1 && starts(calls) > 1
}

// isPart tells whether all calls are among others, in their order.
func isPart(calls, others []string) bool {
	for _, call := range others {
		if len(calls) > 0 && calls[0] == call {
			calls = calls[1:]
		}
	}
	return len(calls) == 0
}

// lacks tells whether the machine has no Task that makes a call.
func (d *Drawn) lacks(call string) bool {
	return !strings.Contains(string(d.Text), call[strings.LastIndex(call, " ")+1:]+`"`)
}

func (f *flow) isCut() bool { return f != nil && f.cut }
