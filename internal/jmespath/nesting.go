package jmespath

import (
	"slices"

	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

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
	case jsontype.Boolean:
		return v.isTrue() == w.isTrue()
	case jsontype.Number:
		return v.num == w.num
	case jsontype.String:
		return v.text == w.text
	case jsontype.Array:
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
	case jsontype.Object:
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
		return v.kind == jsontype.Null
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
	case jsontype.Null:
		return nil
	case jsontype.Boolean:
		return v.isTrue()
	case jsontype.Number:
		return v.num
	case jsontype.String:
		fr.write(at, len(v.text))
		return v.text
	case jsontype.Array:
		s := v.span()
		items := make([]any, s.count)
		for i := range items {
			if items[i] = fr.export(at, s.at(i), depth+1); fr.err != nil {
				return nil
			}
		}
		return items
	case jsontype.Object:
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
