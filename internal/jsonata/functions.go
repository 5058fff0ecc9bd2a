package jsonata

import (
	"errors"
	"fmt"

	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// functions are those of the language, and of Step Functions.
var functions = map[string]*builtin{}

// evalFunction is $eval, which Step Functions has not.
var evalFunction *builtin

type implementation = func(m *machine, c *arguments) any

// definition is a function with its signature.
type definition struct {
	name, signature string
	call            implementation
}

func (d definition) builtin() *builtin {
	s := mustSignature(d.signature)
	return &builtin{name: d.name, signature: s, arity: len(s.params), call: d.call}
}

// definitions are the functions of JSONata.
func definitions() []definition {
	return []definition{
		{"string", "<x-b?:s>", stringFunction},
		{"substring", "<s-nn?:s>", substringFunction},
		{"substringBefore", "<s-s:s>", substringBefore},
		{"substringAfter", "<s-s:s>", substringAfter},
		{"lowercase", "<s-:s>", lowercase},
		{"uppercase", "<s-:s>", uppercase},
		{"length", "<s-:n>", lengthFunction},
		{"trim", "<s-:s>", trimFunction},
		{"pad", "<s-ns?:s>", padFunction},
		{"match", "<s-f<s:o>n?:a<o>>", matchFunction},
		{"contains", "<s-(sf):b>", containsFunction},
		{"replace", "<s-(sf)(sf)n?:s>", replaceFunction},
		{"split", "<s-(sf)n?:a<s>>", splitFunction},
		{"join", "<a<s>s?:s>", joinFunction},
		{"base64encode", "<s-:s>", base64Encode},
		{"base64decode", "<s-:s>", base64Decode},
		{"encodeUrlComponent", "<s-:s>", urlEncoder("encodeUrlComponent", unreserved)},
		{"encodeUrl", "<s-:s>", urlEncoder("encodeUrl", unreserved+reserved)},
		{"decodeUrlComponent", "<s-:s>", urlDecoder("decodeUrlComponent", "")},
		{"decodeUrl", "<s-:s>", urlDecoder("decodeUrl", reserved)},

		{"sum", "<a<n>:n>", sumFunction},
		{"count", "<a:n>", countFunction},
		{"max", "<a<n>:n>", maxFunction},
		{"min", "<a<n>:n>", minFunction},
		{"average", "<a<n>:n>", averageFunction},
		{"number", "<(nsb)-:n>", numberFunction},
		{"floor", "<n-:n>", floorFunction},
		{"ceil", "<n-:n>", ceilFunction},
		{"round", "<n-n?:n>", roundFunction},
		{"abs", "<n-:n>", absFunction},
		{"sqrt", "<n-:n>", sqrtFunction},
		{"power", "<n-n:n>", powerFunction},
		{"formatNumber", "<n-so?:s>", formatNumberFunction},
		{"formatBase", "<n-n?:s>", formatBase},
		{"formatInteger", "<n-s:s>", formatIntegerFunction},
		{"parseInteger", "<s-s:n>", parseIntegerFunction},

		{"boolean", "<x-:b>", booleanFunction},
		{"not", "<x-:b>", notFunction},
		{"exists", "<x:b>", existsFunction},
		{"type", "<x:s>", typeFunction},
		{"error", "<s?:x>", errorFunction},
		{"assert", "<bs?:x>", assertFunction},

		{"map", "<af>", mapFunction},
		{"filter", "<af>", filterFunction},
		{"single", "<af?>", singleFunction},
		{"reduce", "<afj?:j>", reduceFunction},
		{"zip", "<a+>", zipFunction},
		{"append", "<xx:a>", appendFunction},
		{"reverse", "<a:a>", reverseFunction},
		{"sort", "<af?:a>", sortFunction},
		{"distinct", "<x:x>", distinctFunction},

		{"sift", "<o-f?:o>", siftFunction},
		{"each", "<o-f:a>", eachFunction},
		{"keys", "<x-:a<s>>", keysFunction},
		{"lookup", "<x-s:x>", lookupFunction},
		{"spread", "<x-:a<o>>", spreadFunction},
		{"merge", "<a<o>:o>", mergeFunction},
		{"clone", "<(oa)-:o>", cloneFunction},

		{"toMillis", "<s-s?:n>", toMillisFunction},
		{"fromMillis", "<n-s?s?:s>", fromMillisFunction},
	}
}

func init() { //nolint:gochecknoinits // functions call the machine, which looks them up
	for _, d := range definitions() {
		functions[d.name] = d.builtin()
	}
	functions["string"].arity = 1
	functions["zip"].arity = 1
	for name, call := range map[string]implementation{
		"hash": hashFunction, "parse": parseFunction, "partition": partitionFunction, "range": rangeFunction,
		"millis": millisFunction, "now": nowFunction, "random": randomFunction, "shuffle": shuffleFunction, "uuid": uuidFunction,
	} {
		functions[name] = &builtin{name: name, arity: 1, call: call}
	}
	evalFunction = definition{"eval", "<sx?:x>", evalText}.builtin()
}

// isFunction says that a name is that of a function of the language.
func isFunction(name string) bool { return functions[name] != nil }

func badArgument(index int, function string) error {
	return &Error{
		Code:    "T0410",
		Message: fmt.Sprintf("Argument %d of function %q does not match function signature", index, function),
	}
}

func booleanFunction(m *machine, c *arguments) any {
	if c.at(0) == undefined {
		return undefined
	}
	return m.truth(c.at(0))
}

func notFunction(m *machine, c *arguments) any {
	if c.at(0) == undefined {
		return undefined
	}
	return !m.truth(c.at(0))
}

func existsFunction(_ *machine, c *arguments) any { return c.at(0) != undefined }

var kindNames = map[valueKind]any{
	kindNull: "null", kindBoolean: "boolean", kindNumber: "number", kindString: "string",
	kindArray: "array", kindObject: "object", kindFunction: "function", kindUndefined: undefined,
}

func typeFunction(_ *machine, c *arguments) any { return kindNames[kindOf(c.at(0))] }

func errorFunction(m *machine, c *arguments) any {
	message := "$error() function evaluated"
	if s, ok := c.at(0).(string); ok {
		message = s
	}
	m.throw(&Error{Code: "D3137", Message: message})
	return undefined
}

func assertFunction(m *machine, c *arguments) any {
	if m.truth(c.at(0)) {
		return undefined
	}
	message := "$assert() statement failed"
	if s, ok := c.at(1).(string); ok {
		message = s
	}
	m.throw(&Error{Code: "D3141", Message: message})
	return undefined
}

// evalText is $eval: it evaluates a text as an expression.
func evalText(m *machine, c *arguments) any {
	text, ok := c.at(0).(string)
	if !ok {
		return undefined
	}
	m.hold(64 * len(text))
	m.step(len(text))
	_, tree, err := parse(text)
	var root *node
	if err == nil {
		root, err = link(text, tree)
	}
	if err != nil {
		message := err.Error()
		if syntax, ok := errors.AsType[*diag.SyntaxError](err); ok {
			message = syntax.Code + " at " + syntax.Problem().String()
		}
		m.throw(&Error{Code: "D3120", Message: "Syntax error in expression passed to function eval: " + message})
	}
	input := c.context
	if c.at(1) != undefined {
		input = c.at(1)
		if kindOf(input) == kindArray {
			l := m.newSequence(input)
			l.outer = true
			input = l
		}
	}
	return m.evalOf(root, input, c.frame)
}

// evalOf evaluates the expression of an $eval.
func (m *machine) evalOf(root *node, input any, f *frame) (v any) {
	depth := m.depth
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		if t, ok := r.(thrown); ok {
			if failure, ok := t.err.(*Error); ok && failure.Code != "" && failure.Code != codeLimit { //nolint:errorlint // thrown as it is
				m.depth = depth
				r = thrown{&Error{Code: "D3121", Message: "Dynamic error evaluating the expression passed to function eval: " + failure.Message}}
			}
		}
		panic(r)
	}()
	return m.eval(root, input, m.newFrame(f))
}
