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
