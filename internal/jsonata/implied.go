package jsonata

import "context"

// examples are a value of each type that a signature has.
var examples = map[byte]any{
	's': "", 'n': 0.0, 'b': false, 'l': nil, 'a': []any{}, 'o': map[string]any{}, 'f': &lambda{}, 'm': undefined,
}

// AnyType are the symbols of all types that a signature has: s string, n number, b boolean, l null, a array, o object,
// f function, m undefined.
const AnyType = anySymbols + "l"

// mostTypes is for how many choices of types TakesContext looks at what a call does.
const mostTypes = 1024

// TakesContext tells whether a call of a function of the language takes the context for its first argument, as in
// Status.$lowercase(), and whether it does not. Each argument that is given has one of some types, by their symbols in
// signatures; where the types do not tell, both are true.
func TakesContext(function string, types []string) (takes, leaves bool) {
	f := functions[function]
	if f == nil || f.signature == nil || len(f.signature.params) == 0 || !f.signature.params[0].context || len(types) >= len(f.signature.params) {
		return false, true
	}
	choices := 1
	for _, symbols := range types {
		if choices *= len(symbols); choices == 0 || choices > mostTypes {
			return true, true
		}
	}
	m := &machine{budget: newBudget(context.Background(), StepFunctions), input: undefined}
	args, counts := make([]any, len(types)), make([]int, len(f.signature.params))
	for n := range choices {
		for i, symbols := range types {
			args[i] = examples[symbols[n%len(symbols)]]
			n /= len(symbols)
		}
		if f.signature.assign(m, counts, args, 0) {
			takes, leaves = takes || counts[0] == 0, leaves || counts[0] != 0
		}
	}
	return takes, leaves
}
