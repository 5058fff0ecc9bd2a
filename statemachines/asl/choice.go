package asl

import (
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/internal/jsontree"
)

// Choice is the detail of a Choice state.
type Choice struct {
	Rules   []ChoiceRule
	Default string // empty if there is none
}

// ChoiceRule leads to a state if its condition holds.
type ChoiceRule struct {
	Condition          // in JSONPath mode
	Expression *Scalar // in JSONata mode: a bool
	Output     *Template
	Assign     *Template
	Next       string
	Comment    string
}

// Condition is a condition of a Choice rule: exactly one of And, Or, Not and
// Operator is set.
type Condition struct {
	And, Or []*Condition
	Not     *Condition

	Operator Operator
	Variable *jsonpath.Path
	// Value is what the variable is compared with: a string, a bool, a
	// json.Number or, for timestamps, a time.Time; nil if ValuePath is set.
	Value any
	// ValuePath is set for the "...Path" form of the operator.
	ValuePath *jsonpath.Path
}

// Operator is a comparison operator, without the "Path" of the form that
// compares with another value of the input.
type Operator string

// The comparison operators.
const (
	StringEquals               Operator = "StringEquals"
	StringLessThan             Operator = "StringLessThan"
	StringGreaterThan          Operator = "StringGreaterThan"
	StringLessThanEquals       Operator = "StringLessThanEquals"
	StringGreaterThanEquals    Operator = "StringGreaterThanEquals"
	StringMatches              Operator = "StringMatches"
	NumericEquals              Operator = "NumericEquals"
	NumericLessThan            Operator = "NumericLessThan"
	NumericGreaterThan         Operator = "NumericGreaterThan"
	NumericLessThanEquals      Operator = "NumericLessThanEquals"
	NumericGreaterThanEquals   Operator = "NumericGreaterThanEquals"
	BooleanEquals              Operator = "BooleanEquals"
	TimestampEquals            Operator = "TimestampEquals"
	TimestampLessThan          Operator = "TimestampLessThan"
	TimestampGreaterThan       Operator = "TimestampGreaterThan"
	TimestampLessThanEquals    Operator = "TimestampLessThanEquals"
	TimestampGreaterThanEquals Operator = "TimestampGreaterThanEquals"
	IsNull                     Operator = "IsNull"
	IsPresent                  Operator = "IsPresent"
	IsNumeric                  Operator = "IsNumeric"
	IsString                   Operator = "IsString"
	IsBoolean                  Operator = "IsBoolean"
	IsTimestamp                Operator = "IsTimestamp"
)

// operand says what an operator takes, and whether it has a "...Path" form.
type operand struct {
	kind      jsontree.Kind
	timestamp bool
	path      bool
}

var (
	stringOperand    = operand{kind: jsontree.String, path: true}
	numberOperand    = operand{kind: jsontree.Number, path: true}
	timestampOperand = operand{kind: jsontree.String, timestamp: true, path: true}
	testOperand      = operand{kind: jsontree.Bool}
)

var operators = map[Operator]operand{
	StringEquals: stringOperand, StringLessThan: stringOperand, StringGreaterThan: stringOperand,
	StringLessThanEquals: stringOperand, StringGreaterThanEquals: stringOperand,
	StringMatches: {kind: jsontree.String},
	NumericEquals: numberOperand, NumericLessThan: numberOperand, NumericGreaterThan: numberOperand,
	NumericLessThanEquals: numberOperand, NumericGreaterThanEquals: numberOperand,
	BooleanEquals:   {kind: jsontree.Bool, path: true},
	TimestampEquals: timestampOperand, TimestampLessThan: timestampOperand, TimestampGreaterThan: timestampOperand,
	TimestampLessThanEquals: timestampOperand, TimestampGreaterThanEquals: timestampOperand,
	IsNull: testOperand, IsPresent: testOperand, IsNumeric: testOperand,
	IsString: testOperand, IsBoolean: testOperand, IsTimestamp: testOperand,
}

// operatorNames is every operator as it may stand in a rule, sorted.
var operatorNames = func() []string {
	var names []string
	for op, operand := range operators {
		names = append(names, string(op))
		if operand.path {
			names = append(names, string(op)+"Path")
		}
	}
	slices.Sort(names)
	return names
}()

func (p *parser) choice(o *object) *Choice {
	c := &Choice{Default: o.target("Default", false)}
	for _, n := range o.list("Choices", true) {
		if p.placeholder(n, true) {
			p.references = append(p.references, n)
			c.Rules = append(c.Rules, ChoiceRule{Condition: openCondition, Next: n.Text})
			continue
		}
		rule := p.open(n, "a choice rule")
		if rule == nil {
			continue
		}
		parsed := ChoiceRule{Comment: rule.text("Comment"), Next: rule.target("Next", true), Assign: rule.assign()}
		if p.language == JSONata {
			parsed.Expression = rule.condition()
			parsed.Output = rule.template("Output")
			rule.close()
		} else {
			parsed.Condition = *p.condition(rule)
		}
		c.Rules = append(c.Rules, parsed)
	}
	if c.Default == "" && !o.has("Default") {
		p.warn(o.node.Problem("if no rule matches, the execution fails with States.Runtime, which nothing catches; add \"Default\""))
	}
	return c
}

// condition reads the field Condition of a rule in JSONata mode.
func (o *object) condition() *Scalar {
	o.require("Condition")
	return o.scalar("Condition", anyPath, func(n *jsontree.Node) any {
		if n.Kind != jsontree.Bool {
			o.p.add(n.Problem("\"Condition\" must be a boolean or a JSONata expression in \"{%% %%}\", found %s", n.Describe()))
		}
		return n.Value()
	})
}

// condition reads the condition that stands in an object, and closes it.
func (p *parser) condition(o *object) *Condition {
	c := &Condition{}
	var found []string
	for _, name := range slices.Concat([]string{"And", "Or", "Not"}, operatorNames) {
		if o.has(name) {
			found = append(found, name)
		}
	}
	if len(found) != 1 {
		p.wantOneOperator(o, found)
	} else {
		name := found[0]
		if !slices.Contains(operatorNames, name) && o.has("Variable") {
			p.add(o.node.Get("Variable").Problem("\"Variable\" needs a comparison operator, not %q", name))
		}
		c = p.operation(o, name)
	}
	o.close(slices.Concat([]string{"And", "Or", "Not", "Variable"}, operatorNames)...)
	return c
}

// operation reads the operator of a condition and what it is applied to.
func (p *parser) operation(o *object, name string) *Condition {
	switch name {
	case "And", "Or":
		if p.placeholder(o.get(name), true) {
			return &openCondition
		}
		parts := p.conditions(o.list(name, true))
		if name == "And" {
			return &Condition{And: parts}
		}
		return &Condition{Or: parts}
	case "Not":
		return &Condition{Not: p.innerCondition(o.get(name))}
	default:
		c := &Condition{}
		p.comparison(o, name, c)
		return c
	}
}

func (p *parser) conditions(nodes []*jsontree.Node) []*Condition {
	var out []*Condition
	for _, n := range nodes {
		if c := p.innerCondition(n); c != nil {
			out = append(out, c)
		}
	}
	return out
}

// openCondition is a condition of which nothing is known.
var openCondition = Condition{Operator: IsPresent, Variable: openPath}

// innerCondition reads a condition inside of another; nil if it is none.
func (p *parser) innerCondition(n *jsontree.Node) *Condition {
	if p.placeholder(n, true) {
		return &openCondition
	}
	o := p.open(n, "a condition")
	if o == nil {
		return nil
	}
	o.text("Comment")
	return p.condition(o)
}

// wantOneOperator reports a condition with no operator or with several. If it
// has an unknown member, that is the mistake, and close reports it.
func (p *parser) wantOneOperator(o *object, found []string) {
	o.has("Variable")
	if len(found) > 1 {
		p.add(o.node.Problem("expected exactly one of And, Or, Not and the comparison operators, found %s", strings.Join(found, ", ")))
		return
	}
	for _, m := range o.node.Members {
		if !slices.Contains(o.known, m.Name) {
			return
		}
	}
	p.add(o.node.Problem("expected one of And, Or, Not or a comparison operator such as StringEquals, found none"))
}

func (p *parser) comparison(o *object, name string, c *Condition) {
	o.require("Variable")
	if n := o.get("Variable"); n != nil {
		c.Variable = p.path(n, anyPath)
	}
	base, isPath := Operator(name), false
	want, ok := operators[base]
	if !ok {
		base, isPath = Operator(strings.TrimSuffix(name, "Path")), true
		want = operators[base]
	}
	c.Operator = base
	if isPath {
		c.ValuePath = p.path(o.get(name), anyPath)
		return
	}
	n := o.get(name)
	if p.placeholder(n, true) {
		return
	}
	if n.Kind != want.kind {
		p.add(n.Problem("%s takes %s, found %s", name, want.kind, n.Describe()))
		return
	}
	c.Value = n.Value()
	if want.timestamp {
		if t, ok := p.timestamp(n); ok {
			c.Value = t
		}
	}
}
