package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// Fill sets all that a value has, so that its JSON has every member. Of a type that has itself as
// a part, the part has none.
func Fill(v reflect.Value) { fill(v) }

func fill(v reflect.Value, around ...reflect.Type) {
	switch v.Kind() {
	case reflect.Pointer:
		inner := v.Type().Elem()
		v.Set(reflect.New(inner))
		if !slices.Contains(around, inner) {
			fill(v.Elem(), around...)
		}
	case reflect.Struct:
		around = append(slices.Clip(around), v.Type())
		for _, field := range v.Fields() {
			if field.CanSet() || field.Kind() == reflect.Struct { // an embedded struct has fields that can be set
				fill(field, around...)
			}
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte("1"))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), around...)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, around...)
		fill(value, around...)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Interface:
		v.Set(reflect.ValueOf("x"))
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(1.5)
	case reflect.Int:
		v.SetInt(1)
	case reflect.Int64:
		v.SetInt(int64(3 * time.Second / 2)) //nolint:mnd // a time that shows whether JSON has whole seconds
	default: // of enumerations and arrays, zero is a value
	}
}

// Sampled is the schema of an object that a method writes: its members are those of full, and
// least has those that are always there.
func Sampled(full, least any) (*jsonschema.Schema, error) {
	text, err := json.Marshal(full)
	if err != nil {
		return nil, err
	}
	always, err := json.Marshal(least)
	if err != nil {
		return nil, err
	}
	var required map[string]json.RawMessage
	if err := json.Unmarshal(always, &required); err != nil {
		return nil, err
	}
	s, err := seen(text)
	if err != nil {
		return nil, err
	}
	for _, name := range s.PropertyOrder {
		if _, ok := required[name]; ok {
			s.Required = append(s.Required, name)
		}
	}
	return s, nil
}

// seen is the schema of values such as this one.
func seen(text json.RawMessage) (*jsonschema.Schema, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	switch value := token.(type) {
	case string:
		return &jsonschema.Schema{Type: "string"}, nil
	case bool:
		return &jsonschema.Schema{Type: "boolean"}, nil
	case json.Number:
		if strings.Contains(value.String(), ".") {
			return &jsonschema.Schema{Type: "number"}, nil
		}
		return &jsonschema.Schema{Type: "integer"}, nil
	case json.Delim:
		return seenWithin(decoder, value)
	default:
		return nil, fmt.Errorf("nothing shows the type of %s", text)
	}
}

// seenWithin is the schema of an array or an object behind its bracket.
func seenWithin(decoder *json.Decoder, bracket json.Delim) (*jsonschema.Schema, error) {
	var part json.RawMessage
	if bracket == '[' {
		if err := decoder.Decode(&part); err != nil {
			return nil, err
		}
		items, err := seen(part)
		return &jsonschema.Schema{Type: "array", Items: items}, err
	}
	s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		if err := decoder.Decode(&part); err != nil {
			return nil, err
		}
		member, err := seen(part)
		if err != nil {
			return nil, err
		}
		s.Properties[name.(string)] = member
		s.PropertyOrder = append(s.PropertyOrder, name.(string))
	}
	return s, nil
}
