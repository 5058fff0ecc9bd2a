package jsonata

import (
	"fmt"
	"slices"

	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// linker makes the parser's tree one that can be evaluated: it gathers the
// steps of paths, gives filters and groups to the steps that they follow, and
// finds the step that each % goes back to.
type linker struct {
	text  string
	slots []*slot
	err   *diag.SyntaxError
}

func link(text string, root *node) (*node, error) {
	l := &linker{text: text}
	root = l.link(root)
	if l.err == nil && (root.kind == nodeParent || len(root.seeking) > 0) {
		l.fail("S0217", root.offset, "the parent of the input is not known")
	}
	if l.err != nil {
		return nil, l.err
	}
	return root, nil
}

// fail keeps the first error.
func (l *linker) fail(code string, offset int, message string) {
	if l.err == nil {
		l.err = &diag.SyntaxError{Text: l.text, Code: code, Offset: offset, Message: message}
	}
}

// link links a node. The array that [] keeps is that of what it becomes.
func (l *linker) link(n *node) *node {
	linked := l.linkKind(n)
	linked.keepArray = linked.keepArray || n.keepArray
	return linked
}

func (l *linker) linkKind(n *node) *node {
	switch n.kind {
	case nodeName:
		return newPath(n)
	case nodeParent:
		n.slot = &slot{name: fmt.Sprintf("%%%d", len(l.slots)), level: 1}
		l.slots = append(l.slots, n.slot)
		return n
	case nodeDot:
		return l.linkDot(n)
	case nodeFilter:
		return l.linkFilter(n)
	case nodeGroup:
		return l.linkGroup(n)
	case nodeOrder:
		return l.linkOrder(n)
	case nodeFocus:
		return l.linkFocus(n)
	case nodeIndex:
		return l.linkIndex(n)
	case nodeNegate:
		n.left = l.link(n.left)
		if f, ok := n.left.value.(float64); ok && n.left.kind == nodeNumber {
			n.left.value = -f
			return n.left
		}
		n.seek(n.left)
	case nodeLambda:
		n.right = l.link(n.right)
		markTail(n.right)
	case nodeTransform:
		n.left, n.right = l.link(n.left), l.link(n.right)
		l.linkAll(n.items)
	case nodeApply:
		n.left, n.right = l.link(n.left), l.link(n.right)
		n.keepArray = n.left.keepArray || n.right.keepArray || n.keepArray
	case nodeCall, nodePartial:
		n.left = l.link(n.left)
		l.linkAll(n.items)
		for _, item := range n.items {
			n.seek(item)
		}
	case nodeBlock:
		l.linkAll(n.items)
		for _, item := range n.items {
			n.seek(item)
			n.construct = n.construct || item.construct || item.kind == nodePath && item.items[0].construct
		}
	default:
		l.linkParts(n)
	}
	return n
}

// linkParts links a node whose parts all read from where it stands.
func (l *linker) linkParts(n *node) {
	if n.left != nil {
		n.left = l.link(n.left)
		n.seek(n.left)
	}
	if n.right != nil {
		n.right = l.link(n.right)
		n.seek(n.right)
	}
	l.linkAll(n.items)
	for _, item := range n.items {
		n.seek(item)
	}
	l.linkPairs(n.pairs)
	for _, p := range n.pairs {
		n.seek(p.key)
		n.seek(p.value)
	}
}

func (l *linker) linkAll(items []*node) {
	for i, item := range items {
		items[i] = l.link(item)
	}
}

func (l *linker) linkPairs(pairs []pair) {
	for i, p := range pairs {
		pairs[i] = pair{l.link(p.key), l.link(p.value)}
	}
}

// seek makes the parents that a part reads those of the node.
func (n *node) seek(part *node) {
	n.seeking = append(n.seeking, part.seeking...)
	if part.kind == nodeParent {
		n.seeking = append(n.seeking, part.slot)
	}
}

// newPath is a path of one step.
func newPath(step *node) *node {
	return &node{
		kind: nodePath, offset: step.offset, items: []*node{step},
		keepSteps: step.keepArray && step.kind == nodeName, reference: -1,
	}
}

// lastStep is the last step of a path, or what is not a path itself.
func (n *node) lastStep() *node {
	if n.kind == nodePath {
		return n.items[len(n.items)-1]
	}
	return n
}

func (l *linker) linkDot(n *node) *node {
	path := l.link(n.left)
	if path.kind != nodePath {
		parent := path.kind == nodeParent
		path = newPath(path)
		if parent {
			path.seeking = append(path.seeking, path.items[0].slot)
		}
	}
	if rest := l.link(n.right); rest.kind == nodePath {
		path.items = append(path.items, rest.items...)
	} else {
		rest.staged = true
		path.items = append(path.items, rest)
	}
	for _, step := range path.items {
		switch step.kind {
		case nodeNumber, nodeConstant:
			l.fail("S0213", step.offset, "a number, true, false or null cannot be a step of a path")
		case nodeString:
			step.kind = nodeName
		default:
		}
		path.keepSteps = path.keepSteps || step.keepArray
	}
	if first := path.items[0]; first.kind == nodeArray {
		first.construct = true
	}
	if last := path.lastStep(); last.kind == nodeArray {
		last.construct = true
	}
	l.findParents(path)
	return path
}

func (l *linker) linkFilter(n *node) *node {
	of := l.link(n.left)
	step := of.lastStep()
	if step.group != nil {
		l.fail("S0209", n.offset, "a filter cannot follow a grouping")
	}
	filter := l.link(n.right)
	filter.fixed = isFixed(filter)
	for _, s := range filter.seeking {
		if s.level == 1 {
			l.provide(step, s)
		} else {
			s.level--
		}
	}
	step.seek(filter)
	step.staged = step.staged || of.kind == nodePath
	step.stages = append(step.stages, stage{filter: filter})
	return of
}

func (l *linker) linkGroup(n *node) *node {
	of := l.link(n.left)
	if of.group != nil {
		l.fail("S0210", n.offset, "an expression can be grouped once")
	}
	l.linkPairs(n.pairs)
	of.group = n
	return of
}

func (l *linker) linkOrder(n *node) *node {
	of := l.link(n.left)
	if of.kind != nodePath {
		of = newPath(of)
	}
	step := &node{kind: nodeSort, offset: n.offset, reference: -1}
	for _, t := range n.terms {
		t.by = l.link(t.by)
		step.seek(t.by)
		step.terms = append(step.terms, t)
	}
	of.items = append(of.items, step)
	l.findParents(of)
	return of
}

func (l *linker) linkFocus(n *node) *node {
	of := l.link(n.left)
	step := of.lastStep()
	if len(step.stages) > 0 {
		l.fail("S0215", n.offset, "a variable is bound with @ before the filters of a step")
	}
	if step.kind == nodeSort {
		l.fail("S0216", n.offset, "a variable is bound with @ before the order-by of a step")
	}
	step.keepArray = step.keepArray || n.keepArray
	step.focus, step.tuple = n.text, true
	return of
}

func (l *linker) linkIndex(n *node) *node {
	of := l.link(n.left)
	if of.kind != nodePath {
		of.staged = true
		of = newPath(of)
	}
	step := of.lastStep()
	if len(step.stages) == 0 {
		step.index = n.text
	} else {
		step.stages = append(step.stages, stage{index: n.text})
	}
	step.tuple = true
	return of
}

// findParents looks in the steps of a path for the parents that the last one
// reads.
func (l *linker) findParents(path *node) {
	last := path.lastStep()
	slots := last.seeking
	if last.kind == nodeParent {
		slots = append(slices.Clip(slots), last.slot)
	}
	for _, s := range slots {
		i := len(path.items) - 2
		for s.level > 0 {
			if i < 0 {
				path.seeking = append(path.seeking, s)
				break
			}
			step := path.items[i]
			i--
			// Steps that bind variables stay where they are: those that follow
			// each other have one parent.
			for i >= 0 && step.focus != "" && path.items[i].focus != "" {
				step = path.items[i]
				i--
			}
			l.provide(step, s)
		}
	}
}

// provide has a step keep the item that it came from, if that is the parent of
// a slot, and goes back further otherwise.
func (l *linker) provide(step *node, s *slot) {
	switch step.kind {
	case nodeName, nodeWildcard:
		s.level--
		if s.level > 0 {
			return
		}
		if step.ancestor == nil {
			step.ancestor = s
		} else {
			s.name = step.ancestor.name
		}
		step.tuple = true
	case nodeParent:
		s.level++
	case nodeBlock:
		if len(step.items) > 0 {
			step.tuple = true
			l.provide(step.items[len(step.items)-1], s)
		}
	case nodePath:
		step.tuple = true
		for i := len(step.items) - 1; i >= 0 && s.level > 0; i-- {
			l.provide(step.items[i], s)
		}
	default:
		l.noParent(step)
		s.level = 0
	}
}

func (l *linker) noParent(step *node) {
	l.fail("S0217", step.offset, "the parent of what stands here is not known")
}

// isFixed says that a node gives the same on any context: a number that is
// calculated of variables.
func isFixed(n *node) bool {
	if len(n.stages) > 0 || n.group != nil {
		return false
	}
	switch n.kind {
	case nodeNumber:
		return true
	case nodeVariable:
		return n.text != ""
	case nodeNegate:
		return isFixed(n.left)
	case nodeBinary:
		switch n.text {
		case "+", "-", "*", "/", "%":
			return isFixed(n.left) && isFixed(n.right)
		}
	default:
	}
	return false
}

// markTail marks the calls that end a function: they need no evaluation of
// their own.
func markTail(body *node) {
	if len(body.stages) > 0 || body.group != nil || body.keepArray {
		return
	}
	switch body.kind {
	case nodeCall:
		body.tail = true
	case nodeCondition:
		for _, branch := range body.items {
			markTail(branch)
		}
	case nodeBlock:
		if len(body.items) > 0 {
			markTail(body.items[len(body.items)-1])
		}
	default:
	}
}
