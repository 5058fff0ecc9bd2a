package typecheck

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/jobpoller/jobpoller/internal/jsonata"
)

// sortBy is what $sort makes of a list.
func (x *scene) sortBy(p *jsonata.Part, v, context Value) Value {
	var before func(a, b Value) (bool, bool)
	switch {
	case len(p.Parts) == 1:
		before = func(a, b Value) (bool, bool) { return isLess(a, b, false) }
	default:
		f := x.closureOf(&p.Parts[1], context)
		if f == nil {
			return Value{}
		}
		before = func(a, b Value) (bool, bool) { // the function tells whether the second stands first
			yes, no := truthiness(x.apply(f, b, a))
			return yes, yes != no
		}
	}
	return sorted(v, before, picksOne(p.Filters))
}

// sortByTerms is what a step makes of a list that sorts it.
func (x *scene) sortByTerms(v Value, step *jsonata.Part) Value {
	here := x.quiet()
	return sorted(v, func(a, b Value) (less, known bool) {
		for i := range step.Parts {
			term := &step.Parts[i]
			by := &term.Parts[0]
			if less, known = isLess(here.eval(by, a), here.eval(by, b), term.Text == ">"); !known || less {
				return less, known
			}
			if greater, _ := isLess(here.eval(by, b), here.eval(by, a), term.Text == ">"); greater {
				return false, true
			}
		}
		return false, true
	}, picksOne(step.Filters))
}

// picksOne tells whether the first of some filters picks an item by its place.
func picksOne(filters []jsonata.Part) bool {
	if len(filters) == 0 || filters[0].Kind != jsonata.PartLiteral {
		return false
	}
	_, isNumber := filters[0].Value.(float64)
	return isNumber
}

// isLess tells whether a constant is less than another, or greater in a descending order; not known of other values.
func isLess(a, b Value, descending bool) (less, known bool) {
	first, ok := a.Constant()
	second, alsoOK := b.Constant()
	if !ok || !alsoOK {
		return false, false
	}
	var order int
	switch first := first.(type) {
	case string:
		text, isText := second.(string)
		if !isText {
			return false, false
		}
		order = cmp.Compare(first, text)
	case json.Number:
		number, isNumber := second.(json.Number)
		n, err := first.Float64()
		if !isNumber || err != nil {
			return false, false
		}
		m, err := number.Float64()
		if err != nil {
			return false, false
		}
		order = cmp.Compare(n, m)
	default:
		return false, false
	}
	if descending {
		order = -order
	}
	return order < 0, true
}

// sorted is a list in the order of a test that tells whether one item stands before another, and whether that is known.
// If it is not, only what one item may be is known, where one is picked.
func sorted(v Value, before func(a, b Value) (less, known bool), picked bool) Value {
	items, exact := itemsOf(v)
	switch {
	case v.kinds() == missing || exact && len(items) <= 1:
		return v
	case v.IsUnknown() || v.demandOf() != nil:
		return Value{}
	}
	if exact {
		ordered := slices.Clone(items)
		sure := true
		slices.SortStableFunc(ordered, func(a, b Value) int {
			switch less, known := before(a, b); {
			case !known:
				sure = false
				return 0
			case less:
				return -1
			}
			greater, known := before(b, a)
			sure = sure && known
			if greater {
				return 1
			}
			return 0
		})
		if sure {
			return arrayOf(newTuple(ordered))
		}
	}
	if !picked {
		return Value{}
	}
	one := Nothing()
	for _, item := range items {
		one = join(one, item)
	}
	if exact {
		return arrayOf(newTuple(slices.Repeat([]Value{one}, len(items))))
	}
	return join(v.only(missing), join(arrayOf(newList(one)), one))
}
