package jsonata

// sorter sorts values by a comparison that may be of the expression.
type sorter[T any] struct {
	m *machine
	// after says that the first value comes after the second.
	after func(x, y T) bool
}

// sort merges halves, so that equal values keep their order.
func (s *sorter[T]) sort(items, spare []T) {
	if len(items) < 2 {
		return
	}
	s.m.step(len(items))
	middle := len(items) / 2
	left, right := items[:middle], items[middle:]
	s.sort(left, spare[:middle])
	s.sort(right, spare[middle:])
	copy(spare, items)
	left, right = spare[:middle], spare[middle:]
	for i := range items {
		switch {
		case len(left) == 0:
			items[i], right = right[0], right[1:]
		case len(right) == 0 || !s.after(left[0], right[0]):
			items[i], left = left[0], left[1:]
		default:
			items[i], right = right[0], right[1:]
		}
	}
}

// sortItems sorts in place.
func sortItems[T any](m *machine, items []T, after func(x, y T) bool) {
	m.hold(len(items) * tupleBytes)
	s := sorter[T]{m, after}
	s.sort(items, make([]T, len(items)))
}

// ordered is an item with the values of the terms that it is sorted by, as far
// as they were needed.
type ordered struct {
	tuple
	keys []any
}

// sortBy evaluates an order-by on items.
func (m *machine) sortBy(step *node, current any, f *frame) any {
	items, ok := itemsOf(current)
	if current == undefined || !ok || len(items) < 2 {
		return current
	}
	all := make([]ordered, len(items))
	for i, item := range items {
		all[i].item = item
	}
	m.sortOrdered(step, all, func(tuple) *frame { return f })
	out := m.newList()
	for _, o := range all {
		m.push(out, o.item)
	}
	return out
}

// sortTuples evaluates an order-by on tuples, and binds their places.
func (m *machine) sortTuples(step *node, current any, bound *tuples, f *frame) *tuples {
	numbered := bound == nil && step.index != ""
	if bound == nil {
		bound = &tuples{}
		for _, item := range itemsOrOne(current) {
			m.pushTuple(bound, item, nil)
		}
	}
	all := make([]ordered, len(bound.all))
	for i, t := range bound.all {
		all[i].tuple = t
	}
	if len(all) > 1 {
		m.sortOrdered(step, all, func(t tuple) *frame { return m.frameOf(t, f) })
	}
	out := &tuples{}
	for i, o := range all {
		vars := o.vars
		if numbered {
			vars = m.with(vars, step.index, float64(i))
		}
		m.pushTuple(out, o.item, vars)
	}
	return out
}

func (m *machine) sortOrdered(step *node, all []ordered, frameOf func(tuple) *frame) {
	m.hold(len(all) * (tupleBytes + 24 + len(step.terms)*slotBytes))
	key := func(o *ordered, term int) any {
		for len(o.keys) <= term {
			o.keys = append(o.keys, m.eval(step.terms[len(o.keys)].by, o.item, frameOf(o.tuple)))
		}
		return o.keys[term]
	}
	places := make([]*ordered, len(all))
	for i := range all {
		places[i] = &all[i]
	}
	sortItems(m, places, func(x, y *ordered) bool {
		for i, t := range step.terms {
			a, b := key(x, i), key(y, i)
			// What is undefined comes last, in whatever direction.
			switch {
			case a == undefined && b == undefined:
				continue
			case a == undefined || b == undefined:
				return a == undefined
			}
			if order := m.orderBy(a, b); order != 0 {
				return order > 0 != t.descending
			}
		}
		return false
	})
	sorted := make([]ordered, len(all))
	for i, o := range places {
		sorted[i] = *o
	}
	copy(all, sorted)
}

// orderBy compares two values of a term.
func (m *machine) orderBy(x, y any) int {
	a, b := kindOf(x), kindOf(y)
	if !hasOrder(a) || !hasOrder(b) {
		m.throw(&Error{Code: "T2008", Message: "The expressions within an order-by clause must evaluate to numeric or string values"})
	}
	if a != b {
		m.throw(&Error{Code: "T2007", Message: "Type mismatch when comparing values " + m.excerpt(x) + " and " + m.excerpt(y) +
			" in order-by clause"})
	}
	order, _ := m.order(x, y)
	return order
}
