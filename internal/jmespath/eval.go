package jmespath

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/jobpoller/jobpoller/internal/diag"
)

// Program is an expression resolved against a Go type. It is safe for use by
// many goroutines.
type Program struct {
	expr   *Expr
	static []int        // field index of each step while the type is a known struct
	result reflect.Type // static type of the result, nil if only known at run time
}

var (
	timeType   = reflect.TypeFor[time.Time]()
	bytesType  = reflect.TypeFor[[]byte]()
	numberType = reflect.TypeFor[json.Number]()
)

// Compile resolves the expression against t: an SDK output type or pointer to
// it, or an interface or map type, whose members are looked up at run time. A
// member that the type does not have is a diag.Problems with a suggestion.
func (e *Expr) Compile(t reflect.Type) (*Program, error) {
	p := &Program{expr: e}
	t = deref(t)
	for i, f := range e.fields {
		if t == nil || t.Kind() == reflect.Interface || t.Kind() == reflect.Map {
			return p, nil
		}
		if t.Kind() != reflect.Struct || t == timeType {
			return nil, diag.Problems{e.problem(i, "%s has no members, so %q cannot be read from it", typeName(t), f.name)}
		}
		member, ok := findMember(t, f.name)
		if !ok {
			return nil, diag.Problems{e.problem(i, "%s has no member %q", typeName(t), f.name).Suggest(f.name, memberNames(t)...)}
		}
		p.static = append(p.static, member.Index[0])
		t = deref(member.Type)
	}
	if t.Kind() != reflect.Interface {
		p.result = t
	}
	return p, nil
}

// Result is the static Go type of the result with pointers removed, or nil if
// it is known only at run time.
func (p *Program) Result() reflect.Type { return p.result }

// Eval evaluates the expression. The result is one of JMESPath's types: nil,
// bool, float64, string, []any or map[string]any; a missing member is nil. A
// value that has no JMESPath form is an error.
func (p *Program) Eval(v any) (any, error) {
	rest := p.expr.fields
	if len(p.static) > 0 {
		rv := unwrap(reflect.ValueOf(v))
		for _, index := range p.static {
			if !rv.IsValid() {
				return nil, nil
			}
			rv = unwrap(rv.Field(index))
		}
		if rest = rest[len(p.static):]; len(rest) == 0 {
			return toJSON(rv)
		}
		if !rv.IsValid() {
			return nil, nil
		}
		v = rv.Interface()
	}
	for i, f := range rest {
		var err error
		if v, err = child(v, f.name); err != nil {
			return nil, diag.Problems{p.expr.problem(len(p.expr.fields)-len(rest)+i, "%s", err)}
		}
	}
	if direct(v) {
		return v, nil
	}
	return toJSON(unwrap(reflect.ValueOf(v)))
}

// child reads a member of a value whose type is known only at run time.
func child(v any, name string) (any, error) {
	if m, ok := v.(map[string]any); ok {
		return m[name], nil
	}
	rv := unwrap(reflect.ValueOf(v))
	switch {
	case !rv.IsValid():
		return nil, nil
	case rv.Kind() == reflect.Map && rv.Type().Key().Kind() == reflect.String:
		m := rv.MapIndex(reflect.ValueOf(name).Convert(rv.Type().Key()))
		if !m.IsValid() {
			return nil, nil
		}
		return m.Interface(), nil
	case rv.Kind() == reflect.Struct && rv.Type() != timeType:
		member, ok := findMember(rv.Type(), name)
		if !ok {
			return nil, fmt.Errorf("%s has no member %q", typeName(rv.Type()), name)
		}
		return rv.FieldByIndex(member.Index).Interface(), nil
	default:
		return nil, nil // JMESPath: a field of a value that is no object is null
	}
}

// direct reports whether v already has its JMESPath form.
func direct(v any) bool {
	switch v.(type) {
	case nil, bool, float64, string, []any, map[string]any:
		return true
	default:
		return false
	}
}

// toJSON gives a Go value its JMESPath form by the table of the Smithy waiters
// specification ("JMESPath data model"): named strings are strings, timestamps
// epoch seconds, blobs base64. A nil list or map is empty, as in the SDK.
func toJSON(rv reflect.Value) (any, error) {
	if !rv.IsValid() {
		return nil, nil
	}
	switch rv.Type() {
	case timeType:
		t, _ := reflect.TypeAssert[time.Time](rv)
		return float64(t.UnixNano()) / float64(time.Second), nil
	case bytesType:
		return base64.StdEncoding.EncodeToString(rv.Bytes()), nil
	case numberType:
		n, err := json.Number(rv.String()).Float64()
		if err != nil {
			return nil, fmt.Errorf("number %s does not fit a double", rv)
		}
		return n, nil
	}
	switch {
	case rv.Kind() == reflect.String:
		return rv.String(), nil
	case rv.Kind() == reflect.Bool:
		return rv.Bool(), nil
	case rv.CanInt():
		return float64(rv.Int()), nil
	case rv.CanUint():
		return float64(rv.Uint()), nil
	case rv.CanFloat():
		return rv.Float(), nil
	case rv.Kind() == reflect.Slice || rv.Kind() == reflect.Array:
		out := make([]any, rv.Len())
		for i := range out {
			item, err := toJSON(unwrap(rv.Index(i)))
			if err != nil {
				return nil, err
			}
			out[i] = item
		}
		return out, nil
	case rv.Kind() == reflect.Map && rv.Type().Key().Kind() == reflect.String:
		out := make(map[string]any, rv.Len())
		for iter := rv.MapRange(); iter.Next(); {
			item, err := toJSON(unwrap(iter.Value()))
			if err != nil {
				return nil, err
			}
			out[iter.Key().String()] = item
		}
		return out, nil
	case rv.Kind() == reflect.Struct:
		out := map[string]any{}
		for _, name := range memberNames(rv.Type()) {
			item, err := toJSON(unwrap(rv.FieldByName(name)))
			if err != nil {
				return nil, err
			}
			out[name] = item
		}
		return out, nil
	default:
		return nil, fmt.Errorf("%s has no JMESPath form", rv.Type())
	}
}

// unwrap follows pointers and interfaces; a nil one gives the zero Value.
func unwrap(rv reflect.Value) reflect.Value {
	for rv.Kind() == reflect.Pointer || rv.Kind() == reflect.Interface {
		rv = rv.Elem()
	}
	return rv
}

func deref(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}
