package typecheck

import (
	"slices"

	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// InputAfter is the input of a Task that has had no result but one.
func (c *Checker) InputAfter(task *asl.State, result Value) Env {
	other, err := New(c.machine, Options{Models: c.models, Input: c.start, Results: map[*asl.State]Value{task: result}})
	if err != nil || !other.Input(task).IsReachable() {
		return c.Input(task)
	}
	return other.Input(task)
}

// FindAbsent returns the fields that fail once a Task with an input has a result, because they
// select what the result does not have, and that do not fail with every other result. Other
// ways to a field, such as by a Catch of the Task, do not count.
func (c *Checker) FindAbsent(task *asl.State, in Env, result Value) []Finding {
	other := newChecker(c.machine, Options{Models: c.models, Input: c.start, Results: map[*asl.State]Value{task: result}})
	other.absent, other.task, other.around = true, task, map[*asl.State]bool{}
	if err := other.load(); err != nil {
		return nil // c has loaded them
	}
	for owner := c.flows[c.states[task].flow].owner; owner != nil; owner = c.flows[c.states[owner].flow].owner {
		other.around[owner] = true
		other.states[owner].in = c.Input(owner)
	}
	other.enter(task, in)
	other.settle(false)
	for s := range c.machine.All {
		other.step(s, other.states[s].in, other.Result(s), true)
	}
	return slices.DeleteFunc(other.Findings(), func(f Finding) bool {
		return f.Rule != AbsentMember || slices.ContainsFunc(c.findings, func(known Finding) bool { return known.Pointer == f.Pointer })
	})
}

// NarrowTo is the value if the member at a path, as of Narrow, is one of the strings.
func NarrowTo(v Value, path, literals []string) Value {
	out := Nothing()
	for _, literal := range literals {
		out = join(out, Narrow(v, path, literal))
	}
	return out
}

// Without is the value without the member at a path, as of Narrow. An index in the path stands for
// each item. The members around it stay. A path that ends in an index empties the list.
func Without(v Value, path []string) Value {
	return changeMember(v, namesOf(path), func(Value) Value { return absent })
}

// Enumerate is the value where a text at a path, as of Without, is one that a shape lists, or one
// that nobody knows yet.
func Enumerate(v Value, path []string, listed *catalog.Shape) Value {
	return changeMember(v, namesOf(path), func(old Value) Value {
		if !old.may(texts) {
			return old
		}
		s := old.open()
		s.text = &words{enum: listed}
		return pack(s)
	})
}

// changeMember is the value with another member at the steps. An index among them stands for each item.
func changeMember(v Value, steps []jsonpath.Step, change func(Value) Value) Value {
	name := steps[0].Names[0]
	r, l := v.record(), v.list()
	switch {
	case len(steps) == 1 && r != nil:
		return objectOf(r.with(name, change(r.get(name))))
	case r != nil:
		return objectOf(r.with(name, changeMember(r.get(name), steps[1:], change)))
	case l != nil && len(steps) == 1:
		return arrayOf(newList(change(l.element())))
	case l != nil: // each item
		out := newList(changeMember(l.others().without(missing), steps[1:], change))
		for _, item := range l.items {
			out.items = append(out.items, changeMember(item, steps[1:], change))
		}
		return arrayOf(out.weigh())
	default:
		return v
	}
}

// lacks tells whether a model says that the object never has a member.
func (r *record) lacks(name string) bool {
	return r.isStructure() && r.spelling.member(r.shape, name) == nil
}
