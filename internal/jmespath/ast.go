package jmespath

// Op is what a node of the syntax tree does.
type Op uint8

// What nodes do.
const (
	OpCurrent Op = iota // the value at hand
	OpField             // a member of an object
	OpLiteral
	OpSub       // kids[1] on the value of kids[0], or null if that is null
	OpPipe      // kids[1] on the value of kids[0], even if that is null
	OpIndex     // an element of an array
	OpProject   // kids[1] on each element of the array kids[0], without nulls
	OpSlice     // elements of an array; the source of a projection, as are
	OpFlatten   // ... the next three: array in array becomes one array
	OpFilter    // ... the elements of kids[0] for which kids[1] holds
	OpValues    // ... the values of an object
	OpMultiList // an array of what the kids give
	OpMultiHash // an object of what the kids give, under names
	OpOr
	OpAnd
	OpNot
	OpCompare
	OpCall
	OpRef // an expression as the argument of a function
)

// Node is a node of a syntax tree. Those of a typed tree, which [Expr.Tree]
// makes, have types; they share nothing that changes with the untyped ones.
type Node struct {
	Op     Op
	Offset int // of the node in the text, in bytes
	Kids   []*Node

	Name  string   // OpField, OpCall
	Names []string // OpMultiHash
	Value any      // OpLiteral: a JSON value
	Index int      // OpIndex
	Slice [3]*int  // OpSlice: start, stop, step
	Order Order    // OpCompare

	// In is the value that the node is evaluated on, and Out its result.
	In, Out *Shape

	depth int       // of the tree below, counted from 1
	fn    *function // OpCall
}

// Walk calls f with the node and all below it.
func (n *Node) Walk(f func(*Node)) {
	f(n)
	for _, kid := range n.Kids {
		kid.Walk(f)
	}
}

// Order is a comparison operator.
type Order uint8

// The comparison operators.
const (
	Equal Order = iota
	NotEqual
	Less
	LessEqual
	Greater
	GreaterEqual
)

var orders = map[string]Order{
	"==": Equal, "!=": NotEqual, "<": Less, "<=": LessEqual, ">": Greater, ">=": GreaterEqual,
}

func (o Order) String() string {
	return [...]string{"==", "!=", "<", "<=", ">", ">="}[o]
}

// holds compares two numbers.
func (o Order) holds(a, b float64) bool {
	switch o {
	case Equal:
		return a == b
	case NotEqual:
		return a != b
	case Less:
		return a < b
	case LessEqual:
		return a <= b
	case Greater:
		return a > b
	default:
		return a >= b
	}
}

// CanFail reports whether evaluating the tree can be an error: whether it
// calls a function that does not take every value.
func (n *Node) CanFail() bool {
	if n.Op == OpCall && !n.fn.total {
		return true
	}
	for _, kid := range n.Kids {
		if kid.CanFail() {
			return true
		}
	}
	return false
}

// copyFor is a copy of the node, without its kids, for a value.
func (n *Node) copyFor(in *Shape) *Node {
	copied := *n
	copied.In, copied.Kids = in, nil
	return &copied
}
