package terraform

import (
	"math/big"
	"slices"
	"strconv"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
)

// stepInto is the member or the item of a value.
func stepInto(v, key *Value, source string, at Place) *Value {
	text, ok := key.text()
	name, known := text.known()
	switch {
	case v.Kind == Unknown:
		return &Value{Kind: Unknown, Hole: &Hole{Source: source, failed: v.Hole.failed}, At: at}
	case !ok || !known:
		return unknownValue(source, at)
	case v.Kind == Object:
		if inner := v.get(name); inner != nil {
			return inner
		}
		if v.open {
			return unknownValue(source, at)
		}
		for _, m := range v.Members { // a name that is unknown may be this one
			if _, ok := m.Name.Text.known(); !ok {
				return unknownValue(source, at)
			}
		}
	case v.Kind == List:
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(v.Items) {
			return v.Items[i]
		}
	}
	return failedValue(source, at)
}

// elements are the items or members that a for goes through, with their keys.
func elements(v *Value) ([]Member, bool) {
	switch v.Kind {
	case Object:
		return v.sorted()
	case List:
		out := make([]Member, len(v.Items))
		for i, item := range v.Items {
			out[i] = Member{Name: &Value{Kind: Number, Literal: strconv.Itoa(i), At: item.At}, Key: item.At, Value: item}
		}
		return out, true
	case Unknown, Null, Bool, Number, String:
	}
	return nil, false
}

// numberText is a number as Terraform writes it in a text; one with many digits is not
// written out.
func numberText(v cty.Value) string {
	f := v.AsBigFloat()
	if exponent := f.MantExp(nil); f.IsInf() || exponent > maxExponent || exponent < -maxExponent {
		return f.Text('g', 17)
	}
	if whole, accuracy := f.Int(nil); accuracy == big.Exact {
		return whole.String()
	}
	text, err := convert.Convert(v, cty.String)
	if err != nil {
		return f.Text('g', 17)
	}
	return text.AsString()
}

// maxExponent bounds the binary exponent of numbers that are written out.
const maxExponent = 2048

// callStandard calls a function with values that are known. What it refuses is unknown, and
// failed.
func callStandard(f function.Function, args []cty.Value, source string, at Place, b *budget) (out *Value) {
	if slices.ContainsFunc(args, hasHugeNumber) {
		return unknownValue(source, at)
	}
	defer func() {
		if recover() != nil { // cty panics about types that a plan would have refused
			out = failedValue(source, at)
		}
	}()
	for i, arg := range args { // as Terraform converts what it passes
		if p := parameter(f, i); p != nil && p.Type != cty.DynamicPseudoType {
			if converted, err := convert.Convert(arg, p.Type); err == nil {
				args[i] = converted
			}
		}
	}
	result, err := f.Call(args)
	if err != nil {
		return failedValue(source, at)
	}
	return fromCty(result, source, at, b)
}

// parameter is that of an argument.
func parameter(f function.Function, i int) *function.Parameter {
	if all := f.Params(); i < len(all) {
		return &all[i]
	}
	return f.VarParam()
}

// hasHugeNumber tells whether a number is of a size that takes long to write.
func hasHugeNumber(v cty.Value) bool {
	huge := false
	_ = cty.Walk(v, func(_ cty.Path, inner cty.Value) (bool, error) {
		if inner.IsKnown() && !inner.IsNull() && inner.Type() == cty.Number {
			exponent := inner.AsBigFloat().MantExp(nil)
			huge = huge || exponent > maxExponent || exponent < -maxExponent
		}
		return !huge, nil
	})
	return huge
}
