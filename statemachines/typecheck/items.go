package typecheck

import (
	"slices"

	"github.com/jobpoller/jobpoller/internal/jsonata"
)

// array is an array constructor. The items are known one by one up to the first that may be none, or several.
func (x *scene) array(p *jsonata.Part, context Value) Value {
	items := make([]Value, 0, len(p.Parts))
	exact, open := true, -1 // open is the index of the first item that is not known
	all, last := Nothing(), Value{}
	for i := range p.Parts {
		part := &p.Parts[i]
		v := x.eval(part, context)
		if v.IsNothing() {
			return v
		}
		if v.kinds() == missing { // nothing is no item
			continue
		}
		items, last = append(items, v), v
		if part.Kind != jsonata.PartArray {
			if known, ok := listed(v); ok { // the items of an array are items here
				items = append(items[:len(items)-1], known...)
			} else if exact {
				exact, open = false, len(items)-1
			}
			switch {
			case v.kinds() == arrays:
				last = v.list().lastItem()
			case v.may(arrays):
				last = Value{}
			}
			v = anyItem(v)
		}
		all = join(all, v.without(missing))
	}
	if exact {
		return arrayOf(newTuple(items))
	}
	if last.may(missing) {
		last = Value{}
	}
	if open > maxItems {
		open = 0
	}
	return arrayOf((&list{items: items[:open:open], rest: join(all.without(missing), absent), last: last}).weigh())
}

// listed are the items that a value adds to an array: those of an array of a known length, or itself.
func listed(v Value) (items []Value, ok bool) {
	switch n, known := countItems([]Value{v}); {
	case !known:
		return nil, false
	case v.kinds() == arrays:
		return v.list().items, n == len(v.list().items)
	default:
		return []Value{v}, true
	}
}

// wholeNumbers are the numbers from one to another, as a range in an array gives them.
func wholeNumbers(first, last Value) Value {
	low, lowKnown := oneNumber(first)
	high, highKnown := oneNumber(last)
	switch n := high - low + 1; {
	case first.kinds() == missing || last.kinds() == missing || lowKnown && highKnown && n <= 0:
		return absent
	case !lowKnown || !highKnown:
		return join(arrayOf(newList(anyNumber)), absent)
	case n > maxItems:
		return arrayOf(newEnding(anyNumber, last))
	}
	var items []Value
	for n := low; n <= high; n++ {
		items = append(items, numberOf(n))
	}
	return arrayOf(newTuple(items))
}

// appendItems is the array that $append makes of two values, where it is known how many items
// each has: one that is no array is one item.
func appendItems(values []Value) Value {
	if len(values) != 2 { //nolint:mnd // the array and what comes behind it
		return Value{}
	}
	if values[0].kinds() == missing || values[1].kinds() == missing {
		return Value{}
	}
	first, knownFirst := listed(values[0])
	added, knownAdded := listed(values[1])
	var out Value
	switch {
	case knownFirst && knownAdded:
		return arrayOf(newTuple(slices.Concat(first, added)))
	case knownAdded && len(added) > 0:
		out = arrayOf(newEnding(join(anyItem(values[0]), anyItem(values[1])), added[len(added)-1]))
	case knownFirst && len(first) > 0 && len(first) <= maxApplied:
		out = arrayOf((&list{items: first, rest: join(anyItem(values[1]), absent)}).weigh())
	default:
		return Value{}
	}
	for i, v := range values {
		if v.may(missing) {
			out = join(out, values[1-i])
		}
	}
	return out
}

// distinctItems are the items of a list without those that stand there twice; not known of several that are known one by
// one, as fold compares those that it can.
func distinctItems(v Value) Value {
	items, exact := itemsOf(v)
	switch {
	case v.kinds() == missing || !v.may(arrays) || exact && len(items) <= 1:
		return v
	case exact || v.IsUnknown() || v.demandOf() != nil:
		return Value{}
	default:
		return join(v.without(arrays), join(arrayOf(newList(items[0])), items[0])) // one item may stand for itself
	}
}

// reversed is a list with its items in the opposite order.
func reversed(v Value) Value {
	items, exact := itemsOf(v)
	switch {
	case v.kinds() == missing:
		return v
	case !exact:
		return Value{}
	}
	items = slices.Clone(items)
	slices.Reverse(items)
	return arrayOf(newTuple(items))
}

// anyItem is any item of a value as a list: one that is no array is its own item.
func anyItem(v Value) Value {
	item := v.without(arrays | missing)
	if v.may(arrays) {
		item = join(item, v.list().element())
	}
	return item
}

// countItems is how many items $count finds, if that is known.
func countItems(values []Value) (int, bool) {
	if len(values) != 1 {
		return 0, false
	}
	v := values[0]
	switch l := v.list(); {
	case v.IsUnknown() || v.may(arrays|missing) && v.kinds()&^arrays != 0:
		return 0, false
	case v.kinds() != arrays:
		return 1, true
	case l == nil || l.shape != nil || l.demand != nil || l.rest.kinds() != missing:
		return 0, false
	default:
		for _, item := range l.items {
			if item.may(missing) {
				return 0, false
			}
		}
		return len(l.items), true
	}
}
