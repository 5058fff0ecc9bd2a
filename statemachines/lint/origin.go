package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsonata"
	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// operand is a value that a state reads: a variable or a part of it, or a part of the input.
type operand struct {
	variable string   // empty for the input
	steps    []string // members, and items in brackets
}

func (o operand) String() string {
	return strings.Join(append([]string{"$" + o.variable}, o.steps...), ".")
}

// path is the steps as those of a path of typecheck.
func (o operand) path() []string {
	path := make([]string, len(o.steps))
	for i, step := range o.steps {
		path[i] = strings.Trim(step, "[]")
	}
	return path
}

// inJSONata is the operand as an expression of JSONata spells it.
func (o operand) inJSONata() string {
	name := "$" + o.variable
	if o.variable == "" {
		name = "$states.input"
	}
	for _, step := range o.steps {
		if strings.HasPrefix(step, "[") {
			name += step
		} else {
			name += "." + step
		}
	}
	return name
}

// below is a part of the operand.
func (o operand) below(steps []string) operand {
	return operand{o.variable, slices.Concat(o.steps, steps)}
}

// overlaps tells whether one of two operands is a part of the other, or the same.
func (o operand) overlaps(other operand) bool {
	n := min(len(o.steps), len(other.steps))
	return o.variable == other.variable && slices.Equal(o.steps[:n], other.steps[:n])
}

// formula is how a value is computed.
type formula struct {
	text     string
	operands []operand
	copies   bool // it is its one operand
	call     bool // it is the result of a call, or a part of it
	counts   bool // it adds to a number, or takes a part of a list: of itself, it is another each time
	picks    bool // it takes a part of a list
	// results are the parts of the state's result that it reads, selects tells that it is one of them,
	// and opaque that it may read more.
	results [][]string
	selects bool
	opaque  bool
}

// copyOf is the formula of an operand itself.
func copyOf(o operand) formula { return formula{operands: []operand{o}, copies: true} }

// resultOf is the formula of a part of the result of a state.
func resultOf(s *asl.State, steps []string) formula {
	return formula{text: "result of " + s.Name + " " + strings.Join(steps, "."), call: true, results: [][]string{steps}, selects: true}
}

// part is the formula of a part of the value.
func (f formula) part(steps []string) formula {
	switch {
	case len(steps) == 0:
		return f
	case f.copies:
		return copyOf(f.operands[0].below(steps))
	case f.selects:
		f.results = [][]string{slices.Concat(f.results[0], steps)}
	}
	f.text += " ." + strings.Join(steps, ".")
	return f
}

// with is the formula with what another reads.
func (f formula) with(o formula) formula {
	return formula{
		text: f.text + "(" + o.text + ")", operands: append(slices.Clip(f.operands), o.operands...), copies: f.copies,
		call: f.call || o.call, counts: f.counts || o.counts, picks: f.picks || o.picks, results: slices.Concat(f.results, o.results), opaque: f.opaque || o.opaque,
	}
}

// scope is where the template of a state is read.
type scope struct {
	state *asl.State
	// doc is what "$" of JSONPath and $states.input of JSONata are: a part of the state's input,
	// or its result if onResult is set.
	doc      []string
	onResult bool
}

// template is the formula of a part of the value that a template gives.
func (c scope) template(t *asl.Template, steps []string) formula {
	switch {
	case t.Path != nil:
		return c.path(t.Path).part(steps)
	case t.Expression != nil:
		part := t.Expression.Part()
		return c.expression(&part, steps)
	case t.Intrinsic != nil:
		f := formula{
			text: t.Intrinsic.String(), counts: strings.Contains(t.Intrinsic.String(), "States.MathAdd("),
			picks: strings.Contains(t.Intrinsic.String(), "States.ArrayGetItem("),
		}
		for _, path := range t.Intrinsic.Paths() {
			f = f.with(c.path(path))
		}
		return f.part(steps)
	case len(t.Object) > 0 && len(steps) > 0:
		if m := findMember(t, steps[0]); m != nil {
			return c.template(m, steps[1:])
		}
		return formula{text: "nothing"}
	}
	f := formula{text: fmt.Sprint(t.Literal)}
	for _, m := range t.Object {
		f.text += m.Name
		f = f.with(c.template(m.Value, nil))
	}
	for _, item := range t.Array {
		f = f.with(c.template(item, nil))
	}
	return f.part(steps)
}

// path is the formula of a path.
func (c scope) path(p *jsonpath.Path) formula {
	if p.Context() {
		return formula{text: p.String()}
	}
	steps, whole := stepsOf(p)
	f := copyOf(operand{p.Variable(), steps})
	if p.Variable() == "" {
		if c.onResult {
			return resultOf(c.state, steps)
		}
		f = copyOf(operand{steps: slices.Concat(c.doc, steps)})
	}
	if !whole || p.Function() != "" {
		f.text, f.copies, f.counts, f.picks = p.String(), false, true, true
	}
	return f
}

// stepsOf are the steps of a path up to the first that selects several values, and whether there
// is none.
func stepsOf(p *jsonpath.Path) (steps []string, whole bool) {
	for _, s := range p.Steps() {
		switch {
		case s.Kind == jsonpath.StepName && !s.Deep:
			steps = append(steps, s.Names[0])
		case s.Kind == jsonpath.StepIndex && !s.Deep:
			steps = append(steps, fmt.Sprintf("[%d]", s.Index))
		default:
			return steps, false
		}
	}
	return steps, true
}

// expression is the formula of a part of what a JSONata expression gives.
func (c scope) expression(p *jsonata.Part, steps []string) formula {
	if f, plain := c.plain(p); plain {
		return f.part(steps)
	}
	if len(steps) > 0 && len(p.Filters) == 0 {
		if f, found := c.member(p, steps); found {
			return f
		}
	}
	f := formula{text: fmt.Sprintf("%d %s %v", p.Kind, p.Text, p.Value), counts: counts(p), picks: picks(p)}
	parts := slices.Concat(p.Parts, p.Filters)
	if first, rest, found := c.unfiltered(p); found {
		parts = rest
		f = f.with(first)
	}
	for _, part := range parts {
		f = f.with(c.expression(&part, nil))
	}
	return f.part(steps)
}

// unfiltered is the formula of a path of members up to the first that a condition filters, as Jobs is in
// $states.result.Jobs[Status = 'FAILED'].Id; rest are the condition and what is behind it.
func (c scope) unfiltered(p *jsonata.Part) (f formula, rest []jsonata.Part, found bool) {
	for i := range p.Parts {
		if part := p.Parts[i]; p.Kind == jsonata.PartPath && len(part.Filters) > 0 {
			head := slices.Clone(p.Parts[:i+1])
			head[i].Filters = nil
			if f, found = c.plain(&jsonata.Part{Kind: p.Kind, Parts: head}); found {
				return f, slices.Concat(part.Filters, p.Parts[i+1:], p.Filters), true
			}
		}
	}
	f, found = c.plain(&jsonata.Part{Kind: p.Kind, Parts: p.Parts, Text: p.Text})
	return f, p.Filters, found
}

// picks tells whether a part of an expression takes a part of a list.
func picks(p *jsonata.Part) bool {
	isFiltered := func(part jsonata.Part) bool { return len(part.Filters) > 0 }
	return isFiltered(*p) || p.Kind == jsonata.PartPath && slices.ContainsFunc(p.Parts, isFiltered)
}

// counts tells whether a part of an expression adds to a number, or takes a part of a list.
func counts(p *jsonata.Part) bool {
	return len(p.Filters) > 0 || p.Kind == jsonata.PartBinary && (p.Text == "+" || p.Text == "-") ||
		p.Kind == jsonata.PartCall && (p.Text == "filter" || p.Text == "append")
}

// member is the formula of a part of an object, or of objects that $merge makes one of.
func (c scope) member(p *jsonata.Part, steps []string) (f formula, found bool) {
	switch {
	case p.Kind == jsonata.PartObject:
		for i := 0; i+1 < len(p.Parts); i += 2 {
			if p.Parts[i].Value == steps[0] {
				return c.expression(&p.Parts[i+1], steps[1:]), true
			}
		}
	case p.Kind == jsonata.PartCall && p.Text == "merge" && len(p.Parts) == 1 && p.Parts[0].Kind == jsonata.PartArray:
		for _, part := range slices.Backward(p.Parts[0].Parts) {
			if f, found := c.member(&part, steps); found {
				return f, true
			}
			if part.Kind != jsonata.PartObject {
				return c.expression(&part, steps), true
			}
		}
	}
	return formula{}, false
}

// plain is the formula of a path of members from a variable on; false for anything else.
func (c scope) plain(p *jsonata.Part) (formula, bool) {
	parts := []jsonata.Part{*p}
	if p.Kind == jsonata.PartPath {
		parts = p.Parts
	}
	if len(parts) == 0 || len(p.Filters) > 0 || parts[0].Kind != jsonata.PartVariable || parts[0].Text == "" {
		return formula{}, false
	}
	var steps []string
	for i, part := range parts {
		if i > 0 && part.Kind != jsonata.PartName {
			return formula{}, false
		}
		if i > 0 {
			steps = append(steps, part.Text)
		}
		for _, filter := range part.Filters {
			n, number := filter.Value.(float64)
			if !number {
				return formula{}, false
			}
			steps = append(steps, fmt.Sprintf("[%v]", n))
		}
	}
	switch {
	case parts[0].Text != "states":
		return copyOf(operand{parts[0].Text, steps}), true
	case len(steps) > 0 && steps[0] == "input":
		return copyOf(operand{steps: steps[1:]}), true
	case len(steps) > 0 && steps[0] == "result":
		return resultOf(c.state, steps[1:]), true
	default:
		return formula{text: strings.Join(steps, "."), opaque: len(steps) == 0}, true
	}
}

// operandsOfRule are the operands of the condition of a rule.
func operandsOfRule(r *asl.ChoiceRule) []operand {
	if r.Expression == nil {
		return operandsOfCondition(&r.Condition)
	}
	if r.Expression.Expression == nil {
		return nil
	}
	part := r.Expression.Expression.Part()
	return scope{}.expression(&part, nil).operands
}

func operandsOfCondition(c *asl.Condition) []operand {
	var all []operand
	if c.Not != nil {
		all = operandsOfCondition(c.Not)
	}
	for _, part := range slices.Concat(c.And, c.Or) {
		all = append(all, operandsOfCondition(part)...)
	}
	for _, path := range []*jsonpath.Path{c.Variable, c.ValuePath} {
		if path != nil {
			all = append(all, scope{}.path(path).operands...)
		}
	}
	return all
}

// forComparisons does something with each part of an expression that "and", "or" and $not join.
func forComparisons(p *jsonata.Part, do func(*jsonata.Part)) {
	joins := p.Kind == jsonata.PartBinary && (p.Text == "and" || p.Text == "or") || p.Kind == jsonata.PartCall && p.Text == "not" ||
		p.Kind == jsonata.PartBlock && len(p.Parts) == 1
	if !joins || len(p.Filters) > 0 {
		do(p)
		return
	}
	for i := range p.Parts {
		forComparisons(&p.Parts[i], do)
	}
}
