package jmespath

import (
	"fmt"
	"strings"
)

// Syntax writes the syntax tree without places in the text, and the names of
// members in it as they are.
func (e *Expr) Syntax() string { return e.root.tree(func(name string) string { return name }) }

// SyntaxRenamed is Syntax with the names of all members changed.
func (e *Expr) SyntaxRenamed(rename func(name string) string) string { return e.root.tree(rename) }

func (n *Node) tree(rename func(string) string) string {
	name := n.Name
	if n.Op == OpField {
		name = rename(name)
	}
	var slice []int
	for _, part := range n.Slice {
		if part != nil {
			slice = append(slice, 1, *part)
		} else {
			slice = append(slice, 0)
		}
	}
	kids := make([]string, len(n.Kids))
	for i, kid := range n.Kids {
		kids[i] = kid.tree(rename)
	}
	return fmt.Sprintf("(%d %d %q %q %#v %d %v %d %s)", n.Op, n.depth, name, n.Names, n.Value, n.Index, slice, n.Order, strings.Join(kids, " "))
}
