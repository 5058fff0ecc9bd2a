package jsonata

import "context"

// PartKind says what a Part of an expression is.
type PartKind uint8

// The kinds of parts.
const (
	PartOther     PartKind = iota // anything else, such as a wildcard
	PartLiteral                   // Value: a string, a float64, a bool or nil
	PartVariable                  // Text: the name without $; "" is the context
	PartName                      // Text: a member of what stands before it
	PartPath                      // Parts are the steps
	PartBinary                    // Text is the operator, Parts its two operands
	PartArray                     // Parts are the items
	PartObject                    // Parts are the names and values in turn
	PartBlock                     // Parts follow each other
	PartCondition                 // Parts are the condition and what it leads to
	PartBind                      // $Text := Parts[0]
	PartCall                      // the function $Text of the arguments Parts; of a ~> $Text(b), too
	PartRegex                     // a pattern
	PartLambda                    // a function that the expression makes: Lambda
	PartRange                     // an item of an array that stands for whole numbers: Parts are the first and the last
	PartApply                     // a function that is no variable, Parts[0], called for the other Parts
	PartTransform                 // the function |Parts[0]|Parts[1], Parts[2]|; Parts[2] may lack
	PartSort                      // a step that puts items in another order: Parts are its terms
	PartTerm                      // what a sort compares, Parts[0]: Text is "<", or ">" for descending
	PartGroup                     // Parts[0], whose items are grouped by names: the other Parts are names and values in turn
)

// Part is a part of an expression, for those who follow it through types and not
// through values.
type Part struct {
	Kind   PartKind
	Offset int // of its first byte in the text
	Text   string
	Value  any
	Parts  []Part
	// Filters follow the part in brackets.
	Filters []Part
	Lambda  *Lambda

	node *node
}

// Lambda is a function that an expression makes. Its parts are read where it is called.
type Lambda struct {
	Params []string
	Body   Part
}

// Part returns the whole expression.
func (e *Expression) Part() Part { return partOf(e.root) }

func partOf(n *node) Part {
	p := Part{Kind: PartOther, Offset: n.offset, Text: n.text, node: n}
	if n.focus != "" || n.index != "" || n.tuple || n.ancestor != nil {
		return p
	}
	if n.group != nil {
		whole := *n
		whole.group = nil
		p.Kind, p.Parts = PartGroup, append([]Part{partOf(&whole)}, partsOfPairs(n.group.pairs)...)
		return p
	}
	for _, s := range n.stages {
		if s.filter == nil {
			return p
		}
		p.Filters = append(p.Filters, partOf(s.filter))
	}
	p.read(n)
	return p
}

// Undefined is an operand of Apply that has no value.
var Undefined = undefined

// Apply evaluates a PartBinary, or a PartCall of a function of the language, with
// values in the place of its Parts: JSON values, or Undefined. A PartRegex stands for
// itself. Its errors are those of [Expression.Eval].
func (p *Part) Apply(operands []any) (any, error) {
	nodes := make([]*node, len(operands))
	for i, operand := range operands {
		switch {
		case p.Parts[i].Kind == PartRegex:
			nodes[i] = p.Parts[i].node
		case operand == Undefined:
			nodes[i] = &node{kind: nodeHole}
		default:
			nodes[i] = &node{kind: nodeConstant, value: operand}
		}
	}
	n := &node{kind: nodeCall, left: &node{kind: nodeVariable, text: p.Text}, items: nodes}
	if p.Kind == PartBinary {
		n = &node{kind: nodeBinary, text: p.Text, left: nodes[0], right: nodes[1]}
	}
	e := &Expression{text: p.Text, root: n}
	return e.Eval(context.Background(), Environment{})
}

// read gives the part what its kind of node says.
func (p *Part) read(n *node) {
	switch n.kind {
	case nodeString, nodeNumber, nodeConstant:
		p.Kind, p.Value = PartLiteral, n.value
	case nodeVariable:
		p.Kind = PartVariable
	case nodeName:
		p.Kind = PartName
	case nodePath:
		p.Kind, p.Parts = PartPath, partsOf(n.items)
	case nodeBinary:
		p.Kind, p.Parts = PartBinary, partsOf([]*node{n.left, n.right})
	case nodeRange:
		p.Kind, p.Parts = PartRange, partsOf([]*node{n.left, n.right})
	case nodeArray:
		p.Kind, p.Parts = PartArray, partsOf(n.items)
	case nodeObject:
		p.Kind, p.Parts = PartObject, partsOfPairs(n.pairs)
	case nodeBlock:
		p.Kind, p.Parts = PartBlock, partsOf(n.items)
	case nodeCondition:
		p.Kind, p.Parts = PartCondition, append(partsOf([]*node{n.left}), partsOf(n.items)...)
	case nodeBind:
		p.Kind, p.Parts = PartBind, partsOf([]*node{n.right})
	case nodeCall:
		p.call(n.left, n.items)
	case nodeApply:
		if f := n.right; f.kind == nodeCall && len(f.stages) == 0 {
			p.call(f.left, append([]*node{n.left}, f.items...))
		} else {
			p.call(f, []*node{n.left})
		}
	case nodeTransform:
		p.Kind, p.Parts = PartTransform, partsOf(append([]*node{n.left, n.right}, n.items...))
	case nodeSort:
		p.Kind, p.Parts = PartSort, partsOfTerms(n.terms)
	case nodeRegex:
		p.Kind = PartRegex
	case nodeLambda:
		if n.signature == nil {
			p.Kind, p.Lambda = PartLambda, &Lambda{Params: n.params, Body: partOf(n.right)}
		}
	default:
	}
}

// call makes the part a call of a function.
func (p *Part) call(function *node, arguments []*node) {
	if function.kind == nodeVariable && len(function.stages) == 0 {
		p.Kind, p.Text, p.Parts = PartCall, function.text, partsOf(arguments)
		return
	}
	p.Kind, p.Parts = PartApply, partsOf(append([]*node{function}, arguments...))
}

func partsOfTerms(terms []term) []Part {
	var out []Part
	for _, t := range terms {
		by := Part{Kind: PartTerm, Text: "<", Parts: []Part{partOf(t.by)}}
		if t.descending {
			by.Text = ">"
		}
		out = append(out, by)
	}
	return out
}

func partsOfPairs(pairs []pair) []Part {
	var out []Part
	for _, m := range pairs {
		out = append(out, partOf(m.key), partOf(m.value))
	}
	return out
}

func partsOf(nodes []*node) []Part {
	out := make([]Part, len(nodes))
	for i, n := range nodes {
		out[i] = partOf(n)
	}
	return out
}
