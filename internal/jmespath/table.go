package jmespath

import (
	"maps"
	"slices"
)

var (
	functions     = table()
	functionNames = slices.Sorted(maps.Keys(functions))
)

func table() map[string]*function {
	byName := map[string]*function{}
	for _, f := range []function{
		{name: "abs", params: []param{aNumber}, out: gives(IsNumber), run: runAbs},
		{name: "avg", params: []param{{kinds: IsArray, elems: IsNumber}}, out: gives(IsNumber | IsNull), run: runAvg},
		{name: "ceil", params: []param{aNumber}, out: gives(IsNumber), run: runCeil},
		{name: "contains", params: []param{{kinds: IsString | IsArray}, anAny}, out: gives(IsBoolean), run: runContains},
		{name: "ends_with", params: []param{aString, aString}, out: gives(IsBoolean), run: runEndsWith},
		{name: "floor", params: []param{aNumber}, out: gives(IsNumber), run: runFloor},
		{name: "join", params: []param{aString, {kinds: IsArray, elems: IsString}}, out: gives(IsString), run: runJoin},
		{
			name: "keys", params: []param{{kinds: IsObject}}, run: runKeys,
			out: func([]*Shape) *Shape { return arrayOf(scalarShape(IsString)) },
		},
		{name: "length", params: []param{{kinds: IsString | IsArray | IsObject}}, out: gives(IsNumber), run: runLength},
		{
			name: "map", params: []param{{ref: true}, anArray}, run: runMap,
			out: func(args []*Shape) *Shape { return arrayOf(args[0]) },
		},
		{name: "max", params: []param{{kinds: IsArray, elems: ordered}}, out: givesElement, run: runMax},
		{name: "max_by", params: []param{anArray, {ref: true, by: ordered}}, out: givesElement, run: runMaxBy},
		{name: "merge", params: []param{{kinds: IsObject}}, variadic: true, out: mergeShapes, run: runMerge},
		{name: "min", params: []param{{kinds: IsArray, elems: ordered}}, out: givesElement, run: runMin},
		{name: "min_by", params: []param{anArray, {ref: true, by: ordered}}, out: givesElement, run: runMinBy},
		{name: "not_null", params: []param{anAny}, variadic: true, total: true, run: runNotNull, out: joinNotNull},
		{
			name: "reverse", params: []param{{kinds: IsString | IsArray}}, run: runReverse,
			out: func(args []*Shape) *Shape {
				return &Shape{Kinds: args[0].Kinds & (IsString | IsArray), Elem: args[0].elementOrNil()}
			},
		},
		{name: "sort", params: []param{{kinds: IsArray, elems: ordered}}, out: givesArray, run: runSort},
		{name: "sort_by", params: []param{anArray, {ref: true, by: ordered}}, out: givesArray, run: runSortBy},
		{name: "starts_with", params: []param{aString, aString}, out: gives(IsBoolean), run: runStartsWith},
		{name: "sum", params: []param{{kinds: IsArray, elems: IsNumber}}, out: gives(IsNumber), run: runSum},
		{
			name: "to_array", params: []param{anAny}, total: true, run: runToArray,
			out: func(args []*Shape) *Shape {
				return arrayOf(args[0].elementOrNil().or(args[0].without(IsArray)))
			},
		},
		{name: "to_number", params: []param{anAny}, total: true, out: gives(IsNumber | IsNull), run: runToNumber},
		{name: "to_string", params: []param{anAny}, out: gives(IsString), run: runToString},
		{name: "type", params: []param{anAny}, total: true, out: gives(IsString), run: runType},
		{
			name: "values", params: []param{{kinds: IsObject}}, run: runValues,
			out: func(args []*Shape) *Shape { return arrayOf(args[0].value()) },
		},
	} {
		byName[f.name] = &f
	}
	return byName
}

func mergeShapes(args []*Shape) *Shape {
	merged := &Shape{Kinds: IsObject, Mixed: true}
	for _, arg := range args {
		merged.trace = merged.trace.and(arg.trace)
	}
	return merged
}

// joinNotNull is null only if all arguments are.
func joinNotNull(args []*Shape) *Shape {
	var joined *Shape
	null := IsNull
	for _, arg := range args {
		joined = joined.or(arg.without(IsNull))
		null &= arg.Kinds
	}
	return joined.or(scalarShape(null))
}

// gives is the static result of a function that depends on no argument.
func gives(k Kinds) func([]*Shape) *Shape {
	return func([]*Shape) *Shape { return scalarShape(k) }
}

// givesElement is the result of a function that picks an element of its first
// argument, or null if there is none.
func givesElement(args []*Shape) *Shape { return args[0].Element().with(IsNull) }

// givesArray is the result of a function that reorders its first argument.
func givesArray(args []*Shape) *Shape { return arrayOf(args[0].Element()) }

var (
	aNumber = param{kinds: IsNumber}
	aString = param{kinds: IsString}
	anArray = param{kinds: IsArray}
	anAny   = param{kinds: IsAny}
	ordered = IsNumber | IsString
)
