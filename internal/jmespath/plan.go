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
	"unsafe"
)

// plan is how values of a Go type are read from memory. It is made once for a
// type; after that only variants grows, as values of a union are met.
type plan struct {
	typ  reflect.Type
	kind Kind // of what load gives, beside null; Unknown if only known then
	rep  rep
	// load reads the value at an address, which must hold a value of typ.
	load func(unsafe.Pointer) value
	// refuse says why the type has no JMESPath form; empty if it has one.
	refuse string
	// sure reports that load never gives a value without JMESPath form.
	sure bool
	// direct reports that an interface holds a value of typ itself, not its address.
	direct bool

	inner *plan   // what a pointer points to; the elements of an array or map
	size  uintptr // of an element of an array
	count int     // of the elements, if typ is a Go array

	members []member       // of a struct, sorted by name
	index   map[string]int // of members, by name with the first letter in either case
	open    bool           // a member that is not in the index is null, not an error

	variants sync.Map // of a union: reflect.Type of the value to *plan
}

// rep is how an array or an object is held in memory.
type rep uint8

const (
	repNone   rep = iota
	repSlice      // value.ptr is the address of a slice
	repArray      // value.ptr is the address of a Go array
	repStruct     // value.ptr is the address of a struct
	repMap        // value.ptr is a map, read by reflection
	repJSON       // value.ptr is a map[string]any
	repMade       // value.ptr is a map[string]value, which an expression made
)

// member is a member of a struct.
type member struct {
	name   string
	offset uintptr
	plan   *plan
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
	p := &plan{typ: t, direct: isDirect(t), sure: true}
	b[t] = p
	b.fill(p)
	if p.refuse != "" {
		p.kind, p.sure = Unknown, false
		p.load = func(unsafe.Pointer) value { return formless(p.refuse) }
	}
	return p
}

func (b builder) fill(p *plan) {
	t := p.typ
	switch {
	case t == timeType:
		p.scalar(Number, func(at unsafe.Pointer) value { return number(epoch(*(*time.Time)(at))) })
		return
	case t == bigIntType:
		p.scalar(Number, func(at unsafe.Pointer) value {
			n, _ := new(big.Float).SetInt((*big.Int)(at)).Float64()
			return number(n)
		})
		return
	case t == bigFloatType:
		p.scalar(Number, func(at unsafe.Pointer) value {
			n, _ := (*big.Float)(at).Float64()
			return number(n)
		})
		return
	case t.Implements(documentType):
		p.kind, p.sure, p.load = Unknown, false, p.loadDocument
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
			p.scalar(String, func(at unsafe.Pointer) value { return text(base64.StdEncoding.EncodeToString(*(*[]byte)(at))) })
			return
		}
		b.sequence(p, repSlice, 0)
	case reflect.Array:
		b.sequence(p, repArray, t.Len())
	case reflect.Map:
		b.mapping(p)
	default:
		p.fillScalar()
	}
}

func (p *plan) scalar(kind Kind, load func(unsafe.Pointer) value) { p.kind, p.load = kind, load }

// loadNumber reads a number of Go as the one number type of JMESPath.
func loadNumber[N int | int8 | int16 | int32 | int64 | uint | uint8 | uint16 | uint32 | uint64 | uintptr | float32 | float64](at unsafe.Pointer) value {
	return number(float64(*(*N)(at)))
}

var numberLoads = map[reflect.Kind]func(unsafe.Pointer) value{
	reflect.Int: loadNumber[int], reflect.Int8: loadNumber[int8], reflect.Int16: loadNumber[int16],
	reflect.Int32: loadNumber[int32], reflect.Int64: loadNumber[int64],
	reflect.Uint: loadNumber[uint], reflect.Uint8: loadNumber[uint8], reflect.Uint16: loadNumber[uint16],
	reflect.Uint32: loadNumber[uint32], reflect.Uint64: loadNumber[uint64], reflect.Uintptr: loadNumber[uintptr],
	reflect.Float32: loadNumber[float32], reflect.Float64: loadNumber[float64],
}

func (p *plan) fillScalar() {
	t := p.typ
	switch {
	case t.Kind() == reflect.Bool:
		p.scalar(Boolean, func(at unsafe.Pointer) value { return boolean(*(*bool)(at)) })
	case t.Kind() == reflect.String && t.Implements(floatType): // json.Number and the SDK's document.Number
		p.sure = false
		p.scalar(Number, func(at unsafe.Pointer) value {
			n, err := reflect.NewAt(t, at).Elem().Interface().(float).Float64()
			if err != nil {
				return formless(fmt.Sprintf("number %s does not fit a double", *(*string)(at)))
			}
			return number(n)
		})
	case t.Kind() == reflect.String:
		p.scalar(String, func(at unsafe.Pointer) value { return text(*(*string)(at)) })
	case numberLoads[t.Kind()] != nil:
		p.scalar(Number, numberLoads[t.Kind()])
	default:
		p.refuse = t.String() + " has no JMESPath form"
	}
}

func (b builder) pointer(p *plan) {
	p.inner = b.plan(p.typ.Elem())
	p.kind, p.refuse, p.sure = p.inner.kind, p.inner.refuse, p.inner.sure
	p.load = func(at unsafe.Pointer) value {
		to := *(*unsafe.Pointer)(at)
		if to == nil {
			return value{}
		}
		return p.inner.load(to)
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
		p.kind, p.sure = Unknown, false
		p.load = loadAny
	case t.NumMethod() == 1 && strings.HasSuffix(t.PkgPath(), "/types"):
		// The SDK's unions, by where they are: to ask for the name of the
		// method would have the linker keep every method of every type.
		p.kind, p.open, p.load = Object, true, p.loadUnion
	default:
		p.refuse = t.String() + " has no JMESPath form"
	}
}

// loadDocument reads a document type by the method that the SDK gives it.
func (p *plan) loadDocument(at unsafe.Pointer) value {
	rv := reflect.NewAt(p.typ, at).Elem()
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
func (p *plan) loadUnion(at unsafe.Pointer) value {
	rv := reflect.NewAt(p.typ, at).Elem().Elem()
	if !rv.IsValid() || rv.Kind() == reflect.Pointer && rv.IsNil() {
		return value{}
	}
	variant, ok := p.variants.Load(rv.Type())
	if !ok {
		variant, _ = p.variants.LoadOrStore(rv.Type(), p.variant(rv.Type()))
	}
	v := value{kind: Object, plan: variant.(*plan)}
	if rv.Kind() == reflect.Pointer {
		v.ptr = rv.UnsafePointer()
	}
	return v
}

// variant is the plan of a type that can be the value of a union. A value that
// this version of the SDK does not know is an object without members.
func (p *plan) variant(t reflect.Type) *plan {
	v := &plan{typ: t, kind: Object, rep: repStruct, open: true}
	if t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
		return v
	}
	name, ok := strings.CutPrefix(t.Elem().Name(), p.typ.Name()+"Member")
	if field, has := t.Elem().FieldByName("Value"); ok && has {
		v.setMembers([]member{{name, field.Offset, planOf(field.Type)}})
	}
	return v
}

func (b builder) structure(p *plan) {
	p.kind, p.rep = Object, repStruct
	p.load = func(at unsafe.Pointer) value { return value{kind: Object, ptr: at, plan: p} }
	var members []member
	for f := range p.typ.Fields() {
		if f.IsExported() && !f.Anonymous && f.Name != "ResultMetadata" {
			members = append(members, member{f.Name, f.Offset, b.plan(f.Type)})
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

func (b builder) sequence(p *plan, held rep, count int) {
	p.kind, p.rep, p.size, p.count = Array, held, p.typ.Elem().Size(), count
	p.load = func(at unsafe.Pointer) value { return value{kind: Array, ptr: at, plan: p} }
	p.inner = b.plan(p.typ.Elem())
}

func (b builder) mapping(p *plan) {
	t := p.typ
	if t.Key().Kind() != reflect.String {
		p.refuse = t.String() + " has no JMESPath form: its keys are no strings"
		return
	}
	p.kind, p.rep = Object, repMap
	if t.Key() == reflect.TypeFor[string]() && t.Elem() == reflect.TypeFor[any]() {
		p.rep = repJSON
	}
	p.load = func(at unsafe.Pointer) value { return value{kind: Object, ptr: *(*unsafe.Pointer)(at), plan: p} }
	p.inner = b.plan(t.Elem())
}

// target follows pointers to the plan of what values are read as.
func (p *plan) target() *plan {
	for p.typ.Kind() == reflect.Pointer && p.inner != nil && p.refuse == "" {
		p = p.inner
	}
	return p
}

// shape is what is known of a value that the plan reads.
func (p *plan) shape() *Shape { return shapeOf(p.target()) }

// The methods of described.

func (p *plan) jmesKind() Kind { return p.kind }

func (p *plan) label() string { return p.typ.String() }

func (p *plan) form() form {
	switch {
	case p.open || p.kind != Object:
		return formOpen
	case p.rep == repStruct:
		return formStruct
	default:
		return formMap
	}
}

func (p *plan) item() *Shape { return p.inner.shape() }

func (p *plan) field(name string) (s *Shape, why string, ok bool) {
	m, ok := p.member(name)
	if !ok {
		return nil, "", false
	}
	return m.plan.shape(), m.plan.refuse, true
}

func (p *plan) fields() []string { return p.names() }

func (p *plan) equals(other described) bool { return described(p) == other } // a type has one plan

// epoch gives a timestamp its form in the Smithy data model: epoch seconds.
func epoch(t time.Time) float64 {
	return float64(t.Unix()) + float64(t.Nanosecond())/float64(time.Second)
}

// boxed is the memory of an interface value without methods.
type boxed struct{ typ, data unsafe.Pointer }

// isDirect finds out how an interface holds values of a type: the zero value
// of a type that it holds directly is a nil data word.
func isDirect(t reflect.Type) bool {
	if t.Kind() == reflect.Interface {
		return false
	}
	zero := reflect.Zero(t).Interface()
	return (*boxed)(unsafe.Pointer(&zero)).data == nil
}

// box reads a value of the plan's type that an interface holds.
func (p *plan) box(data unsafe.Pointer) value {
	switch {
	case !p.direct:
		return p.load(data)
	case p.typ.Kind() == reflect.Pointer && p.inner != nil && p.refuse == "" && !p.typ.Implements(documentType):
		if data == nil {
			return value{}
		}
		return p.inner.load(data)
	default:
		held := new(unsafe.Pointer)
		*held = data
		return p.load(unsafe.Pointer(held))
	}
}
