package fixtruth

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// answer is one answer to a poll: a status, or an error, or neither, which is an answer
// without a status. In one with other set, the second member is not as expected.
type answer struct {
	status, err string
	other       bool
}

func (a answer) String() string {
	switch {
	case a.err != "":
		return a.err
	case a.status == "":
		return "no status"
	case a.other:
		return a.status + " with another second member"
	}
	return a.status
}

// scenario is what one job answers, poll by poll; the last answer stays. Every other
// job succeeds after two polls.
type scenario struct {
	answers []answer
	// then is what the next job answers, or the same one that is started again; nil for the same.
	then []answer
	// job is which one answers so, from 1; 0 for each.
	job int
	// endless tells that the job never ends.
	endless bool
	// full tells that each answer has all members.
	full bool
}

const unknownStatus = "HIBERNATING"

func (s scenario) String() string {
	var texts []string
	for _, a := range s.answers {
		texts = append(texts, a.String())
	}
	text := strings.Join(texts, ", ")
	if s.job != 0 {
		text += fmt.Sprintf(" of job %d", s.job)
	}
	return text
}

// usual is what the jobs answer that a scenario is not about.
func (o *operation) usual() []answer {
	return []answer{{status: o.running[0]}, {status: o.running[0]}, {status: o.success[0]}}
}

// given are all answers that the jobs of a scenario give.
func (s scenario) given(o *operation) []answer {
	if s.job == 0 {
		return s.answers
	}
	return slices.Concat(s.answers, o.usual())
}

// fails tells whether a poll fails.
func (s scenario) fails() bool {
	return slices.ContainsFunc(s.answers, func(a answer) bool { return a.err != "" })
}

// scenarios are the answers that a machine is run on.
func (b *blueprint) scenarios() []scenario {
	o := b.op
	running, success := answer{status: o.running[len(o.running)-1]}, answer{status: o.success[0]}
	jobs := []int{0}
	if b.jobs > 1 || b.around == "map" || b.around == "index" {
		jobs = []int{0, 1, 2}
	}
	var all []scenario
	add := func(answers ...answer) {
		for _, job := range jobs {
			all = append(all, scenario{answers: answers, job: job})
		}
	}
	for _, s := range slices.Concat(o.success, o.failure) {
		add(answer{status: s})
		add(running, running, answer{status: s})
	}
	if b.split {
		add(running, answer{status: o.success[0], other: true})
	}
	for _, s := range b.waits() {
		add(answer{status: s}, answer{status: s}, success)
	}
	if len(o.ending) > 0 {
		add(running, answer{status: o.ending[0]}, answer{status: o.failure[0]})
	}
	jobs = jobs[:1]
	add(running, answer{status: unknownStatus}, success)
	add(running, answer{}, success)
	for _, name := range []string{o.throttled(), o.fault(), o.denied(), o.gone, "States.Timeout"} {
		add(answer{err: name}, running, success)
		add(running, answer{err: name}, success)
	}
	add(running, answer{err: o.gone})
	add(running, answer{err: o.denied()})
	add(running, answer{err: o.throttled()}, answer{err: o.throttled()}, answer{status: o.failure[0]})
	all = append(all, scenario{answers: []answer{running}, endless: true})
	return all
}

// service answers the Tasks of one run, the n-th poll of a job by the n-th answer.
type service struct {
	*blueprint
	scenario scenario
	started  int
	polls    map[string]int
	calls    map[string]int
}

func newService(b *blueprint, s scenario) *service {
	return &service{blueprint: b, scenario: s, polls: map[string]int{}, calls: map[string]int{}}
}

func (s *service) handle(_ context.Context, c sim.Call) (sim.Reply, error) {
	switch nameOf(c.Resource, c.Arguments) {
	case s.op.call(s.op.start):
		s.started++
		o := object{}
		put(o, s.op.started, fmt.Sprintf("job-%d", s.started))
		return sim.Reply{Output: o}, nil
	case s.op.call(s.op.describe):
		return s.describe(s.op.asked(c.Arguments))
	}
	s.calls[c.Resource]++
	n := s.calls[c.Resource]
	switch {
	case strings.HasSuffix(c.Resource, ":lambda:invoke"):
		return sim.Reply{Output: object{"Payload": object{"answer": fmt.Sprintf("value %d", n)}, "StatusCode": 200}}, nil
	case strings.HasSuffix(c.Resource, ":http:invoke"):
		return sim.Reply{Output: object{"ResponseBody": object{"answer": fmt.Sprintf("value %d", n)}, "StatusCode": 200}}, nil
	}
	return sim.Reply{Output: object{"Answer": fmt.Sprintf("value %d", n)}}, nil
}

// describe answers a poll by its data. A function that gets all of the machine's data gives it back.
func (s *service) describe(data object) (sim.Reply, error) {
	ids, several := data[s.op.id].([]any)
	switch {
	case s.result == "input":
		ids = []any{data["id"]}
	case !several:
		ids = []any{data[s.op.id]}
	}
	var items []any
	for _, id := range ids {
		a := s.next(fmt.Sprint(id))
		if a.err != "" {
			return sim.Reply{}, &sim.TaskError{Name: a.err, Cause: "The service says: " + a.err}
		}
		items = append(items, s.item(id, a))
	}
	body := object{}
	if s.result == "input" {
		maps.Copy(body, data)
	}
	if s.op.list != "" {
		body[s.op.list] = items
	} else {
		maps.Copy(body, items[0].(object))
	}
	if s.result == "text" {
		body = object{"statusCode": 200, "body": show(body)}
	}
	return sim.Reply{Output: s.op.answered(body)}, nil
}

// item is what a service tells of a job: its reason only after a failure, unless each answer has it.
func (s *service) item(id any, a answer) object {
	o := object{"Described": id, "Took": 7}
	put(o, s.op.status, a.status)
	if a.status == "" {
		put(o, s.op.status, nil)
	}
	if slices.Contains(s.op.failure, a.status) || s.scenario.full || s.op.reasonAlways {
		put(o, s.op.reason, "It broke: "+a.status)
	}
	if s.op.second != nil {
		put(o, s.op.second, map[bool]any{false: s.op.expected, true: s.op.unexpected}[a.other])
	}
	return o
}

// next is the next answer of a job, whose id ends in its number.
func (s *service) next(id string) answer {
	n := s.polls[id]
	s.polls[id]++
	answers := s.scenario.answers
	if job := s.scenario.job; job != 0 && !strings.HasSuffix(id, fmt.Sprintf("-%d", job)) {
		answers = s.op.usual()
	}
	if then := s.scenario.then; then != nil && !strings.HasSuffix(id, "-1") {
		answers = then
	} else if then != nil && n >= len(answers) && s.op.name != "" {
		answers, n = then, n-len(answers)
	}
	return answers[min(n, len(answers)-1)]
}

// put sets a member, or makes its parents only if the value is nil.
func put(o object, path []string, value any) {
	for len(path) > 1 {
		below, is := o[path[0]].(object)
		if !is {
			below = object{}
			o[path[0]] = below
		}
		o, path = below, path[1:]
	}
	if len(path) == 1 && value != nil {
		o[path[0]] = value
	}
}
