package typecheck

import "github.com/jobpoller/jobpoller/pollcore/catalog"

// list is what is known of an array: the first elements one by one, and the
// others. An element that may be behind the end has that in its value.
type list struct {
	items []Value
	// shape is what the others are, nil if there is none.
	shape    *catalog.Shape
	spelling *spelling
	// rest is any other element, where there is no shape.
	rest   Value
	last   Value   // the last element, where it is known though the length is not; else unknown
	demand *Demand // of the others; nil for none
	weight weight
}

// newTuple is an array of exactly these elements.
func newTuple(items []Value) *list {
	if len(items) > maxItems {
		all := Nothing()
		for _, item := range items {
			all = join(all, item)
		}
		return newList(all)
	}
	return (&list{items: items, rest: absent}).weigh()
}

// newList is an array of any length, with elements that are all alike.
func newList(element Value) *list {
	return (&list{rest: join(element.without(missing), absent)}).weigh()
}

func (l *list) weigh() *list {
	for _, item := range l.items {
		l.weight.add(item)
	}
	l.weight.add(l.rest)
	l.weight.add(l.last)
	return l
}

// newEnding is an array of any length with elements that are all alike, but for the last.
func newEnding(element, last Value) *list {
	return (&list{rest: join(element.without(missing), absent), last: last}).weigh()
}

// lastItem is the last element; unknown if it is not known, or the array may be empty.
func (l *list) lastItem() Value {
	switch n := l.length(); {
	case l == nil:
		return Value{}
	case n > 0 && l.others().kinds() == missing && !l.items[n-1].may(missing):
		return l.items[n-1]
	default:
		return l.last
	}
}

// get is the element at an index.
func (l *list) get(index int) Value {
	switch {
	case l == nil:
		return Value{}
	case index < 0:
		return absent
	case index < len(l.items):
		return l.items[index]
	default:
		return l.others()
	}
}

// others is any element behind those that are known one by one.
func (l *list) others() Value {
	switch {
	case l.demand != nil:
		return l.demand.element()
	case l.shape == nil:
		return l.rest
	}
	return l.spelling.optionalValue(l.shape)
}

// element is any element of the array.
func (l *list) element() Value {
	if l == nil {
		return Value{}.without(missing)
	}
	out := l.others()
	for _, item := range l.items {
		out = join(out, item)
	}
	return out.without(missing)
}

// with is the array with another value at an index.
func (l *list) with(index int, value Value) *list {
	if index >= maxItems {
		return newList(join(l.element(), value))
	}
	out := &list{}
	if l != nil {
		out = &list{shape: l.shape, spelling: l.spelling, rest: l.rest, demand: l.demand}
	}
	for i := range max(index+1, l.length()) {
		item := l.get(i)
		if i < index {
			item = item.without(missing)
		}
		out.items = append(out.items, item)
	}
	out.items[index] = value
	return out.weigh()
}

// known are the elements that are known one by one.
func (l *list) known() []Value {
	if l == nil {
		return nil
	}
	return l.items
}

// length is how many elements are known one by one.
func (l *list) length() int {
	if l == nil {
		return 0
	}
	return len(l.items)
}

// leastLength is how many elements the array has at least.
func (l *list) leastLength() int {
	n := 0
	for n < l.length() && !l.items[n].may(missing) {
		n++
	}
	return n
}

// maxLengths is how many lengths of one array are known.
const maxLengths = 16

// lengthOf is the length of an array: that of each array that it may be, if few can be.
func lengthOf(v Value) Value {
	l := v.list()
	if v.kinds() != arrays || l == nil || l.shape != nil || l.demand != nil || l.rest.kinds() != missing || len(l.items) > maxLengths {
		return numberFrom(l.leastLength())
	}
	out := numberOf(float64(len(l.items)))
	for n, item := range l.items {
		if item.may(missing) {
			out = join(out, numberOf(float64(n)))
		}
	}
	return out
}
