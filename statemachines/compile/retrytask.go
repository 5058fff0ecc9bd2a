package compile

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// RetryTask is a single Task in JSONata whose Retry block is the loop: a
// third of the transitions, and less than half of the events.
const RetryTask Strategy = "retry-task"

// retryCount is the number of the attempt, in the Task.
const retryCount = "$states.context.State.RetryCount + 1"

// mostPhases is how many delays between calls the machine holds. With more of them,
// the calls and the lateness of planned schedules hardly change.
const mostPhases = 6

type retryTask struct{}

func (retryTask) traits() traits {
	return traits{
		summary: "one Task in JSONata whose Retry block is the loop: a third of the transitions", language: asl.JSONata,
		retryBlock: true, untried: true, phases: mostPhases, delays: undrawn,
	}
}

func (retryTask) writer(d *draft) *jsonata {
	return &jsonata{
		draft: d, judged: "$states.result", response: "$states.input.output",
		attempt: "$states.input.attempt", failedAttempt: retryCount, last: d.total - errorWait(d.plan),
	}
}

func (r retryTask) take(d *draft) { r.writer(d).judge() }

func (retryTask) turn(p *plan) turn {
	t := turn{steps{1, 4}, steps{3, 12}, steps{3, 9}, steps{1, 4}}
	for range endsOf(0, p.phases()) {
		t.most = t.most.and(t.next)
	}
	return t
}

func (retryTask) polls(p *plan) int {
	calls := 1
	for _, r := range pollRetriers(p) {
		calls += r.share.calls
		for _, e := range r.erring {
			calls += e.MaxAttempts
		}
	}
	return calls
}

// states writes a Task whose Output says which acceptor matches, or is an error
// while the job runs, which the Task retries. The Choice behind it makes the result.
// A schedule with more delays has such a Task for each, and a Wait between two: the
// Catch of the error leads there when the calls with a delay have been made.
//
// The time is over by the clock in Output, before the retries of the last Task are used
// up: their delays add up to all of it. So its Catch of the error is for an Output that
// cannot be evaluated, and its Cause says why.
func (r retryTask) states(d *draft) states {
	j := r.writer(d)
	rules, late := j.judge(), j.late()
	describe, outcome := j.name(j.call.Operation.Name), j.name("Outcome")
	if j.retriesErrors() && j.total-j.initial == 1 {
		j.refuse("it goes on after errors, whose retries need a second that they do not share with those of responses: " +
			"MaxWait must be 2 s above InitialDelay at least")
	}
	polls := pollRetriers(j.plan)
	if len(polls) > 1 {
		j.adds, j.failedAttempt = true, "$"+j.variable("attempt")+" + "+retryCount
	}
	all := append(j.begin(describe), j.pollTasks(rules, polls, outcome)...)
	var choices []object
	for _, rule := range rules {
		if rule.state != pollcore.Retry {
			choices = append(choices, j.choice(fmt.Sprintf("$states.input.matched = %d", rule.number), rule.state, rule.says))
		}
	}
	ends := object{"Type": "Choice", "Choices": choices, "Output": j.endResult(pollcore.Retry, late), "Default": j.afterDeadline()}
	if choices == nil { // only errors end the wait
		ends = object{"Type": "Pass", "Output": j.endResult(pollcore.Retry, late), "Next": j.afterDeadline()}
	}
	all = append(all, state{outcome, ends})
	all = append(all, j.lookAtError("")...)
	return append(all, j.ends()...)
}

// pollTasks are the Tasks that poll, and a Wait before each but the first.
func (j *jsonata) pollTasks(rules []judged, polls []pollRetrier, outcome string) states {
	var all states
	for i := range polls {
		name, again, last := j.name(j.call.Operation.Name), j.afterDeadline(), i == len(polls)-1
		if i > 0 {
			name = j.name(fmt.Sprint(j.call.Operation.Name, i+1))
			all = append(all, state{j.waitBefore(i), object{"Type": "Wait", "Seconds": polls[i].pending.IntervalSeconds, "Next": name}})
		}
		if !last {
			again = j.waitBefore(i + 1)
		}
		broken := object{"ErrorEquals": []string{asl.ErrorQueryEvaluation}, "Output": j.errorResult(catch{state: pollcore.Retry}), "Next": again}
		catchers := append([]object{broken}, j.catchers(again)...)
		for _, c := range catchers {
			if !last && c["Next"] == again {
				c["Assign"], c["Output"] = object{j.variable("attempt"): expression(j.failedAttempt)}, object{}
			}
		}
		all = append(all, state{name, object{
			"Comment": "While the job runs, Output raises " + asl.ErrorQueryEvaluation + ", and its retries are the polls.",
			"Type":    "Task", "Resource": resource(j.call.Operation), "Arguments": expression("$" + j.variable("arguments")),
			"TimeoutSeconds": callTimeout,
			"Output":         judgement{expression(j.matchExpression(rules)), expression(j.failedAttempt), expression(j.judged)},
			"Retry":          slices.Concat(j.faultsIn(j.call.Operation, polls[i].share), polls[i].retriers(len(polls) > 1)), "Catch": catchers,
			"Next": outcome,
		}})
	}
	return all
}

// waitBefore is the name of the Wait before a Task, counted from 0.
func (j *jsonata) waitBefore(task int) string {
	return j.name(fmt.Sprint("WaitFor", j.call.Operation.Name, task+1))
}

// judgement is the Output of the Task: the number of the acceptor that matches,
// or 0 when the time is over.
type judgement struct {
	Matched string `json:"matched"`
	Attempt string `json:"attempt"`
	Output  string `json:"output"`
}

// matchExpression is the number of the acceptor that matches, or the error that goes on.
func (j *jsonata) matchExpression(rules []judged) string {
	goOn := j.early() + " ? $error('RUNNING') : 0"
	var b strings.Builder
	for _, r := range rules {
		then := fmt.Sprint(r.number)
		if r.state == pollcore.Retry {
			then = "(" + goOn + ")"
		}
		if r.condition == always {
			return b.String() + then // and no rule behind it matters
		}
		b.WriteString(r.condition + " ? " + then + " : ")
	}
	return b.String() + goOn
}

// pollRetrier is the part of the Retry block of one Task that polls.
type pollRetrier struct {
	// pending is the loop. The clock ends it, so its attempts may be too many: they are
	// counted as if Step Functions, which does not say what it makes of a part of a
	// second, left it out.
	pending retrier
	// erring are of errors that an acceptor retries.
	erring []retrier
	// share are the calls behind the first that the clock leaves to the Task.
	share share
}

// pollRetriers are those of all Tasks that poll, in their order.
func pollRetriers(p *plan) []pollRetrier {
	phases := p.phases()
	if len(phases) == 0 {
		pending := p.waits([]string{asl.ErrorQueryEvaluation}, p.wholeAttempts(p.total-errorWait(p)-p.initial))
		one := pollRetrier{pending: pending, share: share{pending.MaxAttempts, pending.MaxAttempts}}
		one.add(p, func(names []string) retrier {
			return p.waits(names, p.count(time.Duration(errorWait(p))*time.Second, middle))
		})
		return []pollRetrier{one}
	}
	calls := 0
	for _, ph := range phases {
		calls += ph.calls
	}
	errors := p.retryErrors(phases)
	all := make([]pollRetrier, len(phases))
	for i, ph := range phases {
		every := func(names []string, attempts int) retrier {
			return retrier{ErrorEquals: names, IntervalSeconds: int(ph.delay / time.Second), MaxAttempts: attempts, BackoffRate: 1}
		}
		attempts := ph.calls
		switch {
		case i == len(phases)-1: // which a redrive may find with all the time before it
			attempts = wholeDelays(p.timeForCalls(), ph.delay)
		case i > 0:
			attempts-- // the Wait before the Task is the first
		}
		all[i] = pollRetrier{pending: every([]string{asl.ErrorQueryEvaluation}, attempts), share: share{ph.calls, calls}}
		all[i].add(p, func(names []string) retrier { return every(names, errors[i]) })
	}
	return all
}

// add adds the retriers of errors that acceptors retry.
func (r *pollRetrier) add(p *plan, retry func(names []string) retrier) {
	r.pending.clocked = true
	for _, c := range p.catches {
		if c.state == pollcore.Retry {
			r.erring = append(r.erring, retry(c.names))
		}
	}
}

// retriers are those of the Task: among others without those that have no attempt, as
// what they would retry is caught.
func (r *pollRetrier) retriers(among bool) []retrier {
	all := append([]retrier{r.pending}, r.erring...)
	return slices.DeleteFunc(all, func(r retrier) bool { return among && r.MaxAttempts == 0 })
}
