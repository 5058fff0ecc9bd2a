package jmespath

// op is what a node of the syntax tree does.
type op uint8

const (
	opCurrent op = iota // the value at hand
	opField             // a member of an object
	opLiteral
	opSub       // kids[1] on the value of kids[0], or null if that is null
	opPipe      // kids[1] on the value of kids[0], even if that is null
	opIndex     // an element of an array
	opProject   // kids[1] on each element of the array kids[0], without nulls
	opSlice     // elements of an array; the source of a projection, as are
	opFlatten   // ... the next three: array in array becomes one array
	opFilter    // ... the elements of kids[0] for which kids[1] holds
	opValues    // ... the values of an object
	opMultiList // an array of what the kids give
	opMultiHash // an object of what the kids give, under names
	opOr
	opAnd
	opNot
	opCompare
	opCall
	opRef // an expression as the argument of a function
)

// node is a node of the syntax tree.
type node struct {
	op    op
	at    int // byte offset in the text
	depth int // of the tree below, counted from 1
	kids  []*node

	name  string    // opField, opCall
	names []string  // opMultiHash
	value any       // opLiteral: a JSON value
	index int       // opIndex
	slice [3]*int   // opSlice: start, stop, step
	order order     // opCompare
	fn    *function // opCall
}

// order is a comparison operator.
type order uint8

const (
	equal order = iota
	notEqual
	less
	lessEqual
	greater
	greaterEqual
)

var orders = map[string]order{
	"==": equal, "!=": notEqual, "<": less, "<=": lessEqual, ">": greater, ">=": greaterEqual,
}

func (o order) String() string {
	return [...]string{"==", "!=", "<", "<=", ">", ">="}[o]
}

// holds compares two numbers.
func (o order) holds(a, b float64) bool {
	switch o {
	case equal:
		return a == b
	case notEqual:
		return a != b
	case less:
		return a < b
	case lessEqual:
		return a <= b
	case greater:
		return a > b
	default:
		return a >= b
	}
}

// fallible reports whether evaluating the tree can be an error: whether it
// calls a function that does not take every value.
func (n *node) fallible() bool {
	if n.op == opCall && !n.fn.total {
		return true
	}
	for _, kid := range n.kids {
		if kid.fallible() {
			return true
		}
	}
	return false
}
