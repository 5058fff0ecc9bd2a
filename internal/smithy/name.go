// Package smithy knows how Smithy models name things
// (https://smithy.io/2.0/spec/model.html#shape-id).
package smithy

import "strings"

// ShapeName is the name part of a relative or absolute shape ID.
func ShapeName(id string) string { return id[strings.LastIndexByte(id, '#')+1:] }
