package jmespath

import (
	"maps"
	"reflect"
	"slices"

	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

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

// truthy tells what counts as true: all but null, false and what is empty.
func (v value) truthy() bool {
	switch v.kind {
	case jsontype.Boolean:
		return v.isTrue()
	case jsontype.String:
		return v.text != ""
	case jsontype.Array, jsontype.Object:
		return v.length() > 0
	default:
		return v.kind == jsontype.Number
	}
}
