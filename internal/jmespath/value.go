package jmespath

import (
	"maps"
	"reflect"
	"slices"
)

// value is a JMESPath value during an evaluation. Scalars are in it; arrays and
// objects stay what they are in Go, and their plan says how to read them. The
// zero value is null. A Go value that has no JMESPath form is of kind Unknown,
// with the reason as text.
type value struct {
	kind Kind
	num  float64       // of a Number; 1 of the Boolean true
	text string        // of a String
	held reflect.Value // an Array or an Object
	plan *plan         // of an Array or an Object
}

func number(n float64) value { return value{kind: Number, num: n} }

func text(s string) value { return value{kind: String, text: s} }

// formless is a Go value that has no JMESPath form, for a reason.
func formless(reason string) value { return value{kind: Unknown, text: reason} }

func boolean(b bool) value {
	v := value{kind: Boolean}
	if b {
		v.num = 1
	}
	return v
}

func (v value) isTrue() bool { return v.num != 0 }

func (v value) isText(s string) bool { return v.kind == String && v.text == s }

// The plans of what JSON is decoded to, and of what expressions build.
var (
	madeList   = &plan{kind: Array, rep: repMadeList}
	madeObject = &plan{kind: Object, rep: repMade}
	jsonList   = &plan{kind: Array, rep: repList}
	jsonObject = &plan{kind: Object, rep: repObject}
)

func list(items []value) value {
	return value{kind: Array, held: reflect.ValueOf(&items), plan: madeList}
}

func object(members map[string]value) value {
	return value{kind: Object, held: reflect.ValueOf(members), plan: madeObject}
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
		return value{kind: Object, held: held, plan: jsonObject}
	case []any:
		return value{kind: Array, held: held, plan: jsonList}
	}
	return planOf(held.Type()).load(held)
}

func loadAny(v reflect.Value) value { return fromAny(v.Interface()) }

// span are the elements of an array, in one of three forms.
type span struct {
	count int
	made  []value
	json  []any
	held  reflect.Value
	load  func(reflect.Value) value // an element of held
}

func (v value) span() span {
	switch v.plan.rep {
	case repMadeList:
		made := *v.held.Interface().(*[]value)
		return span{count: len(made), made: made}
	case repList:
		json := v.held.Interface().([]any)
		return span{count: len(json), json: json}
	default:
		return span{count: v.held.Len(), held: v.held, load: v.plan.inner.load}
	}
}

func (s *span) at(i int) value {
	switch {
	case s.made != nil:
		return s.made[i]
	case s.json != nil:
		return fromAny(s.json[i])
	default:
		return s.load(s.held.Index(i))
	}
}

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
	case repMadeList:
		return len(*v.held.Interface().(*[]value))
	case repStruct:
		return len(v.names())
	default:
		return v.held.Len()
	}
}

func (v value) json() map[string]any { return v.held.Interface().(map[string]any) }

func (v value) members() map[string]value { return v.held.Interface().(map[string]value) }

// member reads a member of an object. There is none, with ok false, only in a
// struct; in other objects a missing member is null.
func (v value) member(name string) (m value, ok bool) {
	switch v.plan.rep {
	case repObject:
		return fromAny(v.json()[name]), true
	case repMade:
		return v.members()[name], true
	case repStruct:
		found, ok := v.plan.member(name)
		if !ok {
			return value{}, v.plan.open
		}
		return found.plan.load(v.held.Field(found.field)), true
	default:
		item := v.held.MapIndex(reflect.ValueOf(name).Convert(v.plan.typ.Key()))
		if !item.IsValid() {
			return value{}, true
		}
		return v.plan.inner.load(item), true
	}
}

// names are the names of an object's members, sorted.
func (v value) names() []string {
	switch v.plan.rep {
	case repObject:
		return slices.Sorted(maps.Keys(v.json()))
	case repMade:
		return slices.Sorted(maps.Keys(v.members()))
	case repStruct:
		return v.plan.names()
	default:
		var names []string
		for iter := v.held.MapRange(); iter.Next(); {
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
		return v.isTrue()
	case String:
		return v.text != ""
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
		return v.isTrue() == w.isTrue()
	case Number:
		return v.num == w.num
	case String:
		return v.text == w.text
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
		return v.isTrue()
	case Number:
		return v.num
	case String:
		fr.write(at, len(v.text))
		return v.text
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
		fr.fail(InvalidValue, at, "%s", v.text)
		return nil
	}
}
