package jmespath

import (
	"fmt"
	"maps"
	"slices"
)

// function is a function of the specification.
type function struct {
	name     string
	params   []param
	variadic bool // the last parameter can be given more than once
	total    bool // it has a result for every value of every argument
	out      func(args []*shape) *shape
	run      func(c *call, fr *frame, args []value) value
}

// param is what a function takes as an argument: values of some kinds or,
// where ref is set, an expression.
type param struct {
	kinds kinds
	elems kinds // of arrays; 0 means any. All elements are of one kind
	ref   bool
	by    kinds // ref: what the expression must give; 0 means any
}

func (p param) String() string {
	if p.elems == 0 {
		return p.kinds.String()
	}
	var lists []string
	for k := range Unknown {
		if p.elems&k.set() != 0 {
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

// gives is the static result of a function that depends on no argument.
func gives(k kinds) func([]*shape) *shape {
	return func([]*shape) *shape { return scalarShape(k) }
}

// givesElement is the result of a function that picks an element of its first
// argument, or null if there is none.
func givesElement(args []*shape) *shape { return args[0].element().with(isNull) }

// givesArray is the result of a function that reorders its first argument.
func givesArray(args []*shape) *shape { return arrayOf(args[0].element()) }

var (
	aNumber = param{kinds: isNumber}
	aString = param{kinds: isString}
	anArray = param{kinds: isArray}
	anAny   = param{kinds: isAny}
	ordered = isNumber | isString
)

var (
	functions     = table()
	functionNames = slices.Sorted(maps.Keys(functions))
)

func table() map[string]*function {
	byName := map[string]*function{}
	for _, f := range []function{
		{name: "abs", params: []param{aNumber}, out: gives(isNumber), run: runAbs},
		{name: "avg", params: []param{{kinds: isArray, elems: isNumber}}, out: gives(isNumber | isNull), run: runAvg},
		{name: "ceil", params: []param{aNumber}, out: gives(isNumber), run: runCeil},
		{name: "contains", params: []param{{kinds: isString | isArray}, anAny}, out: gives(isBoolean), run: runContains},
		{name: "ends_with", params: []param{aString, aString}, out: gives(isBoolean), run: runEndsWith},
		{name: "floor", params: []param{aNumber}, out: gives(isNumber), run: runFloor},
		{name: "join", params: []param{aString, {kinds: isArray, elems: isString}}, out: gives(isString), run: runJoin},
		{
			name: "keys", params: []param{{kinds: isObject}}, run: runKeys,
			out: func([]*shape) *shape { return arrayOf(scalarShape(isString)) },
		},
		{name: "length", params: []param{{kinds: isString | isArray | isObject}}, out: gives(isNumber), run: runLength},
		{
			name: "map", params: []param{{ref: true}, anArray}, run: runMap,
			out: func(args []*shape) *shape { return arrayOf(args[0]) },
		},
		{name: "max", params: []param{{kinds: isArray, elems: ordered}}, out: givesElement, run: runMax},
		{name: "max_by", params: []param{anArray, {ref: true, by: ordered}}, out: givesElement, run: runMaxBy},
		{name: "merge", params: []param{{kinds: isObject}}, variadic: true, out: mergedShape, run: runMerge},
		{name: "min", params: []param{{kinds: isArray, elems: ordered}}, out: givesElement, run: runMin},
		{name: "min_by", params: []param{anArray, {ref: true, by: ordered}}, out: givesElement, run: runMinBy},
		{name: "not_null", params: []param{anAny}, variadic: true, total: true, run: runNotNull, out: notNullShape},
		{
			name: "reverse", params: []param{{kinds: isString | isArray}}, run: runReverse,
			out: func(args []*shape) *shape {
				return &shape{kinds: args[0].kinds & (isString | isArray), elem: args[0].elementOrNil()}
			},
		},
		{name: "sort", params: []param{{kinds: isArray, elems: ordered}}, out: givesArray, run: runSort},
		{name: "sort_by", params: []param{anArray, {ref: true, by: ordered}}, out: givesArray, run: runSortBy},
		{name: "starts_with", params: []param{aString, aString}, out: gives(isBoolean), run: runStartsWith},
		{name: "sum", params: []param{{kinds: isArray, elems: isNumber}}, out: gives(isNumber), run: runSum},
		{
			name: "to_array", params: []param{anAny}, total: true, run: runToArray,
			out: func(args []*shape) *shape {
				return arrayOf(args[0].elementOrNil().or(args[0].without(isArray)))
			},
		},
		{name: "to_number", params: []param{anAny}, total: true, out: gives(isNumber | isNull), run: runToNumber},
		{name: "to_string", params: []param{anAny}, out: gives(isString), run: runToString},
		{name: "type", params: []param{anAny}, total: true, out: gives(isString), run: runType},
		{
			name: "values", params: []param{{kinds: isObject}}, run: runValues,
			out: func(args []*shape) *shape { return arrayOf(args[0].value()) },
		},
	} {
		byName[f.name] = &f
	}
	return byName
}

func mergedShape(args []*shape) *shape {
	merged := &shape{kinds: isObject, mixed: true}
	for _, arg := range args {
		merged.trace = merged.trace.and(arg.trace)
	}
	return merged
}

// notNullShape is null only if all arguments are.
func notNullShape(args []*shape) *shape {
	var joined *shape
	null := isNull
	for _, arg := range args {
		joined = joined.or(arg.without(isNull))
		null &= arg.kinds
	}
	return joined.or(scalarShape(null))
}
