package sdktypes_test

import (
	"encoding/base64"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// decode makes an SDK value of a JSON value with the model's member names. The
// SDK's fields have these names with a capital first letter. What the SDK holds
// in an interface (a union, a document) is left out: no waiter reads it.
func decode(v any, to reflect.Value) error {
	switch {
	case v == nil, to.Kind() == reflect.Interface:
		return nil
	case to.Kind() == reflect.Pointer:
		to.Set(reflect.New(to.Type().Elem()))
		return decode(v, to.Elem())
	}
	switch to.Interface().(type) {
	case time.Time:
		seconds, ok := v.(float64)
		if ok { // else TestMembers tells
			to.Set(reflect.ValueOf(time.UnixMilli(int64(seconds * 1000))))
		}
		return nil
	case []byte:
		bytes, err := base64.StdEncoding.DecodeString(v.(string))
		to.SetBytes(bytes)
		return err
	}
	switch to.Kind() {
	case reflect.Struct:
		return structure(v.(map[string]any), to)
	case reflect.Slice:
		for _, item := range v.([]any) {
			element := reflect.New(to.Type().Elem()).Elem()
			if err := decode(item, element); err != nil {
				return err
			}
			to.Set(reflect.Append(to, element))
		}
		return nil
	case reflect.Map:
		to.Set(reflect.MakeMap(to.Type()))
		for key, item := range v.(map[string]any) {
			element := reflect.New(to.Type().Elem()).Elem()
			if err := decode(item, element); err != nil {
				return err
			}
			to.SetMapIndex(reflect.ValueOf(key).Convert(to.Type().Key()), element)
		}
		return nil
	default:
		value := reflect.ValueOf(v)
		if value.Kind() != to.Kind() && (value.Kind() != reflect.Float64 || !to.CanInt() && !to.CanFloat()) {
			return fmt.Errorf("%v is no %s", v, to.Type())
		}
		to.Set(value.Convert(to.Type()))
		return nil
	}
}

// goName is the name of the Go field for a member of the model.
func goName(member string) string { return strings.ToUpper(member[:1]) + member[1:] }

func structure(object map[string]any, to reflect.Value) error {
	for name, v := range object {
		field := to.FieldByName(goName(name))
		if !field.IsValid() { // TestMembers tells
			continue
		}
		if err := decode(v, field); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// encode makes a JSON value with the model's member names of an SDK value, by
// the data model of the waiters specification: a nil pointer is left out, a nil
// list or map is empty, and what the SDK does not hold behind a pointer, such as
// an enum, is there.
func encode(s *catalog.Shape, v reflect.Value) any {
	if v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() || v.Kind() == reflect.Interface {
			return nil
		}
		v = v.Elem()
	}
	switch x := v.Interface().(type) {
	case time.Time:
		return float64(x.UnixMilli()) / 1000
	case []byte:
		return base64.StdEncoding.EncodeToString(x)
	}
	switch {
	case v.Kind() == reflect.Struct:
		object := map[string]any{}
		if s == nil {
			return object
		}
		for _, m := range s.Members {
			if field := v.FieldByName(goName(m.Name)); field.IsValid() {
				if item := encode(m.Shape, field); item != nil {
					object[m.Name] = item
				}
			}
		}
		return object
	case v.Kind() == reflect.Slice:
		list := []any{}
		for i := range v.Len() {
			list = append(list, encode(s.Element.Shape, v.Index(i)))
		}
		return list
	case v.Kind() == reflect.Map:
		object := map[string]any{}
		for _, key := range v.MapKeys() {
			object[key.String()] = encode(s.Element.Shape, v.MapIndex(key))
		}
		return object
	case v.Kind() == reflect.String:
		return v.String()
	case v.Kind() == reflect.Bool:
		return v.Bool()
	case v.CanInt():
		return float64(v.Int())
	default:
		return v.Float()
	}
}
