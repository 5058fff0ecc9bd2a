package simulate

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// demandsOf finds what the machine reads of Tasks whose answer nobody knows; nil if there
// are none.
func demandsOf(m *asl.StateMachine, tasks []*task, models typecheck.Models) (*typecheck.Demands, error) {
	if !slices.ContainsFunc(tasks, func(t *task) bool { return t.unknown() != "" }) {
		return nil, nil //nolint:nilnil // there is nothing to find
	}
	return typecheck.FindDemands(m.State(m.StartAt), m, models)
}

// Answer draws the answer to a call of the Task, counted from 0, by a seed: the envelope
// of the call, if it has one, with what the machine reads. The calls go through the
// literals with which the machine compares a value, and then come to another.
func (u Unknown) Answer(seed uint64, call int) any {
	skeleton := u.task.skeleton()
	if !u.demand.IsRead() {
		return skeleton
	}
	drawn := typecheck.Draw(typecheck.Unknown(), u.demand, typecheck.DrawOptions{Name: u.State, Seed: seed, Absent: u.bare, Compared: call + 1})
	return u.Around(drawn)
}

// Around is what is drawn in the envelope of the call, if it has one, and with what is known of the
// answer.
func (u Unknown) Around(drawn any) any {
	envelope, _ := u.task.skeleton().(map[string]any)
	object, ok := drawn.(map[string]any)
	if !ok {
		return drawn
	}
	whole := map[string]any{}
	maps.Copy(whole, envelope)
	if u.task.runsMachine() {
		object = map[string]any{"Output": cmp.Or[any](object["Output"], envelope["Output"])}
	}
	maps.Copy(whole, object)
	return whole
}

// Skeleton is the envelope of the call, if it has one, with nothing in it.
func (u Unknown) Skeleton() any { return u.task.skeleton() }

// Apply puts the answers into the options of a run, with drawn ones of the Tasks that have
// to be told.
func (p *Plan) Apply(m *asl.StateMachine, o *sim.Options) error {
	mocks, err := p.Mocks()
	if err != nil {
		return err
	}
	if err := mocks.Apply(m, "", o); err != nil {
		return err
	}
	for _, u := range p.Unknown {
		if o.StateHandlers == nil {
			o.StateHandlers = map[string]sim.Handler{}
		}
		o.StateHandlers[u.State] = u.handler(o.Seed)
	}
	return nil
}

// handler answers the calls of one run.
func (u Unknown) handler(seed uint64) sim.Handler {
	var calls atomic.Int64
	return func(context.Context, sim.Call) (sim.Reply, error) {
		return sim.Reply{Output: u.Answer(seed, int(calls.Add(1))-1), Submitted: map[string]any{}}, nil
	}
}
