package jmespath

import (
	"fmt"

	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

// frame is the state of one evaluation.
type frame struct {
	text  string // of the expression
	err   error  // the first failure, an *Error
	steps int    // values looked at
	bytes int    // of text made
	slots []slot
	args  []value

	// for the comparators of arrays
	want           string
	all            bool
	items, matched int
}

// slot is the state of a node that takes a stream.
type slot struct {
	list   []value
	count  int
	search value
	found  bool
}

// matchItem counts an element of the result, and returns whether others can
// change the answer.
func (fr *frame) matchItem(item value) bool {
	fr.items++
	if item.isText(fr.want) {
		fr.matched++
		return fr.all
	}
	return !fr.all
}

func (fr *frame) fail(code Code, at int, format string, args ...any) {
	if fr.err == nil {
		fr.err = &Error{Code: code, Problems: diag.Problems{diag.At([]byte(fr.text), at, "", fmt.Sprintf(format, args...))}}
	}
}

// sound refuses a value that has no JMESPath form.
func (fr *frame) sound(at int, v value) value {
	if v.kind == jsontype.Unknown {
		fr.fail(InvalidValue, at, "%s", v.text)
		return value{}
	}
	return v
}

// member reads a member of any value; of what is no object it is null. A Go
// struct without the member is a failure: the name is most likely misspelt.
func (fr *frame) member(at int, v value, name string) value {
	if v.kind != jsontype.Object {
		return value{}
	}
	if v.plan == jsonObject {
		return fr.sound(at, fromAny(v.json()[name]))
	}
	m, ok := v.member(name)
	if !ok && fr.err == nil {
		problem := diag.At([]byte(fr.text), at, "", fmt.Sprintf("%s has no member %q", v.plan.typ, name))
		fr.err = &Error{Code: UnknownMember, Problems: diag.Problems{problem.Suggest(name, v.plan.names()...)}}
	}
	return fr.sound(at, m)
}

// memberOrNull reads a member of any value; if there is none it is null.
func (fr *frame) memberOrNull(at int, v value, name string) value {
	if v.kind != jsontype.Object {
		return value{}
	}
	m, _ := v.member(name)
	return fr.sound(at, m)
}
