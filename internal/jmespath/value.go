package jmespath

import (
	"maps"
	"math"
	"reflect"
	"slices"
	"unsafe"
)

// value is a JMESPath value during an evaluation. Scalars are held in it;
// arrays and objects stay where they are in memory, as their plan describes.
// The zero value is null. A Go value that has no JMESPath form is of kind
// Unknown, with the reason as text.
//
// It is small because it is passed on for every element of every projection:
// strings share the fields of the other kinds.
type value struct {
	kind Kind
	bits uint64         // of a Number; 0 or 1 of a Boolean; the length of a String
	ptr  unsafe.Pointer // to the bytes of a String; to an Array or Object as its rep says
	plan *plan          // of an Array or Object
}

func number(n float64) value { return value{kind: Number, bits: math.Float64bits(n)} }

func text(s string) value {
	return value{kind: String, bits: uint64(len(s)), ptr: unsafe.Pointer(unsafe.StringData(s))}
}

// formless is a Go value that has no JMESPath form, for a reason.
func formless(reason string) value {
	v := text(reason)
	v.kind = Unknown
	return v
}

func boolean(b bool) value {
	v := value{kind: Boolean}
	if b {
		v.bits = 1
	}
	return v
}

func (v value) num() float64 { return math.Float64frombits(v.bits) }

// text is the string of a String, the reason of what has no form, else empty.
func (v value) text() string {
	if v.kind != String && v.kind != Unknown {
		return ""
	}
	return unsafe.String((*byte)(v.ptr), v.bits)
}

func (v value) isText(s string) bool { return v.kind == String && v.text() == s }

// made objects and lists are what expressions build.
var (
	valuePlan = &plan{load: func(at unsafe.Pointer) value { return *(*value)(at) }}
	listPlan  = &plan{kind: Array, rep: repSlice, inner: valuePlan, size: unsafe.Sizeof(value{})}
	madePlan  = &plan{kind: Object, rep: repMade}
	jsonList  = &plan{kind: Array, rep: repSlice, size: unsafe.Sizeof(any(nil))} // without an inner plan: see span
	jsonMap   = &plan{kind: Object, rep: repJSON}
)

func list(items []value) value {
	held := new([]value)
	*held = items
	return value{kind: Array, ptr: unsafe.Pointer(held), plan: listPlan}
}

func object(members map[string]value) value {
	return value{kind: Object, ptr: *(*unsafe.Pointer)(unsafe.Pointer(&members)), plan: madePlan}
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
	data := (*boxed)(unsafe.Pointer(&v)).data
	switch v.(type) {
	case map[string]any:
		return value{kind: Object, ptr: data, plan: jsonMap}
	case []any:
		return value{kind: Array, ptr: data, plan: jsonList}
	}
	return planOf(reflect.TypeOf(v)).box(data)
}

func loadAny(at unsafe.Pointer) value { return fromAny(*(*any)(at)) }

// span is the memory of an array's elements.
type span struct {
	data  unsafe.Pointer
	count int
	size  uintptr
	load  func(unsafe.Pointer) value
}

// sliceHeader is the memory of a slice.
type sliceHeader struct {
	data     unsafe.Pointer
	len, cap int
}

func (v value) span() span {
	s := span{data: v.ptr, count: v.plan.count, size: v.plan.size, load: loadAny}
	if v.plan.inner != nil {
		s.load = v.plan.inner.load
	}
	if v.plan.rep == repSlice {
		header := (*sliceHeader)(v.ptr)
		s.data, s.count = header.data, header.len
	}
	return s
}

func (s span) at(i int) value { return s.load(unsafe.Add(s.data, uintptr(i)*s.size)) }

// each yields the elements of an array until one is refused.
func (v value) each(yield func(value) bool) {
	s := v.span()
	for i := range s.count {
		if !yield(s.at(i)) {
			return
		}
	}
}

// items are the elements of an array.
func (v value) items() []value {
	s := v.span()
	items := make([]value, s.count)
	for i := range items {
		items[i] = s.at(i)
	}
	return items
}

// length is the number of elements of an array or members of an object.
func (v value) length() int {
	switch v.plan.rep {
	case repSlice, repArray:
		return v.span().count
	case repStruct:
		return len(v.names())
	case repJSON:
		return len(v.json())
	case repMade:
		return len(v.made())
	default:
		return v.mapping().Len()
	}
}

func (v value) json() map[string]any { return *(*map[string]any)(unsafe.Pointer(&v.ptr)) }

func (v value) made() map[string]value { return *(*map[string]value)(unsafe.Pointer(&v.ptr)) }

func (v value) mapping() reflect.Value {
	return reflect.NewAt(v.plan.typ, unsafe.Pointer(&v.ptr)).Elem()
}

// member reads a member of an object. There is none, with ok false, only in a
// struct; in other objects a missing member is null.
func (v value) member(name string) (m value, ok bool) {
	switch v.plan.rep {
	case repJSON:
		return fromAny(v.json()[name]), true
	case repMade:
		return v.made()[name], true
	case repStruct:
		found, ok := v.plan.member(name)
		if !ok {
			return value{}, v.plan.open
		}
		return found.plan.load(unsafe.Add(v.ptr, found.offset)), true
	default:
		mapping := v.mapping()
		item := mapping.MapIndex(reflect.ValueOf(name).Convert(mapping.Type().Key()))
		if !item.IsValid() {
			return value{}, true
		}
		held := reflect.New(item.Type())
		held.Elem().Set(item)
		return v.plan.inner.load(held.UnsafePointer()), true
	}
}

// names are the names of an object's members, sorted.
func (v value) names() []string {
	switch v.plan.rep {
	case repJSON:
		return slices.Sorted(maps.Keys(v.json()))
	case repMade:
		return slices.Sorted(maps.Keys(v.made()))
	case repStruct:
		return v.plan.names()
	default:
		var names []string
		for iter := v.mapping().MapRange(); iter.Next(); {
			names = append(names, iter.Key().String())
		}
		slices.Sort(names)
		return names
	}
}

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

// truthy tells what counts as true: all but null, false and what is empty.
func (v value) truthy() bool {
	switch v.kind {
	case Boolean:
		return v.bits != 0
	case String:
		return v.bits != 0
	case Array, Object:
		return v.length() > 0
	default:
		return v.kind == Number
	}
}

// maxNesting is how deep a value may nest: a Go value can contain itself.
const (
	maxNesting = 10_000
	tooDeep    = "the value nests too deep, or contains itself"
)

// equal compares two values of any kind, for the place at. That a value nests
// too deep is a failure.
func (fr *frame) equal(at int, v, w value, depth int) bool {
	if depth > maxNesting {
		fr.fail(InvalidValue, at, tooDeep)
		return false
	}
	if !fr.step(at) || v.kind != w.kind {
		return false
	}
	switch v.kind {
	case Boolean:
		return v.bits == w.bits
	case Number:
		return v.num() == w.num()
	case String:
		return v.text() == w.text()
	case Array:
		a, b := v.span(), w.span()
		if a.count != b.count {
			return false
		}
		for i := range a.count {
			if !fr.equal(at, a.at(i), b.at(i), depth+1) {
				return false
			}
		}
		return true
	case Object:
		names := v.names()
		if !slices.Equal(names, w.names()) {
			return false
		}
		for _, name := range names {
			a, _ := v.member(name)
			b, _ := w.member(name)
			if !fr.equal(at, a, b, depth+1) {
				return false
			}
		}
		return true
	default:
		return v.kind == Null
	}
}

// export gives a value the form that encoding/json gives it in an any, for the
// place at. The result shares no memory with the value. What has no such form is
// a failure.
func (fr *frame) export(at int, v value, depth int) any {
	if depth > maxNesting {
		fr.fail(InvalidValue, at, tooDeep)
	}
	if !fr.step(at) {
		return nil
	}
	switch v.kind {
	case Null:
		return nil
	case Boolean:
		return v.bits != 0
	case Number:
		return v.num()
	case String:
		fr.write(at, len(v.text()))
		return v.text()
	case Array:
		s := v.span()
		items := make([]any, s.count)
		for i := range items {
			if items[i] = fr.export(at, s.at(i), depth+1); fr.err != nil {
				return nil
			}
		}
		return items
	case Object:
		members := make(map[string]any, v.length())
		for _, name := range v.names() {
			m, _ := v.member(name)
			fr.write(at, len(name))
			if members[name] = fr.export(at, m, depth+1); fr.err != nil {
				return nil
			}
		}
		return members
	default:
		fr.fail(InvalidValue, at, "%s", v.text())
		return nil
	}
}
