// Package jmespathtest gives tests of JMESPath the same data in two forms: as
// JSON values, and as Go values of the kind that AWS SDKs have.
package jmespathtest

import (
	"encoding/base64"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Status is a named string, as SDK enums are.
type Status string

// GoValue gives a JSON value Go types: structs for objects, with members that
// may be null behind pointers, lists of structs, numbers and (named) strings.
// What has no such form stays a JSON value: objects with names that are no Go
// names, lists of mixed elements, and lists that are null in one place and not
// in another, since a nil slice is an empty list.
func GoValue(doc any) any {
	t := typeOf([]any{doc})
	v := reflect.New(t).Elem()
	fill(v, doc)
	return v.Interface()
}

// typeOf is a type that can hold all of some JSON values.
func typeOf(docs []any) reflect.Type {
	anyType := reflect.TypeFor[any]()
	present := slices.DeleteFunc(slices.Clone(docs), func(d any) bool { return d == nil })
	if len(present) == 0 {
		return anyType
	}
	kind := reflect.TypeOf(present[0]).Kind()
	for _, d := range present {
		if reflect.TypeOf(d).Kind() != kind {
			return anyType
		}
	}
	nullable := len(present) < len(docs)
	switch kind {
	case reflect.Slice:
		if nullable {
			return anyType
		}
		var items []any
		for _, d := range present {
			items = append(items, d.([]any)...)
		}
		return reflect.SliceOf(typeOf(items))
	case reflect.Map:
		if t, ok := structOf(present); ok {
			return reflect.PointerTo(t)
		}
		return anyType
	case reflect.String:
		if !nullable {
			return reflect.TypeFor[Status]()
		}
		return reflect.TypeFor[*string]()
	case reflect.Float64:
		for _, d := range present {
			if n := d.(float64); n != float64(int32(n)) {
				return reflect.TypeFor[*float64]()
			}
		}
		return reflect.TypeFor[*int32]()
	default:
		return reflect.PointerTo(reflect.TypeOf(present[0]))
	}
}

func structOf(docs []any) (reflect.Type, bool) {
	names := map[string]string{} // Go name to JSON name
	for _, d := range docs {
		for name := range d.(map[string]any) {
			title := GoName(name)
			if first, ok := names[title]; title == "" || ok && first != name {
				return nil, false
			}
			names[title] = name
		}
	}
	var fields []reflect.StructField
	for _, title := range slices.Sorted(maps.Keys(names)) {
		var values []any
		for _, d := range docs {
			values = append(values, d.(map[string]any)[names[title]])
		}
		fields = append(fields, reflect.StructField{Name: title, Type: typeOf(values)})
	}
	return reflect.StructOf(fields), true
}

// GoName is the name of the Go field for a member, or empty if none can be.
func GoName(name string) string {
	for i, c := range name {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c != '_' && (c < '0' || c > '9')) {
			return ""
		}
	}
	if name == "" {
		return ""
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

func fill(v reflect.Value, doc any) {
	switch {
	case doc == nil:
	case v.Kind() == reflect.Interface:
		v.Set(reflect.ValueOf(doc))
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), doc)
	case v.Kind() == reflect.Slice:
		for _, item := range doc.([]any) {
			held := reflect.New(v.Type().Elem()).Elem()
			fill(held, item)
			v.Set(reflect.Append(v, held))
		}
	case v.Kind() == reflect.Struct:
		for name, m := range doc.(map[string]any) {
			fill(v.FieldByName(GoName(name)), m)
		}
	default:
		v.Set(reflect.ValueOf(doc).Convert(v.Type()))
	}
}

// JSON gives a Go value the JSON form that the data model of the Smithy
// waiters specification says, by another way than the package under test. A
// nil slice or map is empty.
func JSON(v any) any { return jsonOf(reflect.ValueOf(v)) }

func jsonOf(v reflect.Value) any {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if !v.IsValid() {
		return nil
	}
	switch x := v.Interface().(type) {
	case time.Time:
		return float64(x.UnixMilli()) / 1000
	case []byte:
		return base64.StdEncoding.EncodeToString(x)
	}
	switch v.Kind() {
	case reflect.Struct:
		members := map[string]any{}
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Name != "ResultMetadata" {
				members[f.Name] = jsonOf(v.Field(i))
			}
		}
		return members
	case reflect.Map:
		members := map[string]any{}
		for _, key := range v.MapKeys() {
			members[key.String()] = jsonOf(v.MapIndex(key))
		}
		return members
	case reflect.Slice:
		items := make([]any, v.Len())
		for i := range items {
			items[i] = jsonOf(v.Index(i))
		}
		return items
	case reflect.String:
		return v.String()
	case reflect.Bool:
		return v.Bool()
	default:
		return v.Convert(reflect.TypeFor[float64]()).Float()
	}
}

// SortLists is a JSON value with all lists sorted.
func SortLists(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = SortLists(item)
		}
		slices.SortFunc(out, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, m := range v {
			out[name] = SortLists(m)
		}
		return out
	default:
		return v
	}
}

// Say prints a line of a suite's report.
func Say(format string, args ...any) { fmt.Fprintf(os.Stdout, format+"\n", args...) }
