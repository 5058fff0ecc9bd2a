// Package simulate answers the Tasks of a state machine by what the catalogue and the
// models know: jobs that run and end, and responses that fit.
package simulate

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/nearest"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// Options are how jobs run, and what is not to be simulated.
type Options struct {
	// Specs are for the states that they name; the one without a name is for all
	// others.
	Specs []Spec
	// Ends is the status that jobs end in of which no Spec says it.
	Ends string
	// Answered are the states and resources that have answers.
	Answered []string
	// Polls are what Tasks poll, by state, where the caller knows, and Running
	// the statuses for which the machine asks again: lint.Polled finds both. An entry
	// of a service without a Key is the caller's own, for a Task whose result no model has:
	// its waiter reads that as the call returns it.
	Polls   map[string]*catalog.Entry
	Running map[string][]string
	// Told is what loops make of the answers of Tasks which nobody knows, by the state, and Means says what a word is
	// about the job that the Task of a state asks for: nothing, where that is not sure.
	Told  map[string]*Told
	Means func(state, word string) pollcore.Verdict
	// Items is how many jobs an answer about an entry of the caller's own lists, where it has a list; 0 for one.
	Items int
	// Draw draws other members of the answers about an entry of the caller's own, such as values that the machine compares
	// them with.
	Draw int
	// Times lets answers have the times at which their job started and ended. Two
	// machines that poll one job at different times do not get the same answers then.
	Times bool
	// Reader is the machine whose paths say which members answers have, besides those
	// that the model requires; nil for the machine itself.
	Reader *asl.StateMachine
	// Readings are what machines name, as far as the caller has read them.
	Readings map[*asl.StateMachine]*Reading
	// Models are the APIs of services, as models.Load of pollcore/catalog/models.
	Models typecheck.Models
}

// New plans the answers. Its error says which Spec fits no job, and which status no
// job has; all that is wrong at once.
func New(m *asl.StateMachine, o Options) (*Plan, error) {
	c, err := prepare(m, o)
	if err != nil {
		return nil, err
	}
	return c.plan(o)
}

// Cast are the jobs of a machine and what is known of their answers, for plans that differ in how long the jobs
// run and how they end. It is not safe for concurrent use.
type Cast struct {
	options Options
	machine *asl.StateMachine
	tasks   []*task
	jobs    []*job
	full    *answers           // with what the machine names
	demands *typecheck.Demands // nil if nothing is unknown
}

// Prepare finds the jobs of a machine. The Specs and Ends of the options do not count.
func Prepare(m *asl.StateMachine, o Options) (*Cast, error) {
	o.Specs, o.Ends = nil, ""
	return prepare(m, o)
}

// Plan plans the answers about jobs that all run for a time and end in a status.
func (c *Cast) Plan(runs mock.Spread, ends string) (*Plan, error) {
	o := c.options
	o.Specs, o.Ends = []Spec{{Spread: runs}}, ends
	return c.plan(o)
}

func prepare(m *asl.StateMachine, o Options) (*Cast, error) {
	tasks, err := tasksOf(m, o.Models)
	if err != nil {
		return nil, err
	}
	tasks = slices.DeleteFunc(tasks, func(t *task) bool {
		return slices.Contains(o.Answered, t.name()) || slices.Contains(o.Answered, t.resource)
	})
	demands, err := demandsOf(m, tasks, o.Models)
	if err != nil {
		return nil, err
	}
	findLooks(tasks, demands)
	own := o.reading(m)
	jobs, err := findJobs(m, tasks, &o, own.has)
	if err != nil {
		return nil, err
	}
	if err := findAskers(jobs, &o); err != nil {
		return nil, err
	}
	reads := own
	if o.Reader != nil {
		reads = o.reading(o.Reader)
	}
	c := &Cast{o, m, tasks, jobs, newAnswers(reads), demands}
	c.full.times = o.Times
	p := &planner{options: o, full: c.full}
	for _, j := range jobs {
		a := p.answersOf(j.specTasks()...)
		if err := j.prepare(a, o.Models); err != nil {
			return nil, err
		}
		if a.bare {
			j.behaviour.dropZeros()
		}
		j.reading = j.writeOutputs(demands, &o, a.bare)
		if j.identity.asked != nil && j.identity.stopped == nil {
			j.stops = nil // the call does not say which job it stops
		}
	}
	return c, nil
}

func (c *Cast) plan(o Options) (*Plan, error) {
	p := &planner{options: o, jobs: c.jobs, full: c.full, demands: c.demands, plan: &Plan{}, mocks: map[*task]namedMock{}, silent: map[*task]bool{}}
	p.findTold(c.tasks)
	if err := p.checkSpecs(c.jobs); err != nil {
		return nil, err
	}
	for _, j := range c.jobs {
		p.job(j)
	}
	p.noteUntimed()
	for _, t := range c.tasks {
		p.task(t)
	}
	if err := errors.Join(p.problems...); err != nil {
		return nil, err
	}
	return p.plan, nil
}

// untold is the Task as one that has to be told what it returns.
func (t *task) untold(what string) Unknown {
	return Unknown{State: t.name(), Resource: t.resource, Position: t.position, What: what, task: t}
}

// planner is a plan on its way.
type planner struct {
	options  Options
	jobs     []*job
	full     *answers           // with what the machine names
	demands  *typecheck.Demands // nil if nothing is unknown
	told     []*toldJob
	plan     *Plan
	mocks    map[*task]namedMock // of jobs, by the Task that they stand at
	silent   map[*task]bool      // Tasks that a job answers from elsewhere
	problems []error
}

// checkSpecs finds specs that are for no job, or for one that another is for.
func (p *planner) checkSpecs(jobs []*job) error {
	var names []string
	for _, j := range jobs {
		for _, t := range j.specTasks() {
			names = append(names, t.name())
		}
	}
	for _, j := range p.told {
		names = append(names, j.task.name())
	}
	var problems []error
	seen := map[string]bool{}
	for _, s := range p.options.Specs {
		switch {
		case seen[s.State] && s.State == "":
			problems = append(problems, errors.New("two specs are for all jobs: name the state in one of them, STATE=TIME"))
		case seen[s.State]:
			problems = append(problems, fmt.Errorf("two specs are for %q: remove one", s.State))
		case s.State != "" && !slices.Contains(names, s.State):
			there := "the machine has no job that can be simulated"
			if len(names) > 0 {
				there = "the jobs are " + strings.Join(names, ", ")
			}
			problems = append(problems, fmt.Errorf("no Task %q starts a job%s: %s", s.State, nearest.DidYouMean(s.State, names), there))
		}
		seen[s.State] = true
	}
	return errors.Join(problems...)
}

// specOf is the spec of a state.
func (p *planner) specOf(state string) (Spec, bool) {
	for _, wanted := range []string{state, ""} {
		for _, s := range p.options.Specs {
			if s.State == wanted {
				if s.Ends == "" {
					s.Ends = p.options.Ends
				}
				return s, true
			}
		}
	}
	return Spec{}, false
}

// answersOf makes the answers of a job that Tasks name, or of a Task: bare ones, if a spec
// says so.
func (p *planner) answersOf(named ...*task) *answers {
	for _, t := range named {
		if spec, ok := p.specOf(t.name()); ok && spec.Bare {
			return &answers{bare: true}
		}
	}
	return p.full
}

// job plans the answers of a job.
func (p *planner) job(j *job) {
	if !j.simulatable() { // each of its calls is told what it is
		for _, t := range j.describes {
			if t.loops {
				p.plan.Endless = append(p.plan.Endless, t.name())
			}
		}
		return
	}
	named := j.specTasks()
	specs, ends := make([]Spec, len(named)), make([]*status, len(named))
	for i, t := range named {
		spec, ok := p.specOf(t.name())
		if !ok {
			p.problems = append(p.problems, fmt.Errorf("no spec says how long %q (%s) runs: add a spec for it, or one without a name for all others",
				t.name(), j.title()))
			return
		}
		end, err := j.endOf(spec.Ends)
		if err != nil {
			p.problems = append(p.problems, fmt.Errorf("%q: %w%s", t.name(), err, p.suggestFor(spec)))
			return
		}
		specs[i], ends[i] = spec, end
	}
	p.plan.Jobs = append(p.plan.Jobs, j.title())
	body := p.bodyOf(j, specs, ends)
	for _, t := range j.reading {
		u := p.unknown(t, "the output of the state machine")
		u.within = true
		p.plan.Unknown = append(p.plan.Unknown, u)
	}
	p.mocks[j.holder()] = namedMock{name: j.holder().name(), body: object{{"job", body}}}
	if j.sync == nil {
		for _, t := range slices.Concat(j.starts, tasksOfBegins(j.begins), j.describes, j.stops) {
			p.silent[t] = t != j.holder()
		}
	}
}

// noteUntimed notes the Tasks for which the time of a spec does not count: those that a spec names, or
// all, if it counts for no job.
func (p *planner) noteUntimed() {
	timed := slices.ContainsFunc(p.jobs, func(j *job) bool { return j.simulatable() && !j.isThere() })
	for _, j := range p.jobs {
		for _, t := range j.specTasks() {
			spec, _ := p.specOf(t.name())
			if j.simulatable() && j.isThere() && spec.Spread.String() != "0s" && (spec.State != "" || !timed) {
				p.plan.Untimed = append(p.plan.Untimed, t.name())
			}
		}
	}
}

// suggestFor names the jobs that can end as a spec for all of them says; empty if there
// are none.
func (p *planner) suggestFor(spec Spec) string {
	if spec.State != "" {
		return ""
	}
	var specs []string
	for _, j := range p.jobs {
		if _, err := j.endOf(spec.Ends); err == nil {
			for _, t := range j.specTasks() {
				specs = append(specs, fmt.Sprintf("%s=%s:%s", t.name(), spec.Spread.String(), spec.Ends))
			}
		}
	}
	for _, j := range p.told {
		if j.endOf(spec.Ends) != nil {
			specs = append(specs, fmt.Sprintf("%s=%s:%s", j.task.name(), spec.Spread.String(), spec.Ends))
		}
	}
	if len(specs) == 0 {
		return ""
	}
	return fmt.Sprintf(". To end other jobs so, name them beside the spec for all: %s", strings.Join(specs, ", "))
}

// bodyOf is the simulated job, as a file of mocks has it.
func (p *planner) bodyOf(j *job, specs []Spec, ends []*status) object {
	spec, end, running := specs[0], ends[0], j.behaviour.running()
	output := j.entry.Operation.Output
	runs := spec.Spread.String()
	if j.isThere() {
		runs = "0s"
	}
	body := object{{"runs", runs}}
	add := func(name string, value any) { body = append(body, namedValue{name, value}) }
	if spec.Throttle != "" && j.sync == nil {
		add("throttle", spec.Throttle)
	}
	single := j.behaviour.path != nil && j.sync == nil
	if single {
		add("status", j.behaviour.path.spell())
	}
	body = append(body, j.timesOf(output)...)
	add("running", running.name)
	add("ends", end.name)
	shown := append([]*status{running}, ends...)
	for _, b := range j.begins {
		shown = append(shown, b.running)
	}
	if j.behaviour.before != nil {
		shown = append(shown, j.behaviour.before)
	}
	if stopped := j.behaviour.stopName(); len(j.stops) > 0 && stopped != "" {
		add("stopped", stopped)
		shown = append(shown, j.behaviour.end(stopped))
	}
	if j.sync != nil || j.waits {
		body = append(body, j.endsOfTask(ends)...)
	}
	if single {
		add("answer", spellAnswer(running.answer, output))
	}
	var all, raised object
	for _, s := range shown {
		known := slices.ContainsFunc(all, func(v namedValue) bool { return v.name == s.name })
		if known || single && j.behaviour.isLike(s, running) {
			continue
		}
		if s.raises {
			failure := raise(j.describes[0].resource, j.entry.Operation, s.name)
			raised = append(raised, namedValue{s.name, object{{"error", failure.Name}, {"cause", failure.Cause}}})
			continue
		}
		answer := spellAnswer(s.answer, output)
		if j.sync != nil {
			answer = resultOf(j.sync.parsed, s.answer, output)
		}
		all = append(all, namedValue{s.name, answer})
	}
	if len(all) > 0 {
		add("answers", all)
	}
	if raised != nil {
		add("raises", raised)
	}
	if echoes := j.spellEchoes(); len(echoes) > 0 && j.sync == nil {
		add("echoes", echoes)
	}
	return append(body, p.calls(j, specs, ends)...)
}

// timesOf are the places of the times of a simulated job.
func (j *job) timesOf(output *catalog.Shape) object {
	var times object
	if at := j.behaviour.started; at != nil {
		times = append(times, namedValue{"startTime", j.resultPlace(at).spell()})
	}
	if at := j.behaviour.ended; at != nil {
		times = append(times, namedValue{"endTime", j.resultPlace(at).spell()})
		if shapeAt(output, at).Type == catalog.Long {
			times = append(times, namedValue{"epochTimes", true})
		}
	}
	return times
}

// endsOfTask are the members of a simulated job about the ".sync" Task that ends with
// it: the ends with which it fails and, beside a describe call, what it returns.
func (j *job) endsOfTask(ends []*status) object {
	var fails []any
	for _, end := range ends {
		if end.verdict == pollcore.Failure && !slices.Contains(fails, any(end.name)) {
			fails = append(fails, end.name)
		}
	}
	var members object
	switch {
	case len(fails) == 1:
		members = append(members, namedValue{"fails", fails[0]})
	case fails != nil:
		members = append(members, namedValue{"fails", fails})
	}
	if j.waits {
		if part := syncResults[j.starts[0].parsed.Service+":"+j.starts[0].parsed.Action].part; part != nil {
			members = append(members, namedValue{"part", part.spell()})
		}
	}
	return members
}

// calls are the members of a simulated job about its calls and its id.
func (p *planner) calls(j *job, specs []Spec, ends []*status) object {
	answers := p.answersOf(j.specTasks()...)
	var body object
	if j.sync == nil {
		body = j.pollMembers(answers, specs[0], ends[0])
	}
	body = append(body, p.startMembers(j, answers, specs, ends)...)
	return append(body, j.stopMembers(answers)...)
}

// unknown is a Task that has to be told what it returns, with what is drawn until then.
func (p *planner) unknown(t *task, what string) Unknown {
	u := t.untold(what)
	u.demand, u.bare, u.means = p.demands.Result(t.state), p.answersOf(t).bare, p.options.Means
	return u
}

// task plans the answer of a Task, unless a job answers it from elsewhere.
func (p *planner) task(t *task) {
	if m, ok := p.mocks[t]; ok {
		p.plan.mocks = append(p.plan.mocks, m)
		return
	}
	if p.silent[t] {
		return
	}
	if what := t.unknown(); what != "" {
		u := p.unknown(t, what)
		p.simulateTold(&u)
		p.plan.Unknown = append(p.plan.Unknown, u)
		p.plan.mocks = append(p.plan.mocks, namedMock{t.name(), object{{"return", u.Answer(0, 0)}, {"todo", what}}, true})
		return
	}
	if t.loops && t.parsed.Pattern == "" && t.operation != nil && t.operation.Reads() {
		p.plan.Alike = append(p.plan.Alike, t.name())
	}
	answer := p.answersOf(t).ofCall(t.operation, t.result())
	body := object{{"return", spellAnswer(answer, t.result())}}
	if t.operation != nil && t.parsed.Pattern == "" {
		if echoes := requestEchoes(t.operation.Input, t.result(), func(at place) bool { return at.get(answer) == nil }); len(echoes) > 0 {
			body = append(body, namedValue{"echoes", echoes})
		}
	}
	p.plan.mocks = append(p.plan.mocks, namedMock{name: t.name(), body: body})
}
