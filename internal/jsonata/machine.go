package jsonata

import "encoding/json"

// machine evaluates one expression once.
type machine struct {
	budget
	env   *Environment
	input any // what $$ is
	// binds counts the variables that were bound.
	binds int
	// callBacks is how deep functions nest that functions call.
	callBacks int
	// callee is what the expression calls, for messages.
	callee *node
}

// frame is where a stretch of the expression keeps its variables.
type frame struct {
	vars  *binding
	outer *frame
}

// binding is a variable; a later one hides an earlier one of the same name.
type binding struct {
	name  string
	value any
	next  *binding
}

// bindingBytes are what a binding, or a frame, takes.
const bindingBytes = 64

func (m *machine) newFrame(outer *frame) *frame {
	m.hold(bindingBytes)
	return &frame{outer: outer}
}

func (m *machine) bind(f *frame, name string, value any) {
	m.hold(bindingBytes)
	m.binds++
	f.vars = &binding{name, value, f.vars}
}

// lookup is the value of a variable, or undefined.
func (m *machine) lookup(f *frame, name string) any {
	cost := 1 + len(name)/64
	for at := f; at != nil; at = at.outer {
		for b := at.vars; b != nil; b = b.next {
			m.steps += cost
			if b.name == name {
				return b.value
			}
		}
	}
	if name == "states" && m.env.States != nil {
		return m.env.States
	}
	if v, ok := m.env.Variables[name]; ok {
		return v
	}
	if name == "$" {
		return m.input
	}
	if fn, ok := functions[name]; ok {
		return fn
	}
	if name == "eval" && m.limits.Eval {
		return evalFunction
	}
	return undefined
}

// eval evaluates a node on a context.
func (m *machine) eval(n *node, input any, f *frame) any {
	if m.depth++; m.depth > m.limits.Depth {
		m.throw(errDepth)
	}
	m.step(1)
	v := m.evalKind(n, input, f)
	if !n.staged {
		for i := range n.stages {
			v = m.filter(n.stages[i].filter, v, f)
		}
	}
	if n.group != nil && n.kind != nodePath {
		v = m.group(n.group.pairs, v, f)
	}
	m.depth--
	switch value := v.(type) {
	case *list:
		if !value.sequence {
			return v
		}
		if n.keepArray {
			value.keep = true
		}
		return collapse(value)
	case json.Number:
		if len(value) > 64 { // read once
			m.read(v)
			f, _ := number(v)
			return m.box(f)
		}
	}
	return v
}

func (m *machine) evalKind(n *node, input any, f *frame) any {
	switch n.kind {
	case nodePath:
		return m.path(n, input, f)
	case nodeName:
		return m.members(input, n.text, 0)
	case nodeString, nodeNumber, nodeConstant:
		return n.value
	case nodeVariable:
		return m.variable(n, input, f)
	case nodeWildcard:
		return m.wildcard(input)
	case nodeDescendants:
		return m.descendants(input)
	case nodeParent:
		return m.lookup(f, n.slot.name)
	case nodeBinary:
		return m.binary(n, input, f)
	case nodeNegate:
		return m.negate(m.eval(n.left, input, f))
	case nodeArray:
		return m.array(n, input, f)
	case nodeObject:
		return m.group(n.pairs, input, f)
	case nodeBlock:
		return m.block(n, input, f)
	case nodeCondition:
		return m.condition(n, input, f)
	case nodeBind:
		v := m.eval(n.right, input, f)
		m.bind(f, n.text, v)
		return v
	case nodeLambda, nodeRegex, nodeTransform:
		return m.makeFunction(n, input, f)
	case nodeCall:
		if n.tail {
			m.hold(bindingBytes)
			return &tailCall{n, input, f}
		}
		return m.call(n, input, f, nil)
	case nodePartial:
		return m.partial(n, input, f)
	case nodeApply:
		return m.apply(n, input, f)
	default: // a hole, which stands only where nothing is evaluated
		return undefined
	}
}

// makeFunction gives what can be called.
func (m *machine) makeFunction(n *node, input any, f *frame) any {
	m.hold(2 * bindingBytes)
	switch n.kind {
	case nodeRegex:
		return &regexValue{n.pattern}
	case nodeTransform:
		return &transform{n, f}
	default:
		return &lambda{params: n.params, body: n.right, frame: f, input: input, signature: n.signature, made: m.steps}
	}
}

func (m *machine) variable(n *node, input any, f *frame) any {
	if n.text != "" {
		return m.lookup(f, n.text)
	}
	if l, ok := input.(*list); ok && l.outer {
		return l.items[0]
	}
	return input
}

// members are those of a name: of an object, or of each in an array.
func (m *machine) members(v any, name string, level int) any {
	items, isArray := itemsOf(v)
	if !isArray {
		m.step(len(name) / 32)
		return member(v, name)
	}
	m.nest(level)
	m.step(len(items))
	out := m.newSequence()
	for _, item := range items {
		found := m.members(item, name, level+1)
		if found == undefined {
			continue
		}
		if inner, ok := itemsOf(found); ok {
			m.pushAll(out, inner)
		} else {
			m.push(out, found)
		}
	}
	return out
}

func (m *machine) wildcard(input any) any {
	if l, ok := input.(*list); ok && l.outer && len(l.items) > 0 {
		input = l.items[0]
	}
	out := m.newSequence()
	add := func(value any) {
		if kindOf(value) == kindArray {
			out.sequence = false
			m.flatten(out, value, 0)
		} else {
			m.push(out, value)
		}
	}
	if items, ok := itemsOf(input); ok {
		for _, item := range items {
			add(item)
		}
		return out
	}
	for _, name := range m.namesOf(input) {
		add(member(input, name))
	}
	return out
}

// flatten pushes the items of an array at any level.
func (m *machine) flatten(out *list, v any, level int) {
	items, ok := itemsOf(v)
	if !ok {
		m.push(out, v)
		return
	}
	m.nest(level)
	m.step(len(items))
	for _, item := range items {
		m.flatten(out, item, level+1)
	}
}

func (m *machine) descendants(input any) any {
	if input == undefined {
		return undefined
	}
	out := m.newSequence()
	m.descend(out, input, 0)
	return out
}

func (m *machine) descend(out *list, v any, level int) {
	m.nest(level)
	m.step(1)
	items, isArray := itemsOf(v)
	if !isArray {
		m.push(out, v)
	}
	for _, item := range items {
		m.descend(out, item, level+1)
	}
	for _, name := range m.namesOf(v) {
		m.descend(out, member(v, name), level+1)
	}
}

// array evaluates an array constructor.
func (m *machine) array(n *node, input any, f *frame) any {
	out := m.newList()
	for _, item := range n.items {
		var v any
		if item.kind == nodeRange {
			v = m.span(item, input, f)
		} else {
			v = m.eval(item, input, f)
		}
		if v == undefined {
			continue
		}
		// An array that is written in the array stays an array.
		if inner, ok := itemsOf(v); ok && item.kind != nodeArray {
			m.pushAll(out, inner)
		} else {
			m.push(out, v)
		}
	}
	out.construct = n.construct
	return out
}

// span evaluates first..last.
func (m *machine) span(n *node, input any, f *frame) any {
	if m.depth++; m.depth > m.limits.Depth {
		m.throw(errDepth)
	}
	first, last := m.eval(n.left, input, f), m.eval(n.right, input, f)
	m.depth--
	low, err := rangeEnd(first, "T2003", "left")
	if err != nil {
		m.throw(err)
	}
	high, err := rangeEnd(last, "T2004", "right")
	if err != nil {
		m.throw(err)
	}
	if first == undefined || last == undefined || low > high {
		return undefined
	}
	if high-low >= maxSpan {
		m.throw(&Error{Code: "D2014", Message: "The size of the sequence allocated by the range operator (..)" +
			" must not exceed 1e7.  Attempted to allocate " + formatNumber(high-low+1) + "."})
	}
	return m.numbers(low, 1, int(high-low)+1)
}

// maxSpan is the longest range of JSONata.
const maxSpan = 1e7

func rangeEnd(v any, code, side string) (float64, error) {
	f, ok := number(v)
	if v != undefined && (!ok || f != float64(truncate(f))) {
		return 0, &Error{Code: code, Message: "The " + side + " side of the range operator (..) must evaluate to an integer"}
	}
	return f, nil
}

// numbers is a sequence of numbers that are a step apart.
func (m *machine) numbers(first, step float64, count int) *list {
	m.hold(count * (slotBytes + 8))
	m.step(count / 4)
	out := m.newSequence()
	out.items = make([]any, count)
	for i := range out.items {
		out.items[i] = first + float64(i)*step
	}
	return out
}

func (m *machine) block(n *node, input any, f *frame) any {
	inner := m.newFrame(f)
	began := m.bytes
	result := undefined
	for _, item := range n.items {
		result = m.eval(item, input, inner)
	}
	m.release(began, result)
	return result
}

func (m *machine) condition(n *node, input any, f *frame) any {
	if m.truth(m.eval(n.left, input, f)) {
		return m.eval(n.items[0], input, f)
	}
	if len(n.items) > 1 {
		return m.eval(n.items[1], input, f)
	}
	return undefined
}
