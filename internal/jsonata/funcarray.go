package jsonata

import (
	"math"
	"reflect"
	"slices"
)

// Functions on arrays, and those that call others: https://docs.jsonata.org/array-functions

func mapFunction(m *machine, c *arguments) any {
	if c.at(0) == undefined {
		return undefined
	}
	items, _ := itemsOf(c.at(0))
	out := m.newSequence()
	for i, item := range items {
		if v := m.callWith(c.at(1), c, item, float64(i), c.at(0)); v != undefined {
			m.push(out, v)
		}
	}
	return out
}

func filterFunction(m *machine, c *arguments) any {
	if c.at(0) == undefined {
		return undefined
	}
	items, _ := itemsOf(c.at(0))
	out := m.newSequence()
	for i, item := range items {
		if m.truth(m.callWith(c.at(1), c, item, float64(i), c.at(0))) {
			m.push(out, item)
		}
	}
	return out
}

func singleFunction(m *machine, c *arguments) any {
	if c.at(0) == undefined {
		return undefined
	}
	items, _ := itemsOf(c.at(0))
	result := undefined
	for i, item := range items {
		m.step(1)
		if c.at(1) != undefined && !m.truth(m.callWith(c.at(1), c, item, float64(i), c.at(0))) {
			continue
		}
		if result != undefined {
			m.throw(&Error{Code: "D3138", Message: "The $single() function expected exactly 1 matching result.  Instead it matched more."})
		}
		result = item
	}
	if result == undefined {
		m.throw(&Error{Code: "D3139", Message: "The $single() function expected exactly 1 matching result.  Instead it matched 0."})
	}
	return result
}

func reduceFunction(m *machine, c *arguments) any {
	if c.at(0) == undefined {
		return undefined
	}
	items, _ := itemsOf(c.at(0))
	if arityOf(c.at(1)) < 2 {
		m.throw(&Error{Code: "D3050", Message: "The second argument of reduce function must be a function with at least two arguments"})
	}
	began := m.bytes
	result, first := c.at(2), 0
	if result == undefined && len(items) > 0 {
		result, first = items[0], 1
	}
	for i := first; i < len(items); i++ {
		result = m.callWith(c.at(1), c, result, items[i], float64(i), c.at(0))
		m.release(began, result)
	}
	return result
}

func zipFunction(m *machine, c *arguments) any {
	shortest := math.MaxInt
	columns := make([][]any, len(c.args))
	for i, arg := range c.args {
		columns[i], _ = itemsOf(arg)
		shortest = min(shortest, len(columns[i]))
	}
	out := m.newList()
	for i := range shortest {
		row := m.newList()
		for _, column := range columns {
			m.step(1)
			m.push(row, column[i])
		}
		m.push(out, row)
	}
	return out
}

func appendFunction(m *machine, c *arguments) any {
	first, second := c.at(0), c.at(1)
	switch {
	case first == undefined:
		return second
	case second == undefined:
		return first
	}
	return m.concatenate(itemsOrOne(first), itemsOrOne(second))
}

func reverseFunction(m *machine, c *arguments) any {
	items, _ := itemsOf(c.at(0))
	if len(items) < 2 {
		return c.at(0)
	}
	out := m.concatenate(items, nil)
	slices.Reverse(out.items)
	return out
}

func sortFunction(m *machine, c *arguments) any {
	items, _ := itemsOf(c.at(0))
	if len(items) < 2 {
		return c.at(0)
	}
	out := m.concatenate(items, nil)
	after := func(x, y any) bool { return m.truth(m.callWith(c.at(1), c, x, y)) }
	if c.at(1) == undefined {
		kind := kindOf(items[0])
		for _, item := range items {
			m.step(1)
			if kind != kindOf(item) || kind != kindString && kind != kindNumber {
				m.throw(&Error{Code: "D3070", Message: "The single argument form of the sort function can only be applied to an array of" +
					" strings or an array of numbers.  Use the second argument to specify a comparison function"})
			}
		}
		after = func(x, y any) bool { order, _ := m.order(x, y); return order > 0 }
	}
	sortItems(m, out.items, after)
	return out
}

func distinctFunction(m *machine, c *arguments) any {
	items, ok := itemsOf(c.at(0))
	if !ok || len(items) < 2 {
		return c.at(0)
	}
	out := m.newList()
	out.sequence = isSequence(c.at(0))
	seen := map[any]bool{}
	var others []any // arrays and objects
	for _, item := range items {
		m.step(1)
		if kind := kindOf(item); kind == kindArray || kind == kindObject {
			if slices.ContainsFunc(others, func(other any) bool { return m.equal(item, other, 0) }) {
				continue
			}
			others = append(others, item)
		} else {
			key := m.scalarKey(item)
			if seen[key] {
				continue
			}
			m.hold(memberBytes)
			seen[key] = true
		}
		m.push(out, item)
	}
	return out
}

// scalarKey is the same for scalars that are equal.
func (m *machine) scalarKey(v any) any {
	m.read(v)
	if f, ok := number(v); ok {
		return f
	}
	if s, ok := v.(string); ok {
		m.scan(s)
	}
	return v
}

// shuffleFunction is $shuffle(array).
func shuffleFunction(m *machine, c *arguments) any {
	m.atMost("shuffle", c, 1)
	if c.at(0) == undefined {
		return undefined
	}
	items, ok := itemsOf(c.at(0))
	if !ok {
		return m.newList(c.at(0))
	}
	out := m.concatenate(items, nil)
	m.step(len(items))
	m.env.Random.Shuffle(len(items), func(i, j int) { out.items[i], out.items[j] = out.items[j], out.items[i] })
	return out
}

// Functions on objects: https://docs.jsonata.org/object-functions

func siftFunction(m *machine, c *arguments) any {
	if c.at(0) == undefined {
		return undefined
	}
	out := m.newObject()
	for _, name := range m.namesOf(c.at(0)) {
		value := member(c.at(0), name)
		if m.truth(m.callWith(c.at(1), c, value, name, c.at(0))) {
			m.set(out, name, value)
		}
	}
	if len(out.names) == 0 {
		return undefined
	}
	return out
}

func eachFunction(m *machine, c *arguments) any {
	if c.at(0) == undefined {
		return undefined
	}
	out := m.newSequence()
	for _, name := range m.namesOf(c.at(0)) {
		if v := m.callWith(c.at(1), c, member(c.at(0), name), name, c.at(0)); v != undefined {
			m.push(out, v)
		}
	}
	return out
}

func keysFunction(m *machine, c *arguments) any {
	out := m.newSequence()
	m.keys(out, map[string]bool{}, c.at(0), 0)
	return out
}

// keys are those of an object, or of all in an array.
func (m *machine) keys(out *list, seen map[string]bool, v any, level int) {
	m.nest(level)
	items, _ := itemsOf(v)
	for _, item := range items {
		m.step(1)
		m.keys(out, seen, item, level+1)
	}
	for _, name := range m.namesOf(v) {
		m.step(1 + len(name)/32)
		if !seen[name] {
			m.hold(memberBytes)
			seen[name] = true
			m.push(out, name)
		}
	}
}

func lookupFunction(m *machine, c *arguments) any {
	name, ok := c.at(1).(string)
	if !ok {
		return undefined
	}
	return m.members(c.at(0), name, 0)
}

func spreadFunction(m *machine, c *arguments) any {
	if kind := kindOf(c.at(0)); kind != kindArray && kind != kindObject {
		return c.at(0)
	}
	out := m.newSequence()
	m.spread(out, c.at(0), 0)
	return out
}

func (m *machine) spread(out *list, v any, level int) {
	m.nest(level)
	m.step(1)
	switch kindOf(v) {
	case kindArray:
		items, _ := itemsOf(v)
		out.sequence = out.sequence && len(items) == 0
		for _, item := range items {
			m.spread(out, item, level+1)
		}
	case kindObject:
		for _, name := range m.namesOf(v) {
			o := m.newObject()
			m.set(o, name, member(v, name))
			m.push(out, o)
		}
	default:
		m.push(out, v)
	}
}

func mergeFunction(m *machine, c *arguments) any {
	if c.at(0) == undefined {
		return undefined
	}
	out := m.newObject()
	items, _ := itemsOf(c.at(0))
	for _, item := range items {
		m.step(1)
		for _, name := range m.namesOf(item) {
			m.set(out, name, member(item, name))
		}
	}
	return out
}

func cloneFunction(m *machine, c *arguments) any {
	if c.at(0) == undefined {
		return undefined
	}
	return m.clone(c.at(0), 0)
}

// same says that two values are one array or one object.
func same(x, y any) bool {
	a, b := reflect.ValueOf(x), reflect.ValueOf(y)
	if a.Type() != b.Type() {
		return false
	}
	return a.Pointer() == b.Pointer() && (a.Kind() != reflect.Slice || a.Len() == b.Len())
}
