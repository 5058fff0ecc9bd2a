package jmespath

import (
	"fmt"

	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

// function is a function of the specification.
type function struct {
	name     string
	params   []param
	variadic bool // the last parameter can be given more than once
	total    bool // it has a result for every value of every argument
	out      func(args []*Shape) *Shape
	run      func(c *call, fr *frame, args []value) value
}

// param is what a function takes as an argument: values of some kinds or,
// where ref is set, an expression.
type param struct {
	kinds Kinds
	elems Kinds // of arrays; 0 means any. All elements are of one kind
	ref   bool
	by    Kinds // ref: what the expression must give; 0 means any
}

func (p param) String() string {
	if p.elems == 0 {
		return p.kinds.String()
	}
	var lists []string
	for k := range jsontype.Unknown {
		if p.elems&SetOf(k) != 0 {
			lists = append(lists, "an array of "+k.String()+"s")
		}
	}
	return alternatives(lists)
}

// takes reports whether the function can be called with n arguments.
func (f *function) takes(n int) bool {
	return n == len(f.params) || f.variadic && n > len(f.params)
}

func (f *function) param(i int) param { return f.params[min(i, len(f.params)-1)] }

// arity says how many arguments the function takes.
func (f *function) arity() string {
	n := len(f.params)
	plural := "s"
	if n == 1 {
		plural = ""
	}
	if f.variadic {
		return fmt.Sprintf("at least %d argument%s", n, plural)
	}
	return fmt.Sprintf("%d argument%s", n, plural)
}
