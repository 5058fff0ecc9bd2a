package jmespath

import (
	"encoding/base64"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

// plan is how values of a Go type are read. It is made once for a type; after
// that only variants grows, as values of a union are met.
type plan struct {
	typ  reflect.Type
	kind jsontype.Kind // of what load gives, beside null; Unknown if only known then
	rep  rep
	// load reads a value of typ.
	load func(reflect.Value) value
	// refuse says why the type has no JMESPath form; empty if it has one.
	refuse string
	// sure reports that load never gives a value without JMESPath form.
	sure bool

	inner *plan // what a pointer points to; the elements of an array or map

	members []member       // of a struct, sorted by name
	index   map[string]int // of members, by name with the first letter in either case
	open    bool           // a member that is not in the index is null, not an error

	variants sync.Map // of a union: reflect.Type of the value to *plan
}

// rep is what holds an array or an object.
type rep uint8

const (
	repNone     rep = iota
	repGoList       // a slice or an array of Go
	repStruct       // a struct
	repMap          // a map of Go
	repList         // []any, as JSON is decoded
	repObject       // map[string]any, as JSON is decoded
	repMadeList     // *[]value, which an expression made
	repMade         // map[string]value, which an expression made
)

// member is a member of a struct.
type member struct {
	name  string
	field int // index of the struct's field
	plan  *plan
}

type (
	document interface{ UnmarshalSmithyDocument(v any) error }
	float    interface{ Float64() (float64, error) }
)

var (
	timeType     = reflect.TypeFor[time.Time]()
	bigIntType   = reflect.TypeFor[big.Int]()
	bigFloatType = reflect.TypeFor[big.Float]()
	documentType = reflect.TypeFor[document]()
	floatType    = reflect.TypeFor[float]()
)

// plans holds a *plan for each reflect.Type met. Building is serialised, and
// a plan becomes visible when all that it refers to is complete.
var (
	plans    sync.Map
	building sync.Mutex
)

func planOf(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	building.Lock()
	defer building.Unlock()
	b := builder{}
	p := b.plan(t)
	for t, made := range b {
		plans.Store(t, made)
	}
	return p
}

// builder holds the plans being built, for types that contain themselves.
type builder map[reflect.Type]*plan

func (b builder) plan(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	if p, ok := b[t]; ok {
		return p
	}
	p := &plan{typ: t, sure: true}
	b[t] = p
	b.fill(p)
	if p.refuse != "" {
		p.kind, p.sure = jsontype.Unknown, false
		p.load = func(reflect.Value) value { return formless(p.refuse) }
	}
	return p
}

func (b builder) fill(p *plan) {
	t := p.typ
	switch {
	case t == timeType:
		p.scalar(jsontype.Number, func(v reflect.Value) value { return number(epoch(*pointerTo[time.Time](v))) })
		return
	case t == bigIntType:
		p.scalar(jsontype.Number, func(v reflect.Value) value {
			n, _ := new(big.Float).SetInt(pointerTo[big.Int](v)).Float64()
			return number(n)
		})
		return
	case t == bigFloatType:
		p.scalar(jsontype.Number, func(v reflect.Value) value {
			n, _ := pointerTo[big.Float](v).Float64()
			return number(n)
		})
		return
	case t.Implements(documentType):
		p.kind, p.sure, p.load = jsontype.Unknown, false, p.loadDocument
		return
	}
	switch t.Kind() {
	case reflect.Pointer:
		b.pointer(p)
	case reflect.Interface:
		p.fillInterface()
	case reflect.Struct:
		b.structure(p)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			p.scalar(jsontype.String, func(v reflect.Value) value { return text(base64.StdEncoding.EncodeToString(v.Bytes())) })
			return
		}
		b.sequence(p)
	case reflect.Array:
		b.sequence(p)
	case reflect.Map:
		b.mapping(p)
	default:
		p.fillScalar()
	}
}

func (p *plan) scalar(kind jsontype.Kind, load func(reflect.Value) value) {
	p.kind, p.load = kind, load
}

func (p *plan) fillScalar() {
	t := p.typ
	switch {
	case t.Kind() == reflect.Bool:
		p.scalar(jsontype.Boolean, func(v reflect.Value) value { return boolean(v.Bool()) })
	case t.Kind() == reflect.String && t.Implements(floatType): // json.Number and the SDK's document.Number
		p.sure = false
		p.scalar(jsontype.Number, func(v reflect.Value) value {
			n, err := v.Interface().(float).Float64()
			if err != nil {
				return formless(fmt.Sprintf("number %s does not fit a double", v))
			}
			return number(n)
		})
	case t.Kind() == reflect.String:
		p.scalar(jsontype.String, func(v reflect.Value) value { return text(v.String()) })
	case t.Kind() != reflect.Uintptr && reflect.Zero(t).CanInt():
		p.scalar(jsontype.Number, func(v reflect.Value) value { return number(float64(v.Int())) })
	case reflect.Zero(t).CanUint():
		p.scalar(jsontype.Number, func(v reflect.Value) value { return number(float64(v.Uint())) })
	case reflect.Zero(t).CanFloat():
		p.scalar(jsontype.Number, func(v reflect.Value) value { return number(v.Float()) })
	default:
		p.refuse = t.String() + " has no JMESPath form"
	}
}

func (b builder) pointer(p *plan) {
	p.inner = b.plan(p.typ.Elem())
	p.kind, p.refuse, p.sure = p.inner.kind, p.inner.refuse, p.inner.sure
	p.load = func(v reflect.Value) value {
		if v.IsNil() {
			return value{}
		}
		return p.inner.load(v.Elem())
	}
	for t, steps := p.typ, 0; t.Kind() == reflect.Pointer; t = t.Elem() {
		if steps++; steps > maxDepth {
			p.refuse = p.typ.String() + " points to itself and has no JMESPath form"
			return
		}
	}
}

func (p *plan) fillInterface() {
	t := p.typ
	switch {
	case t.NumMethod() == 0:
		p.kind, p.sure = jsontype.Unknown, false
		p.load = loadAny
	case t.NumMethod() == 1 && strings.HasSuffix(t.PkgPath(), "/types"):
		// The SDK's unions, by where they are: to ask for the name of the
		// method would have the linker keep every method of every type.
		p.kind, p.open, p.load = jsontype.Object, true, p.loadUnion
	default:
		p.refuse = t.String() + " has no JMESPath form"
	}
}

// loadDocument reads a document type by the method that the SDK gives it.
func (p *plan) loadDocument(rv reflect.Value) value {
	if k := rv.Kind(); (k == reflect.Interface || k == reflect.Pointer) && rv.IsNil() {
		return value{}
	}
	var v any
	if err := rv.Interface().(document).UnmarshalSmithyDocument(&v); err != nil {
		return formless("the document cannot be read: " + err.Error())
	}
	return fromAny(v)
}

// loadUnion reads a union: the SDK holds its one member as a pointer to a
// struct with the field Value, named after the union and the member.
func (p *plan) loadUnion(union reflect.Value) value {
	rv := union.Elem()
	if !rv.IsValid() || rv.Kind() == reflect.Pointer && rv.IsNil() {
		return value{}
	}
	variant, ok := p.variants.Load(rv.Type())
	if !ok {
		variant, _ = p.variants.LoadOrStore(rv.Type(), p.variant(rv.Type()))
	}
	return value{kind: jsontype.Object, plan: variant.(*plan), held: reflect.Indirect(rv)}
}

// variant is the plan of a type that can be the value of a union. A value that
// this version of the SDK does not know is an object without members.
func (p *plan) variant(t reflect.Type) *plan {
	v := &plan{typ: t, kind: jsontype.Object, rep: repStruct, open: true}
	if t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
		return v
	}
	name, ok := strings.CutPrefix(t.Elem().Name(), p.typ.Name()+"Member")
	if field, has := t.Elem().FieldByName("Value"); ok && has {
		v.setMembers([]member{{name, field.Index[0], planOf(field.Type)}})
	}
	return v
}

func (b builder) structure(p *plan) {
	p.kind, p.rep = jsontype.Object, repStruct
	p.load = func(v reflect.Value) value { return value{kind: jsontype.Object, held: v, plan: p} }
	var members []member
	for f := range p.typ.Fields() {
		if f.IsExported() && !f.Anonymous && f.Name != "ResultMetadata" {
			members = append(members, member{f.Name, f.Index[0], b.plan(f.Type)})
		}
	}
	p.setMembers(members)
}

func (p *plan) setMembers(members []member) {
	slices.SortFunc(members, func(a, b member) int { return strings.Compare(a.name, b.name) })
	p.members = members
	p.index = make(map[string]int, 2*len(members))
	for i, m := range members {
		p.index[m.name] = i
		first, size := utf8.DecodeRuneInString(m.name)
		p.index[string(unicode.ToLower(first))+m.name[size:]] = i
	}
}

// member finds a member of a struct by its Smithy name.
func (p *plan) member(name string) (member, bool) {
	i, ok := p.index[name]
	if !ok {
		return member{}, false
	}
	return p.members[i], true
}

func (b builder) sequence(p *plan) {
	p.kind, p.rep = jsontype.Array, repGoList
	p.load = func(v reflect.Value) value { return value{kind: jsontype.Array, held: v, plan: p} }
	p.inner = b.plan(p.typ.Elem())
}

func (b builder) mapping(p *plan) {
	t := p.typ
	if t.Key().Kind() != reflect.String {
		p.refuse = t.String() + " has no JMESPath form: its keys are no strings"
		return
	}
	p.kind, p.rep = jsontype.Object, repMap
	p.load = func(v reflect.Value) value { return value{kind: jsontype.Object, held: v, plan: p} }
	p.inner = b.plan(t.Elem())
}

// target follows pointers to the plan of what values are read as.
func (p *plan) target() *plan {
	for p.typ.Kind() == reflect.Pointer && p.inner != nil && p.refuse == "" {
		p = p.inner
	}
	return p
}

// GoValues lists the values of an enum of Go, sorted: of a named string with a
// method Values, as those of the SDK are. Of any other type it is nil.
func GoValues(typ reflect.Type) []string {
	if typ == nil || typ.Kind() != reflect.String {
		return nil
	}
	method, ok := typ.MethodByName("Values")
	if !ok || method.Type.NumIn() != 1 || method.Type.NumOut() != 1 || method.Type.Out(0) != reflect.SliceOf(typ) {
		return nil
	}
	list := method.Func.Call([]reflect.Value{reflect.Zero(typ)})[0]
	values := make([]string, list.Len())
	for i := range values {
		values[i] = list.Index(i).String()
	}
	slices.Sort(values)
	return values
}

// epoch gives a timestamp its form in the Smithy data model: epoch seconds.
func epoch(t time.Time) float64 {
	return float64(t.Unix()) + float64(t.Nanosecond())/float64(time.Second)
}

// pointerTo is what a value of the type T holds.
func pointerTo[T any](v reflect.Value) *T {
	if v.CanAddr() {
		return v.Addr().Interface().(*T)
	}
	copied := v.Interface().(T)
	return &copied
}

// fromAny reads a value of which the type is known only now.
func fromAny(v any) value {
	switch v := v.(type) {
	case nil:
		return value{}
	case bool:
		return boolean(v)
	case string:
		return text(v)
	case float64:
		return number(v)
	case int:
		return number(float64(v))
	}
	held := reflect.ValueOf(v)
	switch v.(type) {
	case map[string]any:
		return value{kind: jsontype.Object, held: held, plan: jsonObject}
	case []any:
		return value{kind: jsontype.Array, held: held, plan: jsonList}
	}
	return planOf(held.Type()).load(held)
}

func loadAny(v reflect.Value) value { return fromAny(v.Interface()) }

// names are the names of the members of a struct that have a JMESPath form.
func (p *plan) names() []string {
	names := make([]string, 0, len(p.members))
	for _, m := range p.members {
		if m.plan.refuse == "" {
			names = append(names, m.name)
		}
	}
	return names
}
