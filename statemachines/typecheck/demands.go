package typecheck

import (
	"maps"
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// Demands are what states read of what is not known where a state is entered.
type Demands struct {
	// Input is the demand of the state's input.
	Input *Demand
	// Execution is that of the input of the execution, by the context object. It is
	// Input where the execution starts with the state.
	Execution *Demand

	variables *Demand
	results   map[*asl.State]*Demand
}

// Variables are the names of the variables that are read and that nothing has assigned
// since, sorted.
func (d *Demands) Variables() []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(d.variables.members)) {
		if d.variables.members[name].IsRead() {
			names = append(names, name)
		}
	}
	return names
}

// Variable is the demand of a variable; nil if none is read of that name.
func (d *Demands) Variable(name string) *Demand { return d.variables.readMember(name) }

// Result is the demand of what a Task returns, or of the items that a Map reads; nil if
// no way leads to the state.
func (d *Demands) Result(s *asl.State) *Demand { return d.results[s] }

// Member is the demand of a member; nil if none is read of that name.
func (d *Demand) Member(name string) *Demand { return d.readMember(name) }

// Parsed is the demand of the value whose JSON the text is; nil if nobody reads it as JSON.
func (d *Demand) Parsed() *Demand {
	if d == nil || !d.parsed.IsRead() {
		return nil
	}
	return d.parsed
}

// IsParsed tells whether the value, or a part of it, is a text that states read as JSON.
func (d *Demand) IsParsed() bool {
	if d == nil {
		return false
	}
	if d.parsed.IsRead() || d.item.IsParsed() {
		return true
	}
	for _, m := range d.members {
		if m.IsParsed() {
			return true
		}
	}
	return false
}

// Words are the texts that states compare the value, or a part of it, with.
func (d *Demand) Words() []string {
	if d == nil {
		return nil
	}
	var all []string
	for _, leaf := range d.leaves() {
		all = unite(unite(unite(all, leaf.words), leaf.item.Words()), leaf.parsed.Words())
		for _, name := range leaf.memberNames() {
			all = unite(all, leaf.members[name].Words())
		}
	}
	return all
}

// Compares tells whether states compare the value with a text.
func (d *Demand) Compares(text string) bool { return d != nil && slices.Contains(d.words, text) }

// Numbers are those that states compare the value with.
func (d *Demand) Numbers() []float64 {
	if d == nil {
		return nil
	}
	return d.numbers
}

// FindDemands finds what is read from a state on, in its flow and in those inside, as if
// nothing were known of its input, of the variables and of what Tasks return. The error
// is that of the models, which say what arguments may be.
func FindDemands(from *asl.State, m *asl.StateMachine, models Models) (*Demands, error) {
	table := &demandTable{joined: map[string]*Demand{}}
	d := &Demands{Input: table.newDemand(0), variables: table.newDemand(0), results: map[*asl.State]*Demand{}}
	d.Execution = d.Input
	if from != m.State(m.StartAt) {
		d.Execution = table.newDemand(0)
	}
	c := newChecker(m, Options{Models: models, Input: d.Execution.made})
	c.demands = d
	if err := c.load(); err != nil {
		return nil, err
	}
	vars := objectOf(newObject(nil)) // none is assigned at the start
	if from != m.State(m.StartAt) {
		vars = objectOf(d.variables.made.record())
	}
	c.enter(from, Env{Input: d.Input.made.without(missing), vars: vars})
	c.settle(false)
	for s := range m.All {
		if in := c.states[s].in; in.IsReachable() {
			c.step(s, in, c.Result(s), true)
		}
	}
	return d, nil
}

// Demands finds what FindDemands finds from the start of the machine. It is nil where the models have an error.
func (c *Checker) Demands() *Demands {
	d, err := FindDemands(c.machine.State(c.machine.StartAt), c.machine, c.models)
	if err != nil {
		return nil
	}
	return d
}

// demandedResult is what stands for the result of a Task, or for what a Map reads.
func (d *Demands) demandedResult(s *asl.State) Value {
	if d.results[s] == nil {
		d.results[s] = d.Input.all.newDemand(0)
	}
	return d.results[s].made.without(missing)
}
