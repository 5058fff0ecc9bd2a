package jsonata

// transform applies |pattern|update, delete| to a copy of a value.
func (m *machine) transform(t *transform, v any) any {
	if v == undefined {
		return v
	}
	if kind := kindOf(v); kind != kindArray && kind != kindObject {
		m.throw(badArgument(1, "transform"))
	}
	// What the parts bind must not outlive the call: its bytes are given back.
	t = &transform{t.node, m.newFrame(t.frame)}
	copied := m.clone(v, 0)
	matches := m.eval(t.node.left, copied, t.frame)
	if matches == undefined {
		return copied
	}
	for _, match := range itemsOrOne(matches) {
		m.step(1)
		m.update(t, match)
	}
	return copied
}

// clone copies a value with all that it has.
func (m *machine) clone(v any, level int) any {
	m.nest(level)
	m.step(1)
	switch kindOf(v) {
	case kindArray:
		items, _ := itemsOf(v)
		m.hold(len(items) * slotBytes)
		out := m.newList()
		out.items = make([]any, len(items))
		for i, item := range items {
			out.items[i] = m.clone(item, level+1)
		}
		return out
	case kindObject:
		out := m.newObject()
		for _, name := range m.namesOf(v) {
			m.set(out, name, m.clone(member(v, name), level+1))
		}
		return out
	default:
		return v
	}
}

// update changes one match of the pattern.
func (m *machine) update(t *transform, match any) {
	o, ok := match.(*object)
	defer func() { m.measured = nil }() // it may be what changes
	added := m.eval(t.node.right, match, t.frame)
	if added != undefined {
		if kindOf(added) != kindObject {
			m.throw(&Error{Code: "T2011", Message: "The insert/update clause of the transform expression must evaluate to an object: " + m.excerpt(added)})
		}
		if ok {
			for _, name := range m.namesOf(added) {
				m.set(o, name, member(added, name))
			}
		}
	}
	if len(t.node.items) == 0 {
		return
	}
	gone := m.eval(t.node.items[0], match, t.frame)
	if gone == undefined {
		return
	}
	names := map[string]bool{}
	for _, name := range itemsOrOne(gone) {
		m.step(1)
		s, isText := name.(string)
		m.scan(s)
		if !isText {
			m.throw(&Error{Code: "T2012", Message: "The delete clause of the transform expression must evaluate to a string" +
				" or array of strings: " + m.excerpt(gone)})
		}
		names[s] = true
	}
	if ok {
		m.step(len(o.names))
		o.remove(names)
	}
}
