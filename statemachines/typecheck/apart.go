package typecheck

import "slices"

// Apart tells whether it is known that two values differ: that no value is both.
func Apart(a, b Value) bool { return apart(a, b, maxDepth) }

func apart(a, b Value, depth int) bool {
	if a.set == nil || b.set == nil || depth == 0 {
		return false
	}
	switch both := a.set.kinds & b.set.kinds; both {
	case 0:
		return !a.IsNothing() && !b.IsNothing()
	case booleans:
		return a.set.truth&b.set.truth == 0
	case numbers:
		return a.set.number != nil && b.set.number != nil &&
			!slices.ContainsFunc(a.set.number, func(n float64) bool { return slices.Contains(b.set.number, n) })
	case texts:
		x, y := a.words(), b.words()
		return x.isFinite() && !slices.ContainsFunc(x.known, y.may) || y.isFinite() && !slices.ContainsFunc(y.known, x.may)
	case arrays:
		x, y := a.list(), b.list()
		if x == nil || y == nil {
			return false
		}
		for i := range max(len(x.items), len(y.items)) {
			if apart(x.get(i), y.get(i), depth-1) {
				return true
			}
		}
		return false
	case objects:
		x, y := a.record(), b.record()
		if x == nil || y == nil {
			return false
		}
		return slices.ContainsFunc(unite(x.fieldNames(), y.fieldNames()), func(name string) bool { return apart(x.get(name), y.get(name), depth-1) })
	default:
		return false
	}
}

// same tells whether it is known that two values are equal: that each is one value, and the same.
func same(a, b Value, depth int) bool {
	if a.set == nil || b.set == nil || depth == 0 || a.set.kinds != b.set.kinds {
		return false
	}
	switch a.set.kinds {
	case missing, null:
		return true
	case arrays:
		x, y := a.list(), b.list()
		if x == nil || y == nil || x.others().kinds() != missing || y.others().kinds() != missing {
			return false
		}
		return slices.EqualFunc(x.items, y.items, func(a, b Value) bool { return same(a, b, depth-1) })
	case objects:
		x, y := a.record(), b.record()
		if !x.isClosed() || !y.isClosed() {
			return false
		}
		return !slices.ContainsFunc(unite(x.fieldNames(), y.fieldNames()), func(name string) bool { return !same(x.get(name), y.get(name), depth-1) })
	default:
		one, ok := a.Constant()
		other, known := b.Constant()
		return ok && known && one == other
	}
}

// isClosed tells whether an object has no members but its fields.
func (r *record) isClosed() bool {
	return r != nil && r.demand == nil && !r.isStructure() && r.others().kinds() == missing
}
