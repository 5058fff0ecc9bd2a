package compile

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/internal/jmespath/tojsonata"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/jsontype"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// SyncTask starts the job by a ".sync" Task, in which Step Functions waits for it, and
// describes it once it has ended: the waiter has the verdict. Where it says that the
// job still runs, the states poll on until the deadline. It takes jobs that the
// catalogue can find behind their Task.
const SyncTask Strategy = "sync"

type syncTask struct{}

func (syncTask) traits() traits {
	return traits{
		summary: "a .sync Task runs the job, and one describe call judges it. Takes few jobs.", language: asl.JSONata,
		delays: drawn, told: true,
	}
}

// take refuses what is no job with such a Task, and a stop call that needs an id
// which is not known when the time is over.
func (syncTask) take(d *draft) {
	newPollLoop(d).judge()
	job := d.syncJob()
	switch {
	case d.call.Start == nil:
		d.refuse("the .sync Task starts the job: give the start call")
		return
	case job == nil || job.Sync == "":
		d.refuse("Step Functions has no .sync Task for %s", d.call.Start.Operation.Name)
		return
	case job.SyncUnknown != "":
		d.refuse("the job's id behind the Task %s is not known: %s", job.Sync, job.SyncUnknown)
	}
	switch {
	case d.options.Schedule != nil:
		d.refuse("it has no schedule, because Step Functions tells it of the end: leave the schedule out")
	case d.waitsFirst():
		d.refuse("it makes no call before the job has ended: leave the initial delay out")
	}
	if d.call.Stop != nil && catalog.ReadsStartOutput(d.call.Stop.Arguments) {
		d.refuse("the job's id is not known when the max wait is over, so the machine cannot stop the job: leave the stop call out")
	}
}

func (syncTask) turn(*plan) turn {
	t := pollLoopTurn
	submitted, ended := steps{0, 1}, steps{1, 2} // TaskSubmitted, and the state JobEnded
	t.most, t.success = t.most.and(submitted).and(ended), t.success.and(submitted)
	return t
}

// polls is one: Step Functions tells when.
func (syncTask) polls(*plan) int { return 1 }

func (syncTask) states(d *draft) states {
	j := newPollLoop(d)
	j.startStates = j.runInTask
	return j.pollLoop()
}

// syncJob is the job that the start call starts; nil if the catalogue has none that
// is described by the polled operation.
func (p *plan) syncJob() *catalog.Job {
	if p.call.Start == nil || p.call.Start.Operation == nil {
		return nil
	}
	op := p.call.Start.Operation
	if job := op.Service.Jobs[op.Name]; job != nil && job.Describe == p.call.Operation.Name {
		return job
	}
	return nil
}

// syncNote says how Step Functions learns of the end.
func (p *plan) syncNote() string {
	job := p.syncJob()
	switch {
	case job.SyncDelay > 0:
		delay := time.Duration(job.SyncDelay) * time.Second
		return fmt.Sprintf("Step Functions looks at the job of %s once in %s, and sees its end up to that late.", job.Sync, delay)
	case job.SyncRule != "":
		return fmt.Sprintf("Step Functions learns of the end by the EventBridge rule %s. Nobody has measured how late.", job.SyncRule)
	default:
		return "Step Functions learns of the end by an EventBridge rule whose name nobody knows. Nobody has measured how late."
	}
}

// runInTask are the states that start the job and wait for it. A failed job arrives
// as States.TaskFailed with its description as the Cause; any other error is that of
// a start, which is not made again: nobody has seen what such a Task makes of a token.
func (j *jsonata) runInTask(next string) states {
	const (
		failure = "$states.input.error"
		caught  = "$states.errorOutput"
	)
	job, ended := j.syncJob(), j.name("JobEnded")
	named := job.SyncArguments == nil // by its arguments, which are known beforehand
	timeout := object{"ErrorEquals": []string{"States.Timeout"}}
	if named {
		timeout["Assign"], timeout["Output"], timeout["Next"] = j.assignKnown(), object{}, next
	} else {
		late := j.outcome(pollcore.TimedOut, phrase{text: j.notFinished()})
		late.Attempt = expression("0")
		timeout["Output"], timeout["Next"] = late, j.exit(pollcore.TimedOut)
	}
	failed := j.outcome(pollcore.Failed, phrase{"the Task of the job failed: ", caught + ".Error & ': ' & " + caught + ".Cause"})
	failed.Attempt, failed.Error = expression("0"), expression(caught)
	task := object{
		"Type": "Task", "Resource": "arn:aws:states:::" + job.Sync, "Arguments": expression("$" + j.variable("request")),
		"TimeoutSeconds": j.total, "Output": object{},
		"Catch": []object{timeout, {"ErrorEquals": []string{"States.ALL"}, "Output": failed, "Next": ended}},
		"Next":  next,
	}
	described := object{"Condition": expression(failure + ".Error = 'States.TaskFailed'"), "Output": object{}, "Next": next}
	if named {
		task["Assign"], described["Assign"] = j.assignKnown(), j.assignKnown()
	} else {
		// The Cause is cut where it is too long, and is no JSON then.
		described["Condition"] = expression(fmt.Sprintf(
			"%[1]s.Error = 'States.TaskFailed' and $substring(%[1]s.Cause, 0, 1) = '{' and $substring(%[1]s.Cause, -1) = '}'", failure))
		arguments := j.variable("arguments")
		task["Assign"] = object{arguments: expression(j.argumentsAfterSync(job.SyncArguments, "$states.result"))}
		described["Assign"] = object{arguments: expression(fmt.Sprintf("($job := $parse(%s.Cause); %s)", failure, j.argumentsAfterSync(job.SyncArguments, "$job")))}
	}
	return states{
		{j.startName(), task},
		{ended, object{
			"Type": "Choice", "Choices": []object{described}, "Output": expression("$states.input"), "Default": j.exit(pollcore.Failed),
		}},
	}
}

// assignKnown assigns the arguments of the later calls, which come from those of the
// Task.
func (j *jsonata) assignKnown() object {
	assign := object{j.variable("arguments"): expression(j.argumentsFromStart(j.call.Operation, j.call.Start.Describe))}
	if j.call.Stop != nil {
		assign[j.variable("stop")] = expression(j.argumentsFromStart(j.stop(), j.call.Stop.Arguments))
	}
	return assign
}

// argumentsAfterSync is JSONata for the arguments of the polled operation by what the
// Task says of the job.
func (d *draft) argumentsAfterSync(arguments map[string]string, said string) string {
	parts := make([]string, 0, len(arguments))
	for _, member := range slices.Sorted(maps.Keys(arguments)) {
		e, err := jmespath.Parse(arguments[member])
		var value string
		if err == nil {
			shapes := &jsontype.Type{Kind: jsontype.Object, Members: map[string]*jsontype.Type{"output": stringsAt(e)}}
			value, err = tojsonata.Translate(e, inputOutput, shapes).Argument(nil, nil)
		}
		if err != nil {
			d.refuse("argument %s: %s", member, err)
			continue
		}
		parts = append(parts, text(javasdk.MemberName(member))+": "+unbound(value, "{}", said))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// stringsAt is the type of an output that has a string wherever the expression reads
// it.
func stringsAt(e *jmespath.Expr) *jsontype.Type {
	object := func() *jsontype.Type {
		return &jsontype.Type{Kind: jsontype.Object, Members: map[string]*jsontype.Type{}}
	}
	output := object()
	for _, path := range e.Paths() {
		if len(path) < 2 || path[0] != "output" {
			continue
		}
		at := output
		for _, name := range path[1 : len(path)-1] {
			if at.Members[name] == nil {
				at.Members[name] = object()
			}
			at = at.Members[name]
		}
		at.Members[path[len(path)-1]] = &jsontype.Type{Kind: jsontype.String}
	}
	return output
}
