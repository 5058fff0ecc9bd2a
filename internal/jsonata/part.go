package jsonata

// PartKind says what a Part of an expression is.
type PartKind uint8

// The kinds of parts.
const (
	PartOther     PartKind = iota // anything else, such as a function or a sort
	PartLiteral                   // Value: a string, a float64, a bool or nil
	PartVariable                  // Text: the name without $; "" is the context
	PartName                      // Text: a member of what stands before it
	PartPath                      // Parts are the steps
	PartBinary                    // Text is the operator, Parts its two operands
	PartArray                     // Parts are the items; one that is a range is PartOther
	PartObject                    // Parts are the names and values in turn
	PartBlock                     // Parts follow each other
	PartCondition                 // Parts are the condition and what it leads to
	PartBind                      // $Text := Parts[0]
	PartCall                      // the function $Text of the arguments Parts
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
}

// Part returns the whole expression.
func (e *Expression) Part() Part { return partOf(e.root) }

func partOf(n *node) Part {
	p := Part{Kind: PartOther, Offset: n.offset, Text: n.text}
	if n.group != nil || n.focus != "" || n.index != "" || n.tuple || n.ancestor != nil {
		return p
	}
	for _, s := range n.stages {
		if s.filter == nil {
			return p
		}
		p.Filters = append(p.Filters, partOf(s.filter))
	}
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
	case nodeArray:
		p.Kind, p.Parts = PartArray, partsOf(n.items)
	case nodeObject:
		p.Kind = PartObject
		for _, m := range n.pairs {
			p.Parts = append(p.Parts, partOf(m.key), partOf(m.value))
		}
	case nodeBlock:
		p.Kind, p.Parts = PartBlock, partsOf(n.items)
	case nodeCondition:
		p.Kind, p.Parts = PartCondition, append(partsOf([]*node{n.left}), partsOf(n.items)...)
	case nodeBind:
		p.Kind, p.Parts = PartBind, partsOf([]*node{n.right})
	case nodeCall:
		if n.left.kind == nodeVariable && len(n.left.stages) == 0 {
			p.Kind, p.Text, p.Parts = PartCall, n.left.text, partsOf(n.items)
		}
	default:
	}
	return p
}

func partsOf(nodes []*node) []Part {
	out := make([]Part, len(nodes))
	for i, n := range nodes {
		out[i] = partOf(n)
	}
	return out
}
