package terraform

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// scope has the names that an expression may use.
type scope interface {
	// root is the value of a reference's begin, such as var.name or each.value, and how
	// many of its steps that is. Zero steps stand for a name that is not known.
	root(e *evaluator, t hcl.Traversal) (v *Value, steps int)
	// rootFolder is where relative names of files lead from.
	rootFolder() string
}

// bindings are the names that a for expression or a template adds.
type bindings struct {
	scope

	values map[string]*Value
	// only tells that there are no others, as in a file of templatefile.
	only bool
}

func (b *bindings) root(e *evaluator, t hcl.Traversal) (*Value, int) {
	if v := b.values[t.RootName()]; v != nil {
		return v, 1
	}
	if b.only {
		return nil, 0
	}
	return b.scope.root(e, t)
}

// evaluator finds the values of expressions, for one definition.
type evaluator struct {
	*reader

	budget *budget
	depth  int
	// locals are those of module instances that have been found, and open those that are
	// being found.
	locals map[local]*Value
	open   map[local]bool
	// chosen says what unknown conditions are, by their places, and met are those without
	// an entry that were met: they were taken as true.
	chosen map[Place]bool
	met    []condition
}

// local is a local value of a module instance.
type local struct {
	module *module
	name   string
}

// condition is an unknown condition that decides about the definition.
type condition struct {
	at     Place
	source string
}

// eval is the value of an expression.
func (e *evaluator) eval(x hclsyntax.Expression, s scope) *Value {
	at, source := e.units.place(x.Range()), e.units.source(x.Range())
	if e.depth++; e.depth > maxDepth || !e.budget.step() {
		e.depth--
		return unknownValue(source, at)
	}
	defer func() { e.depth-- }()
	switch x := x.(type) {
	case *hclsyntax.LiteralValueExpr:
		v := fromCty(x.Val, source, at, e.budget)
		if v.Written = true; v.Kind == Number && json.Valid([]byte(source)) {
			v.Literal = source
		}
		return v
	case *hclsyntax.TemplateExpr:
		return e.compose(x, s, at)
	case *hclsyntax.TemplateWrapExpr:
		return e.eval(x.Wrapped, s).standsAt(e.units.around(x.Wrapped.Range()))
	case *hclsyntax.TemplateJoinExpr:
		return e.textOf(e.part(x, s, false), at)
	case *hclsyntax.ParenthesesExpr:
		return e.eval(x.Expression, s)
	case *hclsyntax.ObjectConsKeyExpr:
		return e.key(x, s)
	case *hclsyntax.ObjectConsExpr:
		return e.object(x, s, at)
	case *hclsyntax.TupleConsExpr:
		out := &Value{Kind: List, At: at, Written: true}
		for _, item := range x.Exprs {
			out.Items = append(out.Items, e.used(item, s))
		}
		return out
	case *hclsyntax.ConditionalExpr:
		return e.choose(x, s, at, source)
	case *hclsyntax.ForExpr:
		return e.each(x, s, at, source)
	case *hclsyntax.FunctionCallExpr:
		return e.call(x, s, at, source)
	case *hclsyntax.ScopeTraversalExpr:
		v, steps := s.root(e, x.Traversal)
		if steps == 0 || steps > len(x.Traversal) {
			return unknownValue(source, at)
		}
		return e.follow(v, x.Traversal[steps:], source, at)
	case *hclsyntax.RelativeTraversalExpr:
		return e.follow(e.eval(x.Source, s), x.Traversal, source, at)
	case *hclsyntax.IndexExpr:
		return stepInto(e.eval(x.Collection, s), e.eval(x.Key, s), source, at)
	case *hclsyntax.SplatExpr:
		return e.splat(x, s, at, source)
	case *hclsyntax.BinaryOpExpr:
		return e.operate(x.Op, source, at, e.eval(x.LHS, s), e.eval(x.RHS, s))
	}
	return e.evalRare(x, s, at, source)
}

// evalRare is the value of an expression of the kinds that few definitions have.
func (e *evaluator) evalRare(x hclsyntax.Expression, s scope, at Place, source string) *Value {
	switch x := x.(type) {
	case *hclsyntax.AnonSymbolExpr:
		if v, _ := s.root(e, hcl.Traversal{hcl.TraverseRoot{Name: anonymous}}); v != nil {
			return v
		}
	case *hclsyntax.UnaryOpExpr:
		v := e.operate(x.Op, source, at, e.eval(x.Val, s))
		if _, ok := x.Val.(*hclsyntax.LiteralValueExpr); ok && v.Kind == Number && json.Valid([]byte(source)) {
			v.Literal, v.Written = source, true
		}
		return v
	}
	return unknownValue(source, at)
}

// anonymous is the name of a splat's item: no name of Terraform's is like it.
const anonymous = "[*]"

// textOf is a string of a text.
func (e *evaluator) textOf(t Text, at Place) *Value {
	return &Value{Kind: String, Text: t, At: at, Written: len(t) == 0 || len(t) == 1 && t[0].Exact}
}

// compose is the text of a string, a heredoc or a file.
func (e *evaluator) compose(x *hclsyntax.TemplateExpr, s scope, at Place) *Value {
	u := e.units.of(x.SrcRange)
	start := x.SrcRange.Start.Byte
	quoted := start > 0 && start < len(u.bytes) && u.bytes[start] == '"'
	v := e.textOf(e.parts(x, s, quoted), at)
	v.Written = true
	for _, p := range x.Parts {
		if literal, ok := p.(*hclsyntax.LiteralValueExpr); !ok || literal.Val.Type() != cty.String {
			v.Written = false
		}
	}
	return v
}

func (e *evaluator) parts(x *hclsyntax.TemplateExpr, s scope, quoted bool) Text {
	var out Text
	for _, p := range x.Parts {
		t := e.part(p, s, quoted)
		if !e.budget.take(t.size()) {
			return append(out, Piece{Hole: &Hole{Source: e.units.source(x.SrcRange)}, At: e.units.place(p.Range())})
		}
		out = append(out, t...)
	}
	return out
}

// part is the text of a part of a template.
func (e *evaluator) part(p hclsyntax.Expression, s scope, quoted bool) Text {
	switch x := p.(type) {
	case *hclsyntax.LiteralValueExpr:
		if x.Val.Type() == cty.String && x.Val.IsKnown() && !x.Val.IsNull() {
			return e.units.literal(x.Val.AsString(), x.SrcRange, quoted)
		}
	case *hclsyntax.ConditionalExpr:
		if e.isDirective(x.SrcRange) {
			return e.arm(x, s, quoted)
		}
	case *hclsyntax.TemplateJoinExpr:
		if loop, ok := x.Tuple.(*hclsyntax.ForExpr); ok {
			return e.repeat(loop, s, quoted)
		}
	}
	v := e.eval(p, s)
	around := e.units.around(p.Range())
	if text, ok := v.standsAt(around).text(); ok {
		return text
	}
	return Text{{Hole: &Hole{Source: e.units.source(p.Range()), failed: true}, At: around}}
}

func (e *evaluator) isDirective(r hcl.Range) bool {
	u := e.units.of(r)
	return bytes.HasPrefix(u.bytes[min(r.Start.Byte, len(u.bytes)):], []byte("%{"))
}

// arm is the text of %{ if }.
func (e *evaluator) arm(x *hclsyntax.ConditionalExpr, s scope, quoted bool) Text {
	chosen := x.FalseResult
	if is, known := e.isTrue(e.eval(x.Condition, s)); is || !known && e.decide(x.Condition) {
		chosen = x.TrueResult
	}
	if text, ok := chosen.(*hclsyntax.TemplateExpr); ok {
		return e.parts(text, s, quoted)
	}
	return e.part(chosen, s, quoted)
}

// repeat is the text of %{ for }.
func (e *evaluator) repeat(x *hclsyntax.ForExpr, s scope, quoted bool) Text {
	var out Text
	known := e.iterate(x, s, func(inner *bindings) bool {
		text, ok := x.ValExpr.(*hclsyntax.TemplateExpr)
		if ok {
			t := e.parts(text, inner, quoted)
			out, ok = append(out, t...), e.budget.take(t.size())
		}
		return ok
	})
	if !known {
		return Text{{Hole: &Hole{Source: e.units.source(x.CollExpr.Range())}, At: e.units.place(x.SrcRange)}}
	}
	return out
}

// key is the name of an object's member: a word, or an expression.
func (e *evaluator) key(x *hclsyntax.ObjectConsKeyExpr, s scope) *Value {
	if name := hcl.ExprAsKeyword(x.Wrapped); name != "" && !x.ForceNonLiteral {
		v := textValue(name, e.units.place(x.Range()))
		v.Written = true
		for i := range v.Text {
			v.Text[i].Exact = e.units.of(x.Range()).origins == nil
		}
		return v
	}
	return e.eval(x.Wrapped, s)
}

func (e *evaluator) object(x *hclsyntax.ObjectConsExpr, s scope, at Place) *Value {
	out := &Value{Kind: Object, At: at, Written: true}
	for _, item := range x.Items {
		name := e.eval(item.KeyExpr, s)
		key := e.units.place(item.KeyExpr.Range())
		text, ok := name.text()
		if !ok {
			return failedValue(e.units.source(item.KeyExpr.Range()), at)
		}
		if name.Kind != String {
			name = &Value{Kind: String, Text: text, At: name.At}
		}
		out.Members = append(out.Members, Member{Name: name, Key: key, Value: e.used(item.ValueExpr, s)})
	}
	return out
}

// used is the value of an expression that stands in an object or a list.
func (e *evaluator) used(x hclsyntax.Expression, s scope) *Value {
	v := e.eval(x, s)
	if at := e.units.place(x.Range()); v.At != at {
		given := *v
		given.Site = &at
		return &given
	}
	return v
}

// choose is the value of a condition's arm. If nobody knows the condition, an arm that is
// no scalar gives the definition another text.
func (e *evaluator) choose(x *hclsyntax.ConditionalExpr, s scope, at Place, source string) *Value {
	is, known := e.isTrue(e.eval(x.Condition, s))
	if known {
		if is {
			return e.eval(x.TrueResult, s).standsAt(at)
		}
		return e.eval(x.FalseResult, s).standsAt(at)
	}
	either := [2]*Value{e.eval(x.TrueResult, s), e.eval(x.FalseResult, s)}
	if either[0].isShort() && either[1].isShort() {
		return unknownValue(source, at)
	}
	if e.decide(x.Condition) {
		return either[0]
	}
	return either[1]
}

// decide says what an unknown condition is taken for.
func (e *evaluator) decide(x hclsyntax.Expression) bool {
	c := condition{e.units.place(x.Range()), e.units.source(x.Range())}
	if is, ok := e.chosen[c.at]; ok {
		return is
	}
	if !slices.Contains(e.met, c) {
		e.met = append(e.met, c)
	}
	return true
}

func (e *evaluator) isTrue(v *Value) (is, known bool) {
	text, ok := v.text()
	literal, whole := text.known()
	return literal == "true", ok && whole && (literal == "true" || literal == "false")
}

// iterate calls do for each item of what a for goes through, until it returns false. It
// tells whether all is known.
func (e *evaluator) iterate(x *hclsyntax.ForExpr, s scope, do func(inner *bindings) bool) bool {
	all, ok := elements(e.eval(x.CollExpr, s))
	if !ok {
		return false
	}
	for _, m := range all {
		inner := &bindings{scope: s, values: map[string]*Value{x.ValVar: m.Value}}
		if x.KeyVar != "" {
			inner.values[x.KeyVar] = m.Name
		}
		if x.CondExpr != nil {
			is, known := e.isTrue(e.eval(x.CondExpr, inner))
			if !known {
				return false
			}
			if !is {
				continue
			}
		}
		if !e.budget.step() || !do(inner) {
			return false
		}
	}
	return true
}

// each is the value of a for expression.
func (e *evaluator) each(x *hclsyntax.ForExpr, s scope, at Place, source string) *Value {
	out := &Value{Kind: List, At: at}
	if x.KeyExpr != nil {
		out.Kind = Object
	}
	known := e.iterate(x, s, func(inner *bindings) bool {
		v := e.eval(x.ValExpr, inner)
		if x.KeyExpr == nil {
			out.Items = append(out.Items, v)
			return true
		}
		name := e.eval(x.KeyExpr, inner)
		text, ok := name.text()
		if _, whole := text.known(); !ok || !whole {
			return false
		}
		if x.Group {
			return addToGroup(out, name, v, e.units.place(x.KeyExpr.Range()))
		}
		out.Members = append(out.Members, Member{
			Name: &Value{Kind: String, Text: text, At: name.At}, Key: e.units.place(x.KeyExpr.Range()), Value: v,
		})
		return true
	})
	if !known {
		return unknownValue(source, at)
	}
	return out
}

// addToGroup adds an item to the list that a member of an object is.
func addToGroup(out *Value, name, v *Value, at Place) bool {
	text, _ := name.Text.known()
	if group := out.get(text); group != nil {
		group.Items = append(group.Items, v)
		return true
	}
	out.Members = append(out.Members, Member{Name: name, Key: at, Value: &Value{Kind: List, Items: []*Value{v}, At: at}})
	return true
}

// splat is the value of a list's items, each followed.
func (e *evaluator) splat(x *hclsyntax.SplatExpr, s scope, at Place, source string) *Value {
	v := e.eval(x.Source, s)
	out := &Value{Kind: List, At: at}
	items := []*Value{v}
	switch v.Kind {
	case Unknown:
		return unknownValue(source, at)
	case Null:
		return out
	case List:
		items = v.Items
	case Bool, Number, String, Object:
	}
	for _, item := range items {
		out.Items = append(out.Items, e.eval(x.Each, &bindings{scope: s, values: map[string]*Value{anonymous: item}}))
	}
	return out
}

// follow is what the steps of a reference lead to. A scalar stands where it is asked for.
func (e *evaluator) follow(v *Value, steps hcl.Traversal, source string, at Place) *Value {
	for _, step := range steps {
		switch step := step.(type) {
		case hcl.TraverseAttr:
			v = stepInto(v, textValue(step.Name, at), source, at)
		case hcl.TraverseIndex:
			v = stepInto(v, fromCty(step.Key, source, at, e.budget), source, at)
		default:
			return unknownValue(source, at)
		}
	}
	if v.Kind == Unknown && len(steps) > 0 {
		return &Value{Kind: Unknown, Hole: &Hole{Source: source, failed: v.Hole.failed}, At: at}
	}
	return v.standsAt(at) // an unknown value keeps the name that it has at its origin
}

// operate is the value of an operation with values that are known.
func (e *evaluator) operate(op *hclsyntax.Operation, source string, at Place, operands ...*Value) *Value {
	if is, decided := e.shortcut(op, operands); decided {
		return fromCty(cty.BoolVal(is), source, at, e.budget)
	}
	args := make([]cty.Value, len(operands))
	for i, v := range operands {
		var ok bool
		if args[i], ok = v.toCty(e.budget); !ok {
			return unknownValue(source, at)
		}
	}
	return callStandard(op.Impl, args, source, at, e.budget)
}

// shortcut is the result of "and" and "or" of which one side is known and decides.
func (e *evaluator) shortcut(op *hclsyntax.Operation, operands []*Value) (is, decided bool) {
	if op != hclsyntax.OpLogicalAnd && op != hclsyntax.OpLogicalOr {
		return false, false
	}
	for _, v := range operands {
		if is, known := e.isTrue(v); known && is == (op == hclsyntax.OpLogicalOr) {
			return is, true
		}
	}
	return false, false
}
