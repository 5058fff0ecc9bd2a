package tojsonata

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/pollcore/diag"
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
func exactly(text string, n *jmespath.Node, root string, write func(x *exact, n *jmespath.Node, in string) string) (string, error) {
	x := &exact{text: text, needs: map[string]bool{}}
	if depth := 12 + nesting(n); depth > maxNestedEvaluations {
		x.refuse(n.Offset, fmt.Sprintf("the expression nests too deep for Step Functions, which evaluates JSONata to a depth of %d", maxNestedEvaluations))
	}
	if at := findTextTime(n); at != nil {
		x.refuse(at.Offset, "a timestamp is a string in a result of Step Functions and a number in JMESPath, and what is read here may be one")
	}
	body := write(x, n, "$in")
	if len(x.problems) > 0 {
		return "", &jmespath.Error{Code: jmespath.Untranslatable, Problems: x.problems}
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
func nesting(n *jmespath.Node) int {
	arguments, functions := 0, 0
	for i, kid := range n.Kids {
		called := kid.Op == jmespath.OpRef || i == 1 && (n.Op == jmespath.OpSub || n.Op == jmespath.OpPipe || n.Op == jmespath.OpProject || n.Op == jmespath.OpFilter)
		if called && kid.Op != jmespath.OpField {
			functions = max(functions, nesting(kid))
		} else {
			arguments = max(arguments, nesting(kid))
		}
	}
	switch n.Op {
	case jmespath.OpCurrent, jmespath.OpField:
		return 2
	case jmespath.OpLiteral:
		return 1 + depthOf(n.Value)
	case jmespath.OpSub, jmespath.OpPipe, jmespath.OpProject, jmespath.OpFilter:
		return max(arguments+1, functions+5)
	case jmespath.OpOr, jmespath.OpAnd:
		return arguments + 3
	case jmespath.OpMultiList, jmespath.OpMultiHash: // one of the three is to leave out null
		return arguments + 3 + len(n.Kids)
	case jmespath.OpCall:
		return max(arguments+2+len(n.Kids), functions+8)
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
func (x *exact) function(n *jmespath.Node) string {
	v := x.variable()
	return "function(" + v + "){ " + x.value(n, v) + " }"
}

// value is JSONata for the tree on the value of a variable.
func (x *exact) value(n *jmespath.Node, in string) string {
	kid := func(i int) string { return x.value(n.Kids[i], in) }
	switch n.Op {
	case jmespath.OpCurrent:
		return in
	case jmespath.OpField:
		return x.member(n, in)
	case jmespath.OpLiteral:
		return x.literal(n)
	case jmespath.OpSub, jmespath.OpPipe:
		switch next := n.Kids[1]; {
		case next.Op == jmespath.OpField:
			return x.member(next, kid(0))
		case n.Op == jmespath.OpPipe:
			return x.call("pipe", kid(0), x.function(next))
		default:
			return x.call("on", kid(0), x.function(next))
		}
	case jmespath.OpIndex:
		return x.call("index", kid(0), strconv.Itoa(n.Index))
	case jmespath.OpProject:
		return x.call("project", kid(0), x.function(n.Kids[1]))
	case jmespath.OpSlice:
		return x.call("slice", kid(0), part(n.Slice[0], "null"), part(n.Slice[1], "null"), part(n.Slice[2], "1"))
	case jmespath.OpFlatten:
		return x.call("flatten", kid(0))
	case jmespath.OpFilter:
		return x.call("select", kid(0), x.function(n.Kids[1]))
	case jmespath.OpValues:
		return x.call("wildcard", kid(0))
	case jmespath.OpMultiList, jmespath.OpMultiHash:
		return x.multiSelect(n, in, func(i int) (name, value string) {
			if n.Op == jmespath.OpMultiHash {
				name = n.Names[i]
			}
			return name, kid(i)
		})
	case jmespath.OpOr, jmespath.OpAnd:
		return x.choice(n, in)
	case jmespath.OpNot:
		return x.call("negate", kid(0))
	case jmespath.OpCompare:
		switch n.Order {
		case jmespath.Equal:
			return x.call("equal", kid(0), kid(1))
		case jmespath.NotEqual:
			return x.call("differ", kid(0), kid(1))
		default:
			return x.call("order", kid(0), kid(1), "function($a, $b){ $a "+n.Order.String()+" $b }")
		}
	case jmespath.OpCall:
		return x.invoke(n, in)
	default:
		panic("an expression reference stands as an argument alone")
	}
}

// member reads a member of what a text gives.
func (x *exact) member(n *jmespath.Node, of string) string {
	name := "member"
	if inherited[n.Name] {
		name = "own"
	}
	value := x.call(name, of, literal(n.Name))
	switch {
	case isTime(n.Out):
		return x.call("time", value)
	case n.Out.Kinds&jmespath.IsArray != 0 && isTime(n.Out.Element()):
		return x.call("times", value)
	default:
		return value
	}
}

func (x *exact) literal(n *jmespath.Node) string {
	if strings.Contains(encode(n.Value), `"__proto__":`) { // which no text has, for its quotes are escaped
		x.unnameable(n)
	}
	return literal(n.Value)
}

// unnameable refuses a member that no object of JavaScript can be given.
func (x *exact) unnameable(n *jmespath.Node) {
	x.refuse(n.Offset, "JSONata cannot make an object with the member __proto__")
}

// multiSelect makes a list or an object of parts.
func (x *exact) multiSelect(n *jmespath.Node, in string, part func(i int) (name, value string)) string {
	made := "[]"
	if n.Op == jmespath.OpMultiHash {
		made = "{}"
	}
	for i := range n.Kids {
		name, value := part(i)
		if n.Op == jmespath.OpMultiList {
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
func (x *exact) choice(n *jmespath.Node, in string) string {
	left := x.variable()
	first, second := left, x.value(n.Kids[1], in)
	if n.Op == jmespath.OpAnd {
		first, second = second, first
	}
	return fmt.Sprintf("(%s := %s; $exists(%[1]s) ? (%[3]s(%[1]s) ? %[4]s : %[5]s))", left, x.value(n.Kids[0], in), x.need("truthy"), first, second)
}

// invoke is the call of a function of JMESPath.
func (x *exact) invoke(n *jmespath.Node, in string) string {
	args := make([]string, len(n.Kids))
	for i, kid := range n.Kids {
		if kid.Op == jmespath.OpRef {
			args[i] = x.function(kid.Kids[0])
		} else {
			args[i] = x.value(kid, in)
		}
	}
	switch n.Name {
	case "merge":
		return x.merge(args)
	case "not_null":
		return x.notNull(args)
	}
	f, ok := functionDefinitions[n.Name]
	if !ok {
		x.refuse(n.Offset, n.Name+"() has no equal in JSONata, which writes numbers with 15 digits and members in their own order")
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
