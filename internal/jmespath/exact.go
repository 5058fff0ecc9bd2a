package jmespath

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/internal/diag"
)

// exact writes a tree as JSONata that gives what JMESPath gives for every JSON
// value. JSONata has sequences where JMESPath has arrays, and nothing where
// JMESPath has null or an error. So here an array is always an array, null is
// null, and nothing stands for an error, which every part passes on.
type exact struct {
	text     string
	needs    map[string]bool // definitions
	names    int             // of variables so far
	problems diag.Problems
}

// exactly returns the JSONata for the tree on the value that root gives, as
// write writes it.
func exactly(text string, n *checked, root string, write func(x *exact, n *checked, in string) string) (string, error) {
	x := &exact{text: text, needs: map[string]bool{}}
	if depth := 12 + n.nesting(); depth > maxNestedEvaluations {
		x.refuse(n.at, fmt.Sprintf("the expression nests too deep for Step Functions, which evaluates JSONata to a depth of %d", maxNestedEvaluations))
	}
	if at := n.unconverted(); at != nil {
		x.refuse(at.at, "a timestamp is a string in a result of Step Functions and a number in JMESPath, and what is read here may be one")
	}
	body := write(x, n, "$in")
	if len(x.problems) > 0 {
		return "", &Error{Code: Untranslatable, Problems: x.problems}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "($in := $exists(%s) ? %[1]s : null; ", root)
	for _, d := range definitions {
		if x.needs[d.name] {
			fmt.Fprintf(&b, "$%s := %s; ", d.name, d.text)
		}
	}
	return b.String() + body + ")", nil
}

func (x *exact) refuse(at int, message string) {
	x.problems = append(x.problems, diag.At([]byte(x.text), at, "", message))
}

// maxNestedEvaluations is how deep the evaluations of JSONata may nest in Step
// Functions.
const maxNestedEvaluations = 100

// nesting bounds how deep the evaluations of the exact form nest, without what
// it defines. An argument is evaluated by the expression that calls a function,
// a function below what the definitions add.
func (n *checked) nesting() int {
	arguments, functions := 0, 0
	for i, kid := range n.kids {
		called := kid.op == opRef || i == 1 && (n.op == opSub || n.op == opPipe || n.op == opProject || n.op == opFilter)
		if called && kid.op != opField {
			functions = max(functions, kid.nesting())
		} else {
			arguments = max(arguments, kid.nesting())
		}
	}
	switch n.op {
	case opCurrent, opField:
		return 2
	case opLiteral:
		return 1 + depthOf(n.value)
	case opSub, opPipe, opProject, opFilter:
		return max(arguments+1, functions+5)
	case opOr, opAnd:
		return arguments + 3
	case opMultiList, opMultiHash: // one of the three is to leave out null
		return arguments + 3 + len(n.kids)
	case opCall:
		return max(arguments+2+len(n.kids), functions+8)
	default:
		return arguments + 2
	}
}

// depthOf is how deep a JSON value nests.
func depthOf(v any) int {
	deepest := 0
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			deepest = max(deepest, depthOf(item))
		}
	case map[string]any:
		for _, m := range v {
			deepest = max(deepest, depthOf(m))
		}
	}
	return deepest + 1
}

// need marks a definition, and returns its name as it is called.
func (x *exact) need(name string) string {
	if !x.needs[name] {
		x.needs[name] = true
		i := slices.IndexFunc(definitions, func(d definition) bool { return d.name == name })
		for _, used := range definitions[i].uses {
			x.need(used)
		}
	}
	return "$" + name
}

// call is the call of a definition.
func (x *exact) call(name string, args ...string) string {
	return x.need(name) + "(" + strings.Join(args, ", ") + ")"
}

// variable is a new variable.
func (x *exact) variable() string {
	x.names++
	return "$v" + strconv.Itoa(x.names)
}

// function is a function of one value.
func (x *exact) function(n *checked) string {
	v := x.variable()
	return "function(" + v + "){ " + x.value(n, v) + " }"
}

// value is JSONata for the tree on the value of a variable.
func (x *exact) value(n *checked, in string) string {
	kid := func(i int) string { return x.value(n.kids[i], in) }
	switch n.op {
	case opCurrent:
		return in
	case opField:
		return x.member(n, in)
	case opLiteral:
		return x.literal(n)
	case opSub, opPipe:
		switch next := n.kids[1]; {
		case next.op == opField:
			return x.member(next, kid(0))
		case n.op == opPipe:
			return x.call("pipe", kid(0), x.function(next))
		default:
			return x.call("on", kid(0), x.function(next))
		}
	case opIndex:
		return x.call("index", kid(0), strconv.Itoa(n.index))
	case opProject:
		return x.call("project", kid(0), x.function(n.kids[1]))
	case opSlice:
		return x.call("slice", kid(0), part(n.slice[0], "null"), part(n.slice[1], "null"), part(n.slice[2], "1"))
	case opFlatten:
		return x.call("flatten", kid(0))
	case opFilter:
		return x.call("select", kid(0), x.function(n.kids[1]))
	case opValues:
		return x.call("wildcard", kid(0))
	case opMultiList, opMultiHash:
		return x.multiSelect(n, in, func(i int) (name, value string) {
			if n.op == opMultiHash {
				name = n.names[i]
			}
			return name, kid(i)
		})
	case opOr, opAnd:
		return x.choice(n, in)
	case opNot:
		return x.call("negate", kid(0))
	case opCompare:
		switch n.order {
		case equal:
			return x.call("equal", kid(0), kid(1))
		case notEqual:
			return x.call("differ", kid(0), kid(1))
		default:
			return x.call("order", kid(0), kid(1), "function($a, $b){ $a "+n.order.String()+" $b }")
		}
	case opCall:
		return x.invoke(n, in)
	default:
		panic("an expression reference stands as an argument alone")
	}
}

// member reads a member of what a text gives.
func (x *exact) member(n *checked, of string) string {
	name := "member"
	if inherited[n.name] {
		name = "own"
	}
	value := x.call(name, of, literal(n.name))
	switch {
	case n.out.time():
		return x.call("time", value)
	case n.out.kinds&isArray != 0 && n.out.element().time():
		return x.call("times", value)
	default:
		return value
	}
}

func (x *exact) literal(n *checked) string {
	if strings.Contains(encoded(n.value), `"__proto__":`) { // which no text has, for its quotes are escaped
		x.unnameable(n)
	}
	return literal(n.value)
}

// unnameable refuses a member that no object of JavaScript can be given.
func (x *exact) unnameable(n *checked) {
	x.refuse(n.at, "JSONata cannot make an object with the member __proto__")
}

// multiSelect makes a list or an object of parts.
func (x *exact) multiSelect(n *checked, in string, part func(i int) (name, value string)) string {
	made := "[]"
	if n.op == opMultiHash {
		made = "{}"
	}
	for i := range n.kids {
		name, value := part(i)
		if n.op == opMultiList {
			made = x.call("cons", made, value)
			continue
		}
		if name == "__proto__" {
			x.unnameable(n)
		}
		made = x.call("put", made, literal(name), value)
	}
	return fmt.Sprintf("(%s = null ? null : %s)", in, made)
}

// choice writes "or" and "and", which do not evaluate the right side where the
// left decides.
func (x *exact) choice(n *checked, in string) string {
	left := x.variable()
	first, second := left, x.value(n.kids[1], in)
	if n.op == opAnd {
		first, second = second, first
	}
	return fmt.Sprintf("(%s := %s; $exists(%[1]s) ? (%[3]s(%[1]s) ? %[4]s : %[5]s))", left, x.value(n.kids[0], in), x.need("truthy"), first, second)
}

// invoke is the call of a function of JMESPath.
func (x *exact) invoke(n *checked, in string) string {
	args := make([]string, len(n.kids))
	for i, kid := range n.kids {
		if kid.op == opRef {
			args[i] = x.function(kid.kids[0])
		} else {
			args[i] = x.value(kid, in)
		}
	}
	switch n.name {
	case "merge":
		return x.merge(args)
	case "not_null":
		return x.notNull(args)
	}
	f, ok := functionDefinitions[n.name]
	if !ok {
		x.refuse(n.at, n.name+"() has no equal in JSONata, which writes numbers with 15 digits and members in their own order")
		return "null"
	}
	for _, used := range f.uses {
		x.need(used)
	}
	called := f.text
	if !strings.HasPrefix(called, "$") {
		called = "(" + called + ")"
	}
	return called + "(" + strings.Join(args, ", ") + ")"
}

// bind names the arguments, and returns the names and what binds them.
func (x *exact) bind(args []string) (names []string, binding string) {
	for _, arg := range args {
		name := x.variable()
		names = append(names, name)
		binding += name + " := " + arg + "; "
	}
	return names, binding
}

func (x *exact) merge(args []string) string {
	names, binding := x.bind(args)
	conditions := make([]string, len(names))
	for i, name := range names {
		conditions[i] = fmt.Sprintf("$type(%s) = 'object'", name)
	}
	return fmt.Sprintf("(%s%s ? $merge([%s]))", binding, strings.Join(conditions, " and "), strings.Join(names, ", "))
}

func (x *exact) notNull(args []string) string {
	names, binding := x.bind(args)
	conditions := make([]string, len(names))
	choice := "null"
	for i, name := range slices.Backward(names) {
		conditions[i] = fmt.Sprintf("$exists(%s)", name)
		choice = fmt.Sprintf("(%s != null ? %[1]s : %s)", name, choice)
	}
	return fmt.Sprintf("(%s%s ? %s)", binding, strings.Join(conditions, " and "), choice)
}

// part is a part of a slice.
func part(i *int, otherwise string) string {
	if i == nil {
		return otherwise
	}
	return strconv.Itoa(*i)
}
