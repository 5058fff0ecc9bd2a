// Package tojsonata writes JMESPath expressions as JSONata, for the conditions
// and arguments of Step Functions' states.
package tojsonata

import (
	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

// Translation writes an expression as JSONata 2.0.6 for Step Functions, for
// values of a type as results of SDK integrations have them: a member that is
// null is not there, no element of a list is null, and a timestamp is a string.
// Where the types allow it the text is one that a person can read; else it is
// exact, which gives the same for any JSON value and is long.
//
// Its conditions are true or false: an evaluation of JMESPath that is an error
// matches nothing. A value that is not of its described type is still given
// true or false, but for two errors that end the evaluation of JSONata:
// comparing what are no numbers by < <= > or >=, and reading a timestamp that is
// not as RFC 3339 has it. With a nil Schema there is no type to break.
//
// The exact form calls functions for each element of a list. Lists of some
// thousands take it near the second that Step Functions gives an expression.
//
// What JSONata does otherwise, and what is left so: it orders strings by UTF-16
// units, it takes -0 for 0, to_number() is null for an exponent above 99 and for
// more than 200 digits, a sum beyond the range of a float is an error, and
// merge() leaves out a member __proto__.
//
// The methods fail with an [*jmespath.Error] of the code [jmespath.Untranslatable] for what JSONata
// cannot say, which is to_string(), nesting beyond what Step Functions
// evaluates, the member __proto__ of an object that is made, and timestamps that
// are taken from where the types do not show them any more.
type Translation struct {
	expr *jmespath.Expr
	root string
	tree *jmespath.Node
}

// Translate returns the translation of e for values that s describes; nil stands
// for any JSON value. Root is the JSONata path of the value, such as
// "$states.result".
func Translate(e *jmespath.Expr, root string, s *jsontype.Type) *Translation {
	return &Translation{expr: e, root: root, tree: e.Tree(s)}
}

// EqualsString is true if the value is the string.
func (t *Translation) EqualsString(want string) (string, error) { return t.equals(want) }

// EqualsBool is true if the value is the boolean.
func (t *Translation) EqualsBool(want bool) (string, error) { return t.equals(want) }

// AnyEqualString is true if the value is an array and an element is the
// string.
func (t *Translation) AnyEqualString(want string) (string, error) {
	if c := (readable{}).matches(t.tree, path(t.root), want, false); t.take(c) {
		return c.text, nil
	}
	return t.exact((*exact).value, "($v := ", `; $type($v) = 'array' and `+literal(want)+` in $v)`)
}

// AllEqualString is true if the value is an array of at least one element and
// every element is the string.
func (t *Translation) AllEqualString(want string) (string, error) {
	if c := (readable{}).matches(t.tree, path(t.root), want, true); t.take(c) {
		return c.text, nil
	}
	return t.exact((*exact).value, "($v := ", `; $type($v) = 'array' and $v != [] and $reduce($v, function($b, $e){ $b and $e = `+literal(want)+` }, true))`)
}

// Value gives the value, or nothing if it is null or an error. An array may come
// as a sequence, as JSONata's paths give them: as nothing if it is empty, and as
// its element if it has one. The values of an object come in its order, and
// timestamps in an object as Step Functions has them.
func (t *Translation) Value() (string, error) {
	if v := (readable{}).result(t.tree, path(t.root)); t.take(v) {
		return v.text, nil
	}
	return t.exact((*exact).value, "($v := ", "; $v != null ? $v)")
}

// Path is a path of JSONata to the value, if it is one that a person can read
// and that always has a value or is null: see [Translation.Value].
func (t *Translation) Path() (string, bool) {
	v := (readable{}).result(t.tree, path(t.root))
	return v.text, v.binds == bindsPath && t.take(v)
}

func (t *Translation) equals(want any) (string, error) {
	if c := (readable{}).equals(t.tree, path(t.root), want); t.take(c) {
		return c.text, nil
	}
	return t.exact((*exact).value, "", " = "+literal(want))
}

// take reports whether a readable form is written and does not nest too deep.
func (t *Translation) take(c term) bool { return c.isKnown() && c.nesting() <= maxNestedEvaluations }

// exact writes what stands before and behind the exact form.
func (t *Translation) exact(write func(*exact, *jmespath.Node, string) string, before, behind string) (string, error) {
	text, err := exactly(t.expr.String(), t.tree, t.root, write)
	if err != nil {
		return "", err
	}
	return before + text + behind, nil
}
