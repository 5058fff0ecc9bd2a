package jsonata

// nodeKind says what a node of the syntax tree is.
type nodeKind uint8

const (
	nodeName        nodeKind = iota // text
	nodeString                      // value
	nodeNumber                      // value
	nodeConstant                    // value: true, false, null
	nodeVariable                    // text: the name without $, "" for the context, "$" for the input
	nodeWildcard                    // *
	nodeDescendants                 // **
	nodeParent                      // %
	nodeRegex                       // pattern
	nodeHole                        // ? as an argument
	nodeBinary                      // text: the operator; left, right
	nodeNegate                      // left
	nodeArray                       // items
	nodeRange                       // left, right: an item of an array
	nodeObject                      // pairs
	nodeBlock                       // items
	nodeCondition                   // left ? items[0] : items[1]
	nodeBind                        // $text := right
	nodeLambda                      // params, signature, right
	nodeCall                        // left(items)
	nodePartial                     // left(items), some of them holes
	nodeApply                       // left ~> right
	nodeTransform                   // |left|right, items[0]|
	nodePath                        // items are the steps
	nodeSort                        // terms: a step

	// What the parser makes and link replaces.
	nodeDot    // left.right
	nodeFilter // left[right]
	nodeGroup  // left{pairs}
	nodeOrder  // left^(terms)
	nodeFocus  // left@$text
	nodeIndex  // left#$text
)

// node is a node of the syntax tree. The parser makes the tree as the text
// has it; link makes paths of it, in the same nodes.
type node struct {
	kind   nodeKind
	offset int // of the first byte in the text
	text   string
	value  any
	left   *node
	right  *node
	items  []*node
	pairs  []pair
	terms  []term

	params    []string
	signature *signature
	pattern   *regexProgram

	// keepArray says that [] follows: one item is an array, too.
	keepArray bool
	// keepSteps says that it follows a step of the path.
	keepSteps bool
	// nesting is how deep the parts of the node nest.
	nesting int
	// reference is the index of the variable that the node is a path from, -1
	// if there is none.
	reference int

	// What link finds.

	stages []stage // of a step, or the filters of what is not a path
	// staged says that the path applies the stages.
	staged bool
	group  *node  // whose pairs group what the node gives
	focus  string // variable that a step binds to its items
	index  string // variable that a step binds to the places of its items
	// ancestor is where a step keeps the item from which it came.
	ancestor *slot
	// slot is where a parent is kept that the node reads.
	slot *slot
	// seeking are the parents that the node reads and does not make.
	seeking []*slot
	// tuple says that the node gives its items with variables bound to each.
	tuple bool
	// fixed says that the node gives the same on any context.
	fixed bool
	// construct says that an array constructor gives an array as it is, whatever
	// the path does with it.
	construct bool
	// tail says that a call ends the function that it stands in.
	tail bool
}

// pair is a member of an object that the expression makes.
type pair struct{ key, value *node }

// term is what an order-by sorts by.
type term struct {
	by         *node
	descending bool
}

// stage is what happens to the items of a step: a filter, or a variable that is
// bound to their places.
type stage struct {
	filter *node
	index  string
}

// slot is the parent that a % means.
type slot struct {
	name  string // of the variable that keeps it
	level int    // how many steps up it is
}

// children calls do for each part of a node of the parser's tree.
func (n *node) children(do func(*node)) {
	call := func(part *node) {
		if part != nil {
			do(part)
		}
	}
	call(n.left)
	call(n.right)
	for _, item := range n.items {
		call(item)
	}
	for _, p := range n.pairs {
		call(p.key)
		call(p.value)
	}
	for _, t := range n.terms {
		call(t.by)
	}
}
