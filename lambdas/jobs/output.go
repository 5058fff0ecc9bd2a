package jobs

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/internal/javasdk"
)

// Output gives an AWS SDK output the form that Step Functions gives the result
// of the same call: members in PascalCase, where an acronym at the beginning has
// one capital (DpuSeconds, which the SDK calls DPUSeconds), timestamps as RFC 3339
// strings, blobs as base64, unions as objects of their one member, no nulls and
// no ResultMetadata. So a state machine reads the same document whichever way it
// polls. A union member that the SDK does not know is left out, as the SDK
// itself leaves out members that it does not know. What has no such form, such
// as a stream, is an error.
func Output(v any) (any, error) {
	out, _, err := convert(reflect.ValueOf(v))
	return out, err
}

// convert returns the JSON form of a value, and whether there is one: a nil
// pointer, list or map has none.
func convert(rv reflect.Value) (out any, ok bool, err error) {
	for rv.Kind() == reflect.Pointer || rv.Kind() == reflect.Interface {
		if rv.Kind() == reflect.Interface && rv.NumMethod() > 0 && !rv.IsNil() {
			return convertUnion(rv)
		}
		rv = rv.Elem()
	}
	if !rv.IsValid() {
		return nil, false, nil
	}
	if t, isTime := reflect.TypeAssert[time.Time](rv); isTime {
		return t.UTC().Format(time.RFC3339Nano), true, nil
	}
	switch rv.Kind() {
	case reflect.Struct:
		return convertStruct(rv)
	case reflect.Slice:
		return convertList(rv)
	case reflect.Map:
		return convertMap(rv)
	case reflect.String:
		return rv.String(), true, nil
	case reflect.Bool:
		return rv.Bool(), true, nil
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Float32, reflect.Float64:
		number, err := json.Marshal(rv.Interface())
		return json.Number(number), true, err
	default:
		return nil, false, fmt.Errorf("%s is not the type of an AWS SDK output", rv.Type())
	}
}

func convertList(rv reflect.Value) (out any, ok bool, err error) {
	if rv.IsNil() {
		return nil, false, nil
	}
	if blob, isBlob := reflect.TypeAssert[[]byte](rv); isBlob {
		return base64.StdEncoding.EncodeToString(blob), true, nil
	}
	list := make([]any, 0, rv.Len())
	for i := range rv.Len() {
		item, ok, err := convert(rv.Index(i))
		if err != nil {
			return nil, false, fmt.Errorf("item %d: %w", i, err)
		}
		if ok {
			list = append(list, item)
		}
	}
	return list, true, nil
}

func convertMap(rv reflect.Value) (out any, ok bool, err error) {
	if rv.IsNil() {
		return nil, false, nil
	}
	if rv.Type().Key().Kind() != reflect.String {
		return nil, false, fmt.Errorf("%s is not the type of an AWS SDK output", rv.Type())
	}
	object := make(map[string]any, rv.Len())
	for iter := rv.MapRange(); iter.Next(); {
		item, ok, err := convert(iter.Value())
		if err != nil {
			return nil, false, fmt.Errorf("%v: %w", iter.Key(), err)
		}
		if ok {
			object[iter.Key().String()] = item
		}
	}
	return object, true, nil
}

func convertStruct(rv reflect.Value) (out any, ok bool, err error) {
	object := map[string]any{}
	for i := range rv.NumField() {
		f := rv.Type().Field(i)
		if !f.IsExported() || f.Anonymous || f.Name == "ResultMetadata" {
			continue
		}
		// The SDK leaves an enum that the service did not send empty.
		if v := rv.Field(i); v.Kind() == reflect.String && v.Len() == 0 {
			continue
		}
		item, ok, err := convert(rv.Field(i))
		if err != nil {
			return nil, false, fmt.Errorf("%s: %w", f.Name, err)
		}
		if ok {
			object[javasdk.MemberName(f.Name)] = item
		}
	}
	return object, true, nil
}

// convertUnion converts the value of a union U, which the SDK makes an
// interface: for its member M it holds a *UMemberM{Value}.
func convertUnion(rv reflect.Value) (out any, ok bool, err error) {
	union, held := rv.Type(), rv.Elem()
	if held.Kind() != reflect.Pointer || held.Type().Elem().Kind() != reflect.Struct || held.IsNil() {
		return nil, false, fmt.Errorf("%s is not the type of an AWS SDK output", union)
	}
	name := held.Type().Elem().Name()
	if name == "UnknownUnionMember" {
		return nil, false, nil
	}
	member, isMember := strings.CutPrefix(name, union.Name()+"Member")
	value := held.Elem().FieldByName("Value")
	if !isMember || !value.IsValid() {
		return nil, false, fmt.Errorf("%s is not the type of an AWS SDK output", union)
	}
	out, ok, err = convert(value)
	if err != nil {
		return nil, false, fmt.Errorf("%s: %w", member, err)
	}
	return map[string]any{javasdk.MemberName(member): out}, ok, nil
}
