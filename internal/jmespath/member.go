package jmespath

import (
	"reflect"
	"unicode"
	"unicode/utf8"
)

// findMember finds the Go field of a Smithy member: the SDK exports a member
// under its name with the first letter in upper case.
func findMember(t reflect.Type, name string) (reflect.StructField, bool) {
	first, size := utf8.DecodeRuneInString(name)
	f, ok := t.FieldByName(string(unicode.ToUpper(first)) + name[size:])
	return f, ok && isMember(f)
}

func memberNames(t reflect.Type) []string {
	var names []string
	for f := range t.Fields() {
		if isMember(f) {
			names = append(names, f.Name)
		}
	}
	return names
}

// isMember tells members of the model from what the SDK adds to its structs.
func isMember(f reflect.StructField) bool {
	return f.IsExported() && !f.Anonymous && len(f.Index) == 1 && f.Name != "ResultMetadata"
}

func typeName(t reflect.Type) string {
	if t.Name() == "" {
		return t.Kind().String()
	}
	return t.String()
}
