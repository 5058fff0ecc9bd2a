package jsonata

import "slices"

// path evaluates the steps of a path one after the other.
func (m *machine) path(n *node, input any, f *frame) any {
	for _, step := range n.items {
		if step.tuple {
			return m.tuplePath(n, input, f)
		}
	}
	// current is a value that is not an array, which stands for a sequence of it, or
	// an array whose items the next step goes on with.
	current := input
	if kindOf(input) == kindArray && n.items[0].kind == nodeVariable {
		current = m.newSequence(input)
	}
	last := len(n.items) - 1
	for i, step := range n.items {
		if i == 0 && step.construct {
			current = m.eval(step, current, f)
		} else {
			current = m.evalStep(step, current, f, i == last)
		}
		if isEmpty(current) {
			break
		}
	}
	if n.keepSteps {
		current = m.keepSequence(current)
	}
	if n.group != nil {
		return m.group(n.group.pairs, current, f)
	}
	return current
}

func isEmpty(v any) bool {
	items, ok := itemsOf(v)
	return v == undefined || ok && len(items) == 0
}

// keepSequence is what a path gives as a sequence that stays one.
func (m *machine) keepSequence(v any) any {
	if v == undefined {
		return v
	}
	l, ok := v.(*list)
	switch {
	case ok && l.construct && !l.sequence:
		l = m.newSequence(v)
	case ok:
	case kindOf(v) == kindArray:
		items, _ := itemsOf(v)
		l = m.newList(items...)
	default:
		l = m.newSequence(v)
	}
	l.keep = true
	return l
}

// evalStep evaluates a step on each item.
func (m *machine) evalStep(step *node, current any, f *frame, last bool) any {
	if step.kind == nodeSort {
		sorted := m.sortBy(step, current, f)
		for _, s := range step.stages {
			sorted = m.filter(s.filter, sorted, f)
		}
		return sorted
	}
	items, isArray := itemsOf(current)
	if !isArray {
		v := m.stepOn(step, current, f)
		l, ok := v.(*list)
		switch {
		case !ok:
			if inner, plain := v.([]any); plain && !last {
				return m.flat(inner)
			}
			return v
		case l.construct && !last:
			return m.newSequence(v)
		case last && !l.sequence:
			return v
		case l.construct:
			return m.newSequence(v)
		}
		return m.flat(l.items)
	}
	out := m.newSequence()
	var only any
	found := 0
	for _, item := range items {
		v := m.stepOn(step, item, f)
		if v == undefined {
			continue
		}
		if found++; found == 1 {
			only = v
		}
		if inner, ok := itemsOf(v); ok && !isConstructed(v) {
			m.pushAll(out, inner)
		} else {
			m.push(out, v)
		}
	}
	if last && found == 1 && kindOf(only) == kindArray && !isSequence(only) {
		return only
	}
	return out
}

// flat is a sequence of the items.
func (m *machine) flat(items []any) *list {
	m.hold(listBytes)
	return &list{items: slices.Clip(items), sequence: true}
}

func isSequence(v any) bool {
	l, ok := v.(*list)
	return ok && l.sequence
}

func isConstructed(v any) bool {
	l, ok := v.(*list)
	return ok && l.construct
}

// stepOn evaluates a step with its filters on one item.
func (m *machine) stepOn(step *node, item any, f *frame) any {
	began, binds := m.bytes, m.binds
	v := m.eval(step, item, f)
	if step.staged {
		for _, s := range step.stages {
			v = m.filter(s.filter, v, f)
		}
	}
	if m.binds == binds {
		m.release(began, v)
	}
	return v
}

// filter keeps the items for which a predicate is true, or those at the places
// that it gives.
func (m *machine) filter(predicate *node, v any, f *frame) any {
	if t, ok := v.(*tuples); ok {
		return m.filterTuples(predicate, t, f)
	}
	items := itemsOrOne(v)
	out := m.newSequence()
	if predicate.kind == nodeNumber {
		place, _ := predicate.value.(float64)
		i, ok := placeOf(place, len(items))
		if !ok || items[i] == undefined {
			return out
		}
		if kindOf(items[i]) == kindArray {
			return items[i]
		}
		m.push(out, items[i])
		return out
	}
	if predicate.fixed && len(items) > 0 {
		if place, ok := number(m.eval(predicate, undefined, f)); ok {
			m.finite(place)
			if i, ok := placeOf(place, len(items)); ok && items[i] != undefined {
				m.push(out, items[i])
			}
			return out
		}
	}
	for i, item := range items {
		if m.selects(predicate, item, f, i, len(items)) {
			m.push(out, item)
		}
	}
	return out
}

// selects says that a predicate selects an item at a place.
func (m *machine) selects(predicate *node, item any, f *frame, place, count int) bool {
	began, binds := m.bytes, m.binds
	v := m.eval(predicate, item, f)
	selected := false
	if n, ok := number(v); ok {
		m.finite(n)
		i, ok := placeOf(n, count)
		selected = ok && i == place
	} else if places, ok := m.places(v); ok {
		for _, p := range places {
			m.step(1)
			n, _ := number(p)
			if i, ok := placeOf(n, count); ok && i == place {
				selected = true
			}
		}
	} else {
		selected = m.truth(v)
	}
	if m.binds == binds {
		m.release(began, nil)
	}
	return selected
}

// places are the items of an array of numbers.
func (m *machine) places(v any) ([]any, bool) {
	items, ok := itemsOf(v)
	if !ok || len(items) == 0 {
		return nil, false
	}
	for _, item := range items {
		m.step(1)
		if kindOf(item) != kindNumber {
			return nil, false
		}
	}
	return items, true
}

// placeOf is the index that a number means: a negative one counts from the end.
func placeOf(f float64, count int) (int, bool) {
	i := floorInt(f)
	if i < 0 {
		i += int64(count)
	}
	return int(i), i >= 0 && i < int64(count)
}

// group makes an object: the keys group the items, and the values are made of
// all items of a key.
func (m *machine) group(pairs []pair, v any, f *frame) any {
	if t, ok := v.(*tuples); ok {
		return m.groupTuples(pairs, t, f)
	}
	items := itemsOrOne(v)
	if len(items) == 0 {
		items = []any{undefined}
	}
	g := m.newGrouping()
	for _, item := range items {
		for i, p := range pairs {
			if key, ok := m.key(p.key, item, f); ok {
				m.addTo(g, key, i, item)
			}
		}
	}
	out := m.newObject()
	for i, key := range g.keys {
		group := g.groups[i]
		if value := m.eval(pairs[group.pair].value, group.value(), f); value != undefined {
			m.set(out, key, value)
		}
	}
	return out
}

// grouping are groups of items by key.
type grouping struct {
	keys   []string
	groups []*grouped
	places map[string]int
}

type grouped struct {
	pair  int
	first any
	many  *list // once there is a second item
}

// value is the item of a group, or all of them.
func (g *grouped) value() any {
	if g.many == nil {
		return g.first
	}
	return g.many
}

func (m *machine) newGrouping() *grouping {
	return &grouping{}
}

// at is the group of a key, which it makes if there is none.
func (m *machine) at(g *grouping, key string, pair int) (group *grouped, fresh bool) {
	m.step(1 + len(key)/32)
	i, ok := g.places[key]
	if !ok && g.places == nil {
		for j, k := range g.keys {
			if k == key {
				i, ok = j, true
			}
		}
	}
	if ok {
		if g.groups[i].pair != pair {
			m.throw(&Error{Code: "D1009", Message: "Multiple key definitions evaluate to same key: " + m.excerpt(key)})
		}
		return g.groups[i], false
	}
	m.hold(2 * memberBytes)
	g.keys, g.groups = append(g.keys, key), append(g.groups, &grouped{pair: pair})
	switch {
	case g.places != nil:
		g.places[key] = len(g.keys) - 1
	case len(g.keys) > indexedMembers:
		g.places = make(map[string]int, 2*len(g.keys))
		for j, k := range g.keys {
			g.places[k] = j
		}
	}
	return g.groups[len(g.groups)-1], true
}

func (m *machine) addTo(g *grouping, key string, pair int, item any) {
	group, fresh := m.at(g, key, pair)
	switch {
	case fresh:
		group.first = item
	case item == undefined:
	case group.first == undefined:
		group.first = item
	default:
		if group.many == nil {
			group.many = m.newSequence()
			if first, ok := itemsOf(group.first); ok {
				group.many.sequence = false
				m.pushAll(group.many, first)
			} else {
				m.push(group.many, group.first)
			}
		}
		// Arrays are joined.
		group.many.sequence = false
		if inner, ok := itemsOf(item); ok {
			m.pushAll(group.many, inner)
		} else {
			m.push(group.many, item)
		}
	}
}

// key evaluates the key of a member; it has none if that is undefined.
func (m *machine) key(n *node, item any, f *frame) (string, bool) {
	v := m.eval(n, item, f)
	if v == undefined {
		return "", false
	}
	key, ok := v.(string)
	if !ok {
		m.throw(&Error{Code: "T1003", Message: "Key in object structure must evaluate to a string; got: " + m.excerpt(v)})
	}
	return key, true
}
