package jsonata

// ContextReferences are the places at which an expression reads its context item,
// each name once, in the order of the text: a name that begins a path, "$", or
// "$$". Step Functions evaluates an expression without a context item and refuses
// such an expression when the state machine is created. In what follows the first
// step of a path, and in predicates, order-by terms and groups, a name is one of
// the step's items. A function has the context of the expression that it stands
// in.
//
// The expression is one that [Compile] takes.
func ContextReferences(text string) []Reference {
	_, whole, err := parse(text)
	if err != nil {
		return nil
	}
	c := contextReader{seen: map[string]bool{}}
	c.read(whole)
	return c.found
}

type contextReader struct {
	found []Reference
	seen  map[string]bool
}

func (c *contextReader) keep(name string, offset int) {
	if !c.seen[name] {
		c.seen[name] = true
		c.found = append(c.found, Reference{Name: name, Offset: offset})
	}
}

func (c *contextReader) read(n *node) {
	if n == nil {
		return
	}
	switch n.kind {
	case nodeName:
		c.keep(n.text, n.offset)
	case nodeVariable:
		if n.text == "" || n.text == "$" {
			c.keep("$"+n.text, n.offset)
		}
	case nodeDot:
		if name, ok := n.left.value.(string); ok && n.left.kind == nodeString {
			c.keep(name, n.left.offset) // a string that begins a path is a name
			return
		}
		c.read(n.left)
	case nodeFilter, nodeGroup, nodeOrder, nodeFocus, nodeIndex:
		c.read(n.left)
	case nodeBind, nodeLambda:
		c.read(n.right)
	case nodeTransform:
	default:
		n.children(c.read)
	}
}
