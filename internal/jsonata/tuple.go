package jsonata

import "slices"

// tuple is an item with the variables that the steps of a path bound to it.
type tuple struct {
	item any
	vars *binding
}

// tuples are what a path with such steps goes through.
type tuples struct{ all []tuple }

const tupleBytes = 32

func (m *machine) pushTuple(t *tuples, item any, vars *binding) {
	if len(t.all) == cap(t.all) {
		m.hold(tupleBytes * max(4, cap(t.all)))
	}
	t.all = append(t.all, tuple{item, vars})
}

// with adds a variable to those of a tuple.
func (m *machine) with(vars *binding, name string, value any) *binding {
	m.hold(bindingBytes)
	return &binding{name, value, vars}
}

// frameOf is a frame with the variables of a tuple.
func (m *machine) frameOf(t tuple, outer *frame) *frame {
	m.hold(bindingBytes)
	return &frame{vars: t.vars, outer: outer}
}

// tuplePath evaluates a path with a step that binds variables to its items.
func (m *machine) tuplePath(n *node, input any, f *frame) any {
	current := input
	if kindOf(input) == kindArray && n.items[0].kind == nodeVariable {
		current = m.newSequence(input)
	}
	var bound *tuples
	last := len(n.items) - 1
	binds := false
	for i, step := range n.items {
		binds = binds || step.tuple
		switch {
		case i == 0 && step.construct:
			current = m.eval(step, current, f)
		case binds:
			bound = m.tupleStep(step, current, bound, f)
		default:
			current = m.evalStep(step, current, f, i == last)
		}
		if !binds && isEmpty(current) {
			break
		}
	}
	if bound == nil {
		if n.keepSteps {
			current = m.keepSequence(current)
		}
		if n.group != nil {
			return m.group(n.group.pairs, current, f)
		}
		return current
	}
	if n.group != nil {
		return m.groupTuples(n.group.pairs, bound, f)
	}
	if n.tuple {
		return bound
	}
	out := m.newSequence()
	for _, t := range bound.all {
		m.push(out, t.item)
	}
	out.keep = n.keepSteps
	return out
}

// tupleStep evaluates a step on each tuple.
func (m *machine) tupleStep(step *node, current any, bound *tuples, f *frame) *tuples {
	if step.kind == nodeSort {
		return m.tupleStages(step, m.sortTuples(step, current, bound, f), f)
	}
	if bound == nil {
		bound = &tuples{}
		for _, item := range itemsOrOne(current) {
			m.pushTuple(bound, item, nil)
		}
	}
	out := &tuples{}
	for _, t := range bound.all {
		v := m.eval(step, t.item, m.frameOf(t, f))
		if inner, ok := v.(*tuples); ok {
			m.joinTuples(out, t, inner)
			continue
		}
		if v == undefined {
			continue
		}
		for i, item := range itemsOrOne(v) {
			m.pushBound(out, step, t, t.vars, item, i)
		}
	}
	return m.tupleStages(step, out, f)
}

// pushBound pushes an item that a step gave, with what the step binds.
func (m *machine) pushBound(out *tuples, step *node, from tuple, vars *binding, item any, place int) {
	if step.index != "" {
		vars = m.with(vars, step.index, float64(place))
	}
	if step.ancestor != nil {
		vars = m.with(vars, step.ancestor.name, from.item)
	}
	if step.focus != "" {
		m.pushTuple(out, from.item, m.with(vars, step.focus, item))
		return
	}
	m.pushTuple(out, item, vars)
}

// joinTuples pushes the tuples that a path inside of a step gave, with the
// variables of the tuple on which it was evaluated.
func (m *machine) joinTuples(out *tuples, from tuple, inner *tuples) {
	for _, t := range inner.all {
		m.pushTuple(out, t.item, m.joinBindings(from.vars, t.vars))
	}
}

// joinBindings adds variables to others, in their order.
func (m *machine) joinBindings(to, added *binding) *binding {
	var all []*binding
	for b := added; b != nil; b = b.next {
		all = append(all, b)
	}
	for _, b := range slices.Backward(all) {
		to = m.with(to, b.name, b.value)
	}
	return to
}

// tupleStages filters tuples, and binds variables to their places.
func (m *machine) tupleStages(step *node, t *tuples, f *frame) *tuples {
	if !step.staged {
		return t
	}
	for _, s := range step.stages {
		if s.filter != nil {
			t = m.filterTuples(s.filter, t, f)
			continue
		}
		for i := range t.all {
			t.all[i].vars = m.with(t.all[i].vars, s.index, float64(i))
		}
	}
	return t
}

func (m *machine) filterTuples(predicate *node, t *tuples, f *frame) *tuples {
	out := &tuples{}
	if predicate.kind == nodeNumber {
		place, _ := predicate.value.(float64)
		if i, ok := placeOf(place, len(t.all)); ok {
			m.pushTuple(out, t.all[i].item, t.all[i].vars)
		}
		return out
	}
	for i, each := range t.all {
		if m.selects(predicate, each.item, m.frameOf(each, f), i, len(t.all)) {
			m.pushTuple(out, each.item, each.vars)
		}
	}
	return out
}

// groupTuples groups tuples as group does items. The variables of a group are
// sequences of those of its tuples.
func (m *machine) groupTuples(pairs []pair, t *tuples, f *frame) any {
	g := m.newGrouping()
	var members [][]tuple
	for _, each := range t.all {
		inner := m.frameOf(each, f)
		for i, p := range pairs {
			key, ok := m.key(p.key, each.item, inner)
			if !ok {
				continue
			}
			_, fresh := m.at(g, key, i)
			if fresh {
				members = append(members, nil)
			}
			place := len(members) - 1
			if !fresh {
				place = g.place(key)
			}
			m.hold(tupleBytes)
			members[place] = append(members[place], each)
		}
	}
	out := m.newObject()
	for i, key := range g.keys {
		item, vars := m.reduceTuples(members[i])
		value := m.eval(pairs[g.groups[i].pair].value, item, &frame{vars: vars, outer: f})
		if value != undefined {
			m.set(out, key, value)
		}
	}
	return out
}

func (g *grouping) place(key string) int {
	if g.places != nil {
		return g.places[key]
	}
	for i, k := range g.keys {
		if k == key {
			return i
		}
	}
	return -1
}

// reduceTuples makes one item and one set of variables of those of a group.
func (m *machine) reduceTuples(all []tuple) (item any, vars *binding) {
	if len(all) == 1 {
		return all[0].item, all[0].vars
	}
	values := m.newGrouping()
	for _, t := range all {
		m.addTo(values, "", 0, t.item)
		seen := map[string]bool{}
		for b := t.vars; b != nil; b = b.next {
			if !seen[b.name] {
				seen[b.name] = true
				m.addTo(values, b.name, 0, b.value)
			}
		}
	}
	for i, group := range values.groups[1:] {
		vars = m.with(vars, values.keys[i+1], group.value())
	}
	return values.groups[0].value(), vars
}
