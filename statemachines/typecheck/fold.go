package typecheck

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/jobpoller/jobpoller/internal/intrinsic"
	"github.com/jobpoller/jobpoller/internal/jsonata"
	"github.com/jobpoller/jobpoller/internal/jsonpath"
)

// maxFolded is how many choices of operands are evaluated one by one.
const maxFolded = 64

// impure are the functions of JSONata whose value their arguments do not say.
var impure = map[string]bool{"random": true, "shuffle": true, "now": true, "millis": true, "uuid": true, "eval": true}

// fold evaluates an operator or a function of JSONata where its operands are known, so
// that types need not say what each function makes of them.
func fold(p *jsonata.Part, operands ...Value) (Value, bool) {
	if p.Kind == jsonata.PartCall && (impure[p.Text] || len(operands) == 0) {
		return Value{}, false
	}
	var sets [][]any
	for i, v := range operands {
		if p.Parts[i].Kind == jsonata.PartRegex {
			sets = append(sets, []any{jsonata.Undefined})
			continue
		}
		set, ok := v.constants()
		if !ok {
			return Value{}, false
		}
		sets = append(sets, set)
	}
	return evaluateAll(sets, func(values []any) (any, error) {
		out, err := p.Apply(values)
		if err == jsonata.ErrUndefined { //nolint:errorlint // as Eval documents it
			return jsonata.Undefined, nil
		}
		return out, err
	})
}

// foldIntrinsic evaluates a call of intrinsic functions where what its paths select is
// known.
func (x *scene) foldIntrinsic(call *intrinsic.Call, at string) (Value, bool) {
	if !isPure(call) {
		return Value{}, false
	}
	paths := call.Paths()
	sets := make([][]any, len(paths))
	for i, path := range paths {
		set, ok := x.quiet().read(path, at).constants()
		if !ok || slices.Contains(set, jsonata.Undefined) {
			return Value{}, false
		}
		sets[i] = set
	}
	return evaluateAll(sets, func(values []any) (any, error) {
		return call.Eval(intrinsic.Environment{Get: func(path *jsonpath.Path) (any, error) { return values[slices.Index(paths, path)], nil }})
	})
}

// isPure tells whether a call gives the same for the same arguments.
func isPure(call *intrinsic.Call) bool {
	if name := call.Function(); name == "UUID" || name == "MathRandom" {
		return false
	}
	return !slices.ContainsFunc(call.Arguments(), func(a intrinsic.Argument) bool { return a.Call != nil && !isPure(a.Call) })
}

// evaluateAll joins what each choice of values gives; not ok if one fails, or there are
// too many.
func evaluateAll(sets [][]any, evaluate func([]any) (any, error)) (Value, bool) {
	choices := 1
	for _, set := range sets {
		if choices *= len(set); choices == 0 || choices > maxFolded {
			return Value{}, false
		}
	}
	out := Nothing()
	values := make([]any, len(sets))
	for n := range choices {
		for i, set := range sets {
			values[i] = set[n%len(set)]
			n /= len(set)
		}
		switch result, err := evaluate(values); {
		case err != nil:
			return Value{}, false
		case result == jsonata.Undefined:
			out = join(out, absent)
		default:
			out = join(out, Literal(result))
		}
	}
	return out, true
}

// constants are the values that a Value may be, jsonata.Undefined where it may be
// missing; not ok if they are not known one by one.
func (v Value) constants() ([]any, bool) {
	if v.set == nil {
		return nil, false
	}
	var out []any
	s := v.set
	if s.kinds&missing != 0 {
		out = append(out, jsonata.Undefined)
	}
	if s.kinds&null != 0 {
		out = append(out, nil)
	}
	if s.kinds&booleans != 0 {
		if s.truth&isFalse != 0 {
			out = append(out, false)
		}
		if s.truth&isTrue != 0 {
			out = append(out, true)
		}
	}
	if s.kinds&numbers != 0 {
		if s.number == nil {
			return nil, false
		}
		for _, n := range s.number {
			out = append(out, json.Number(strconv.FormatFloat(n, 'f', -1, 64)))
		}
	}
	if s.kinds&texts != 0 {
		w := v.words()
		if !w.isFinite() {
			return nil, false
		}
		for _, word := range w.known {
			out = append(out, word)
		}
	}
	if s.kinds&arrays != 0 {
		all, ok := s.array.constants()
		if !ok {
			return nil, false
		}
		out = append(out, all...)
	}
	return out, s.kinds&objects == 0
}

// Constant is the one value that a Value may be, with numbers as json.Number; not ok if it may be several, or an object.
func (v Value) Constant() (any, bool) {
	all, ok := v.constants()
	if !ok || len(all) != 1 || all[0] == jsonata.Undefined {
		return nil, false
	}
	return all[0], true
}

// constants are the arrays that the list may be; not ok if they are not known one by one, or are too many.
func (l *list) constants() ([]any, bool) {
	if l == nil || l.others().kinds() != missing {
		return nil, false
	}
	all := [][]any{{}}
	for _, item := range l.items {
		set, ok := item.constants()
		if !ok || slices.Contains(set, jsonata.Undefined) || len(all)*len(set) > maxFolded {
			return nil, false
		}
		var longer [][]any
		for _, items := range all {
			for _, last := range set {
				longer = append(longer, append(slices.Clip(items), last))
			}
		}
		all = longer
	}
	out := make([]any, len(all))
	for i, items := range all {
		out[i] = items
	}
	return out, true
}
