package simulate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/nearest"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// Told is what a loop makes of answers that neither the catalogue nor a model knows: of a Lambda function, an HTTP endpoint
// or another state machine.
type Told struct {
	// Status is the path of the status in an answer, such as "Payload.status", or "$" for the whole answer.
	Status string
	// Values are those that it may have, those of a job that runs in the order in which they are likely.
	Values []ToldValue
}

// isWhole tells whether the whole answer is the status.
func (t *Told) isWhole() bool { return t.Status == "$" }

// ToldValue is a value of a status.
type ToldValue struct {
	Name    string // as Spec.Ends names it
	Value   any    // nil if the answer does not have the status
	Any     bool   // it stands for the values that the machine does not compare
	Verdict pollcore.Verdict
}

// toldJob is a job of which a machine or its user alone tells the statuses.
type toldJob struct {
	task *task
	told *Told
	spec Spec
	ends *ToldValue
}

// RunningName is a status of a job that runs, where the machine compares none.
const RunningName = "RUNNING"

// findTold finds the jobs that Tasks ask for whose answers nobody knows.
func (p *planner) findTold(tasks []*task) {
	for _, t := range tasks {
		told := p.options.Told[t.name()]
		if told == nil || t.unknown() == "" || parsePlace(told.Status) == nil && !told.isWhole() {
			continue
		}
		spec, is := p.specOf(t.name())
		if j := (&toldJob{task: t, told: told, spec: spec}); is && j.running() != nil && j.endOf("") != nil {
			p.told = append(p.told, j)
		}
	}
}

// running is the status of a job that runs; nil if none is known.
func (j *toldJob) running() *ToldValue { return j.first(pollcore.Retry) }

// endOf is the status of a name, or the first of a verdict; nil if there is none. The empty name is a success.
func (j *toldJob) endOf(name string) *ToldValue {
	for i := range j.told.Values {
		if v := &j.told.Values[i]; v.Name == name && !v.Any {
			return v
		}
	}
	if name == "" {
		name = string(pollcore.Success)
	}
	return j.first(pollcore.Verdict(name))
}

func (j *toldJob) first(verdict pollcore.Verdict) *ToldValue {
	i := slices.IndexFunc(j.told.Values, func(v ToldValue) bool { return v.Verdict == verdict })
	if i < 0 {
		return nil
	}
	return &j.told.Values[i]
}

// names are those of the statuses.
func (j *toldJob) names() []string {
	var names []string
	for _, v := range j.told.Values {
		if !v.Any {
			names = append(names, v.Name)
		}
	}
	return names
}

// simulateTold lets a job answer a Task, if it is known how the machine reads the answers.
func (p *planner) simulateTold(u *Unknown) {
	i := slices.IndexFunc(p.told, func(j *toldJob) bool { return j.task == u.task })
	if i < 0 {
		return
	}
	j := p.told[i]
	if j.ends = j.endOf(j.spec.Ends); j.ends == nil {
		p.problems = append(p.problems, fmt.Errorf("%q never ends %q%s: the machine compares %s with %s%s", u.State, j.spec.Ends,
			nearest.DidYouMean(j.spec.Ends, j.names()), j.told.Status, strings.Join(j.names(), ", "), p.suggestFor(j.spec)))
		return
	}
	for _, v := range []*ToldValue{j.running(), j.ends} {
		if _, isObject := j.answer(*u, 0, v).(map[string]any); !isObject && !j.told.isWhole() {
			return // only an object has a member
		}
	}
	u.job = j
	p.plan.Jobs = append(p.plan.Jobs, u.State)
}

// answer is the answer to a call that tells a status.
func (j *toldJob) answer(u Unknown, seed uint64, v *ToldValue) any {
	if j.told.isWhole() {
		if v.Any { // the machine does not compare it, whatever it is
			return RunningName
		}
		return v.Value
	}
	at := parsePlace(j.told.Status)
	if v.Any {
		return u.Around(typecheck.Draw(typecheck.Unknown(), u.demand, u.draw(seed, 0)))
	}
	answer := clone(u.Answer(seed, 0))
	if v.Value == nil {
		at.remove(answer)
		return answer
	}
	if number, is := numberOf(v.Value); is && j.told.Status == statusCode {
		return at.put(answer, number)
	}
	return at.put(answer, v.Value)
}

// handler answers the calls of one run.
func (j *toldJob) handler(u Unknown, seed uint64) sim.Handler {
	running := j.running()
	simulated := &mock.Job{
		Spread: j.spec.Spread, Seed: seed, Running: running.Name, Ends: j.ends.Name, Answers: map[string]any{},
	}
	const named = "status"
	answers := map[any]any{}
	for _, v := range []*ToldValue{running, j.ends} {
		simulated.Answers[v.Name], answers[v.Name] = map[string]any{named: v.Name}, j.answer(u, seed, v)
	}
	if share, err := mock.ParseShare(j.spec.Throttle); err == nil && u.task.throttles() {
		simulated.Throttled = share
	}
	return func(ctx context.Context, call sim.Call) (sim.Reply, error) {
		reply, err := simulated.Describe(ctx, call)
		if err != nil {
			return reply, err
		}
		told, _ := reply.Output.(map[string]any)
		return u.reply(clone(answers[told[named]]))
	}
}

// throttles tells whether it is known how the service of a Task throttles.
func (t *task) throttles() bool {
	_, is := mock.ThrottleFailure(t.resource)
	return is
}
