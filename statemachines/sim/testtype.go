package sim

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/jobpoller/jobpoller/internal/javasdk"
)

// checkType refuses a mocked result whose members do not have the types of the
// API's output. Members that the type does not have are let through, as AWS
// does.
func checkType(value any, t reflect.Type) error {
	if t == nil {
		return nil
	}
	return memberType("", value, t)
}

var (
	timeType  = reflect.TypeFor[time.Time]()
	bytesType = reflect.TypeFor[[]byte]()
	rawType   = reflect.TypeFor[json.RawMessage]()
)

// memberType checks the value of the member of that name.
func memberType(name string, value any, t reflect.Type) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	wrong := func(what string) error {
		if name == "" {
			return refused("Mocked result must be %s.", what)
		}
		return refused("Mock result schema validation error: Field '%s' must be %s", name, what)
	}
	switch kind := t.Kind(); {
	case value == nil || kind == reflect.Interface || t == rawType:
		return nil
	case t == timeType || t == bytesType || kind == reflect.String:
		text, ok := value.(string)
		if !ok {
			return wrong("a string")
		}
		return enumValue(name, text, t)
	case kind == reflect.Bool:
		if _, ok := value.(bool); !ok {
			return wrong("a boolean")
		}
	case kind >= reflect.Int && kind <= reflect.Float64:
		if _, ok := value.(json.Number); !ok {
			return wrong("a number")
		}
	case kind == reflect.Slice:
		items, ok := value.([]any)
		if !ok {
			return wrong("an array")
		}
		for _, item := range items {
			if err := memberType(name, item, t.Elem()); err != nil {
				return err
			}
		}
	case kind == reflect.Map, kind == reflect.Struct:
		object, ok := value.(map[string]any)
		if !ok {
			return wrong("an object")
		}
		return membersType(object, t)
	}
	return nil
}

func membersType(object map[string]any, t reflect.Type) error {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		var member reflect.Type
		if t.Kind() == reflect.Map {
			member = t.Elem()
		} else if field, ok := t.FieldByNameFunc(func(field string) bool { return field == name || javasdk.MemberName(field) == name }); ok && field.IsExported() {
			member = field.Type
		} else {
			continue
		}
		if err := memberType(name, object[name], member); err != nil {
			return err
		}
	}
	return nil
}

// enumValue checks a text of a type that has a method Values, as the enums of
// the SDK do.
func enumValue(name, text string, t reflect.Type) error {
	method, ok := t.MethodByName("Values")
	if !ok || method.Type.NumIn() != 1 || method.Type.NumOut() != 1 || method.Type.Out(0) != reflect.SliceOf(t) {
		return nil
	}
	values := method.Func.Call([]reflect.Value{reflect.Zero(t)})[0]
	for i := range values.Len() {
		if values.Index(i).String() == text {
			return nil
		}
	}
	return refused("Mock result schema validation error: Field '%s' is not an expected value", name)
}
