package typecheck

import (
	"container/heap"
	"fmt"
	"slices"
	"time"

	"github.com/jobpoller/jobpoller/internal/jsonata"
	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// Options are what a check knows besides the definition.
type Options struct {
	// Models are the services that Tasks call. Without them nothing is known of
	// arguments and results.
	Models Models
	// Input is what is known of the input of the execution.
	Input Value
	// Results are those of states of which more is known than their models say.
	Results map[*asl.State]Value

	started time.Time // see StartedAt
}

// Checker is the types of a state machine. It serves one goroutine.
type Checker struct {
	machine *asl.StateMachine
	models  Models
	start   Value
	results map[*asl.State]Value
	clock   *instant // see StartedAt; nil if no time is known

	apis      map[string]*API
	spellings map[string]*spelling
	flows     map[*asl.Flow]*flowTypes
	states    map[*asl.State]*stateTypes
	queue     queue
	made      map[any]Value // see once
	parts     map[*jsonata.Expression]*expression
	implied   map[*jsonata.Part]*jsonata.Part // see withContext
	steps     map[*jsonpath.Path][]jsonpath.Step

	errorOutput Value
	assigned    map[string]bool // variables that some state assigns
	findings    []Finding
	demands     *Demands            // nil but for FindDemands
	absent      bool                // of FindAbsent: it reports what is read that is not there
	task        *asl.State          // of FindAbsent: the Task whose answer lacks the member
	around      map[*asl.State]bool // states whose flows the task is in
	told        map[[3]string]bool
}

// flowTypes is what is known of a flow.
type flowTypes struct {
	owner  *asl.State // nil: the state machine
	output Value
}

// stateTypes is what is known of a state.
type stateTypes struct {
	flow   *asl.Flow
	order  int // in which states are looked at
	in     Env
	rounds int // in which in has changed
	queued bool
	// assumed tells that nothing leads to the state, so that in is not known.
	assumed bool
}

// New finds the types of a state machine. Its error is that of the models.
func New(m *asl.StateMachine, o Options) (*Checker, error) {
	c := newChecker(m, o)
	if err := c.load(); err != nil {
		return nil, err
	}
	c.enter(m.State(m.StartAt), c.startEnv())
	for f, types := range c.flows {
		if f.Open {
			types.output = Value{}
			for _, s := range f.States {
				c.enter(s, Env{})
			}
		}
	}
	c.settle(false)
	c.assumeOthers()
	for s := range m.All {
		c.step(s, c.states[s].in, c.Result(s), true)
	}
	c.findLost()
	return c, nil
}

func newChecker(m *asl.StateMachine, o Options) *Checker {
	c := &Checker{
		machine: m, models: o.Models, start: o.Input.without(missing), results: o.Results,
		apis: map[string]*API{}, spellings: map[string]*spelling{}, flows: map[*asl.Flow]*flowTypes{}, states: map[*asl.State]*stateTypes{},
		made: map[any]Value{}, parts: map[*jsonata.Expression]*expression{}, implied: map[*jsonata.Part]*jsonata.Part{}, steps: map[*jsonpath.Path][]jsonpath.Step{},
		errorOutput: newErrorOutput(), assigned: map[string]bool{}, told: map[[3]string]bool{},
	}
	if !o.started.IsZero() {
		c.clock = &instant{start: o.started, entry: o.started, now: o.started}
	}
	c.queue.states = c.states
	c.enroll(&m.Flow, nil)
	return c
}

// Start is the environment in which a flow starts: that of the state machine, of a
// branch, or of the items of a Map.
func (c *Checker) Start(f *asl.Flow) Env { return c.Input(f.State(f.StartAt)) }

// Entry is the environment in which a flow starts, without what the flow itself may lead
// back to its first state.
func (c *Checker) Entry(f *asl.Flow) Env {
	if f == &c.machine.Flow {
		return c.startEnv()
	}
	owner := c.flows[f].owner
	starts := c.newScene(owner, c.Input(owner), false).starts()
	if i := slices.Index(owner.Flows(), f); i < len(starts) {
		return starts[i]
	}
	return Env{} // nothing leads there
}

// Input is the environment in which a state is entered, over all ways to it. If
// nothing leads to the state, its input is unknown: see IsReachable.
func (c *Checker) Input(s *asl.State) Env {
	if t := c.states[s]; t != nil {
		return t.in
	}
	return Env{}
}

// IsReachable tells whether some way leads to the state.
func (c *Checker) IsReachable(s *asl.State) bool {
	t := c.states[s]
	return t != nil && !t.assumed
}

// Result is what is known of the result of a state: of a Task by the model of its
// service, of a Parallel or Map by the outputs of the flows inside.
func (c *Checker) Result(s *asl.State) Value {
	if v, known := c.results[s]; known {
		return v
	}
	switch {
	case s.Task != nil && c.demands != nil:
		return c.demands.demandedResult(s)
	case s.Task != nil:
		if CallsHTTP(s) {
			return resultOfHTTP
		}
		if api := c.apis[s.Task.Resource]; api != nil {
			return api.withCodes(api.result(), s)
		}
	case s.Parallel != nil:
		items := make([]Value, len(s.Parallel.Branches))
		for i, branch := range s.Parallel.Branches {
			if items[i] = c.flows[branch].output; items[i].IsNothing() {
				return items[i]
			}
		}
		return arrayOf(newTuple(items))
	case s.Map != nil && s.Map.ResultWriter == nil && s.Map.Processor != nil:
		return arrayOf(newList(c.flows[s.Map.Processor].output))
	}
	return Value{}.without(missing)
}

// With finds the types of the same machine, where more is known of results.
func (c *Checker) With(results map[*asl.State]Value) (*Checker, error) {
	return New(c.machine, Options{Models: c.models, Input: c.start, Results: results})
}

// Service is the service that a Task calls; nil if it is not known.
func (c *Checker) Service(s *asl.State) *catalog.Service {
	if s.Task == nil {
		return nil
	}
	service, _, err := find(s.Task.Resource, c.models)
	if err != nil { // which New has found before
		return nil
	}
	return service
}

// Operation is the operation that a Task calls; nil if it is not known.
func (c *Checker) Operation(s *asl.State) *catalog.Operation {
	if s.Task == nil {
		return nil
	}
	operation, err := FindOperation(s.Task.Resource, c.models)
	if err != nil { // which New has found before
		return nil
	}
	return operation
}

// Arguments is what a Task is called with where it is entered, over all ways to it;
// unknown for other states.
func (c *Checker) Arguments(s *asl.State) Value {
	x := c.newScene(s, c.Input(s), false)
	if s.Task == nil || x.isDead() {
		return Value{}
	}
	doc := x.inputPath()
	name, template := x.arguments()
	return x.with(doc).templateOr(template, doc, name)
}

// NeedsArgument is NeededArgument of the call that a Task makes.
func (c *Checker) NeedsArgument(s *asl.State, path string) bool {
	if s.Task == nil || c.apis[s.Task.Resource] == nil {
		return false
	}
	return c.apis[s.Task.Resource].NeededArgument(path)
}

// startEnv is the environment in which the state machine starts.
func (c *Checker) startEnv() Env { return Env{Input: c.start, vars: objectOf(newObject(nil))} }

// load finds the variables and the APIs of all states.
func (c *Checker) load() error {
	for s := range c.machine.All {
		c.noteAssigned(s)
		if s.Task == nil {
			continue
		}
		if err := c.loadAPI(s.Task.Resource); err != nil {
			return err
		}
	}
	return nil
}

// once is the value of a part of the definition, which is made once.
func (c *Checker) once(part any, newValue func() Value) Value {
	v, known := c.made[part]
	if !known {
		v = newValue()
		c.made[part] = v
	}
	return v
}

// enroll gives the states of a flow, and of those inside, their order: each before
// those that it leads to, as far as there are no loops.
func (c *Checker) enroll(f *asl.Flow, owner *asl.State) {
	c.flows[f] = &flowTypes{owner: owner, output: Nothing()}
	for _, s := range f.States {
		c.states[s] = &stateTypes{flow: f, in: Env{Input: Nothing(), vars: Nothing()}}
	}
	var order []*asl.State
	seen := map[*asl.State]bool{}
	visit := func(from *asl.State) {
		type frame struct {
			state *asl.State
			ways  []asl.Transition
		}
		if from == nil || seen[from] {
			return
		}
		seen[from] = true
		stack := []frame{{from, from.Transitions()}}
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if len(top.ways) == 0 {
				order = append(order, top.state)
				stack = stack[:len(stack)-1]
				continue
			}
			next := f.State(top.ways[0].To)
			top.ways = top.ways[1:]
			if next != nil && !seen[next] {
				seen[next] = true
				stack = append(stack, frame{next, next.Transitions()})
			}
		}
	}
	visit(f.State(f.StartAt))
	for _, s := range f.States {
		visit(s)
	}
	for _, s := range slices.Backward(order) {
		c.states[s].order = c.queue.enrolled
		c.queue.enrolled++
		for _, inner := range s.Flows() {
			c.enroll(inner, s)
		}
	}
}

// noteAssigned keeps the names of the variables that a state assigns.
func (c *Checker) noteAssigned(s *asl.State) {
	templates := []*asl.Template{s.Assign}
	for _, catcher := range s.Catch {
		templates = append(templates, catcher.Assign)
	}
	if s.Choice != nil {
		for i := range s.Choice.Rules {
			templates = append(templates, s.Choice.Rules[i].Assign)
		}
	}
	for _, t := range templates {
		if t == nil {
			continue
		}
		for _, m := range t.Object {
			c.assigned[m.Name] = true
		}
		if object, ok := t.Literal.(map[string]any); ok {
			for name := range object {
				c.assigned[name] = true
			}
		}
	}
}

// loadAPI finds the API of a resource. Those of one service share a spelling, so
// that their types can be compared.
func (c *Checker) loadAPI(resource string) error {
	if c.apis[resource] != nil {
		return nil
	}
	api, err := FindAPI(resource, c.models)
	if err != nil {
		return err
	}
	if api.spelling != nil {
		key := fmt.Sprint(api.spelling.sdk, api.spelling.open, api.spelling.parsed)
		if c.spellings[key] == nil {
			c.spellings[key] = api.spelling
		}
		api.spelling = c.spellings[key]
	}
	c.apis[resource] = &api
	return nil
}

// enter unites what is known of a state with another way to it.
func (c *Checker) enter(s *asl.State, in Env) {
	if s == nil || !in.IsReachable() {
		return
	}
	t := c.states[s]
	if !t.in.IsReachable() {
		t.in = in
	} else {
		j := joiner{steps: maxSteps, widen: widening(t.rounds)}
		united := Env{Input: j.join(t.in.Input, in.Input), vars: j.join(t.in.vars, in.vars)}
		if j.widen > 2 {
			united = Env{}
		}
		if equal(united.Input, t.in.Input) && equal(united.vars, t.in.vars) {
			return
		}
		t.in = united
	}
	t.rounds++
	c.push(s)
}

// widening is how soon what changes becomes unknown after so many changes.
func widening(rounds int) int {
	const some, many, all = 4, 8, 16
	switch {
	case rounds < some:
		return 0
	case rounds < many:
		return 1
	case rounds < all:
		return 2
	default:
		return 3
	}
}

// push has a state looked at.
func (c *Checker) push(s *asl.State) {
	if t := c.states[s]; !t.queued {
		t.queued = true
		heap.Push(&c.queue, s)
	}
}

// settle follows the ways out of the states that have changed until nothing does.
// If others is set, it goes to those alone that nothing leads to.
func (c *Checker) settle(others bool) {
	for c.queue.Len() > 0 {
		s := heap.Pop(&c.queue).(*asl.State) //nolint:forcetypeassert // what push puts there
		t := c.states[s]
		t.queued = false
		if !c.around[s] {
			for i, in := range c.newScene(s, t.in, false).starts() {
				c.enter(s.Flows()[i].State(s.Flows()[i].StartAt), in)
			}
		}
		for _, way := range c.step(s, t.in, c.Result(s), false) {
			if !way.End {
				if next := t.flow.State(way.To); !others || next != nil && c.states[next].assumed {
					c.enter(next, way.Env)
				}
				continue
			}
			f := c.flows[t.flow]
			j := joiner{steps: maxSteps, widen: widening(t.rounds - 1)}
			if output := j.join(f.output, way.Env.Input); !equal(output, f.output) {
				f.output = output
				if f.owner != nil {
					c.push(f.owner)
				}
			}
		}
	}
}

// assumeOthers looks at the states that nothing leads to: their inputs may be any.
func (c *Checker) assumeOthers() {
	for s := range c.machine.All {
		if t := c.states[s]; !t.in.IsReachable() {
			t.assumed = true
		}
	}
	for s := range c.machine.All {
		if t := c.states[s]; t.assumed && !t.in.IsReachable() {
			t.in = Env{}
			c.push(s)
			c.settle(true)
		}
	}
}

// queue is the states to look at, the first in their order before the others.
type queue struct {
	items    []*asl.State
	states   map[*asl.State]*stateTypes
	enrolled int
}

// Len implements heap.Interface.
func (q *queue) Len() int { return len(q.items) }

// Less implements heap.Interface.
func (q *queue) Less(i, j int) bool { return q.states[q.items[i]].order < q.states[q.items[j]].order }

// Swap implements heap.Interface.
func (q *queue) Swap(i, j int) { q.items[i], q.items[j] = q.items[j], q.items[i] }

// Push implements heap.Interface.
func (q *queue) Push(s any) { q.items = append(q.items, s.(*asl.State)) } //nolint:forcetypeassert // what push gives

// Pop implements heap.Interface.
func (q *queue) Pop() any {
	last := q.items[len(q.items)-1]
	q.items = q.items[:len(q.items)-1]
	return last
}
