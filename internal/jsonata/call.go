package jsonata

import "fmt"

// lambda is a function of the expression.
type lambda struct {
	params    []string
	body      *node
	frame     *frame
	input     any
	signature *signature
	made      int // steps that were taken before
}

// builtin is a function of the language.
type builtin struct {
	name      string
	signature *signature // nil if the function checks its arguments itself
	// arity is how many arguments a function that calls others gives to it.
	arity int
	call  func(m *machine, c *arguments) any
}

// arguments are those of a call of a builtin.
type arguments struct {
	args    []any
	context any
	frame   *frame
}

// at is an argument, or undefined.
func (c *arguments) at(i int) any {
	if i < len(c.args) {
		return c.args[i]
	}
	return undefined
}

// text is an argument that a signature says is a text.
func (c *arguments) text(i int) string {
	s, _ := c.at(i).(string)
	return s
}

// number is an argument that a signature says is a number.
func (c *arguments) number(i int) float64 {
	f, _ := number(c.at(i))
	return f
}

// partialCall is a function some of whose arguments are known.
type partialCall struct {
	function any
	args     []any
	holes    []int // their places in args, in the order of the parameters
}

// chain is two functions, one after the other.
type chain struct{ first, second any }

// transform is |pattern|update, delete|.
type transform struct {
	node  *node
	frame *frame
}

// tailCall is a call that ends a function. It is made once the function has
// returned, so that recursion at the end of a function needs no depth.
type tailCall struct {
	node  *node
	input any
	frame *frame
}

func isFunctionValue(v any) bool {
	switch v.(type) {
	case *lambda, *builtin, *partialCall, *chain, *transform, *regexValue, *nextMatch:
		return true
	}
	return false
}

// call evaluates a call. before, if it is given, is an argument before the
// others.
func (m *machine) call(n *node, input any, f *frame, before []any) any {
	fn := m.eval(n.left, input, f)
	if fn == undefined && n.left.kind == nodePath {
		if name := n.left.items[0].text; m.lookup(f, name) != undefined {
			m.throw(&Error{Code: "T1005", Message: fmt.Sprintf("Attempted to invoke a non-function. Did you mean %q?", "$"+name)})
		}
	}
	args := m.evalArgs(n, input, f, before)
	m.callee = n.left
	return m.invoke(fn, args, input, f)
}

// functionName is the name of a function as the expression has it.
func (n *node) functionName() string {
	switch {
	case n == nil:
		return ""
	case n.kind == nodePath:
		return n.items[0].text
	}
	return n.text
}

func (m *machine) evalArgs(n *node, input any, f *frame, before []any) []any {
	m.hold((len(before) + len(n.items)) * slotBytes)
	args := make([]any, len(before), len(before)+len(n.items))
	copy(args, before)
	for _, item := range n.items {
		args = append(args, m.eval(item, input, f))
	}
	return args
}

// invoke calls a function, and then those that end it.
func (m *machine) invoke(fn any, args []any, input any, f *frame) any {
	began, start := m.bytes, m.steps
	v := m.invokeOnce(fn, args, input, f)
	for {
		tail, ok := v.(*tailCall)
		if !ok {
			break
		}
		m.step(1)
		fn = m.eval(tail.node.left, tail.input, tail.frame)
		args = m.evalArgs(tail.node, tail.input, tail.frame, nil)
		// The function that has ended needs nothing more. What is left are the
		// arguments, and the next function, if that was made in it.
		l, isLambda := fn.(*lambda)
		_, isBuiltin := fn.(*builtin)
		if isBuiltin || isLambda && l.made < start {
			m.release(began, &list{items: args})
		} else {
			began, start = m.bytes, m.steps
		}
		m.callee = tail.node.left
		v = m.invokeOnce(fn, args, input, f)
	}
	if _, ok := fn.(*builtin); !ok {
		m.release(began, v)
	}
	return v
}

// invokeOnce calls a function that may end in a call.
func (m *machine) invokeOnce(fn any, args []any, input any, f *frame) any {
	m.step(1)
	switch fn := fn.(type) {
	case *builtin:
		if fn.signature != nil {
			args = fn.signature.apply(m, fn.name, args, input)
		}
		return fn.call(m, &arguments{args, input, f})
	case *lambda:
		if fn.signature != nil {
			args = fn.signature.apply(m, m.callee.functionName(), args, input)
		}
		inner := m.newFrame(fn.frame)
		for i, name := range fn.params {
			if i < len(args) {
				m.bind(inner, name, args[i])
			} else {
				m.bind(inner, name, undefined)
			}
		}
		return m.eval(fn.body, fn.input, inner)
	case *partialCall:
		all := append([]any(nil), fn.args...)
		m.hold(len(all) * slotBytes)
		for i, hole := range fn.holes {
			if i < len(args) {
				all[hole] = args[i]
			}
		}
		return m.enter(func() any { return m.invoke(fn.function, all, input, f) })
	case *chain:
		return m.enter(func() any {
			return m.invoke(fn.second, []any{m.invoke(fn.first, args, input, f)}, input, f)
		})
	case *transform:
		arg := undefined
		if len(args) > 0 {
			arg = args[0]
		}
		return m.transform(fn, arg)
	case *regexValue:
		return m.callRegex(fn, args)
	case *nextMatch:
		return m.matchValue(fn)
	}
	m.throw(&Error{Code: "T1006", Message: "Attempted to invoke a non-function"})
	return undefined
}

// enter evaluates something a level deeper.
func (m *machine) enter(do func() any) any {
	if m.depth++; m.depth > m.limits.Depth {
		m.throw(errDepth)
	}
	v := do()
	m.depth--
	return v
}

// callWith calls a function with as many of the arguments as it takes: it is
// how functions call the functions that they are given.
func (m *machine) callWith(fn any, c *arguments, args ...any) any {
	n := max(1, min(arityOf(fn), len(args)))
	m.hold(n * slotBytes)
	return m.callBack(fn, args[:n:n], c)
}

// callBack calls a function that a function was given. A function that ends in
// such a call nests without an evaluation around it.
func (m *machine) callBack(fn any, args []any, c *arguments) any {
	if m.callBacks++; m.callBacks > m.limits.Depth {
		m.throw(errDepth)
	}
	v := m.invoke(fn, args, undefined, c.frame)
	m.callBacks--
	return v
}

func arityOf(fn any) int {
	switch fn := fn.(type) {
	case *lambda:
		return len(fn.params)
	case *builtin:
		return fn.arity
	case *partialCall:
		return len(fn.holes)
	}
	return 1
}

// partial evaluates a partial application.
func (m *machine) partial(n *node, input any, f *frame) any {
	args := make([]any, len(n.items))
	var holes []int
	for i, item := range n.items {
		if item.kind == nodeHole {
			args[i] = undefined
			holes = append(holes, i)
		} else {
			args[i] = m.eval(item, input, f)
		}
	}
	fn := m.eval(n.left, input, f)
	if fn == undefined && n.left.kind == nodePath {
		if name := n.left.items[0].text; m.lookup(f, name) != undefined {
			m.throw(&Error{Code: "T1007", Message: fmt.Sprintf("Attempted to partially apply a non-function. Did you mean %q?", "$"+name)})
		}
	}
	if !isFunctionValue(fn) {
		m.throw(&Error{Code: "T1008", Message: "Attempted to partially apply a non-function"})
	}
	m.hold(bindingBytes + len(args)*(slotBytes+8))
	return &partialCall{fn, args, holes}
}

// apply evaluates left ~> right.
func (m *machine) apply(n *node, input any, f *frame) any {
	left := m.eval(n.left, input, f)
	if n.right.kind == nodeCall && len(n.right.stages) == 0 && n.right.group == nil {
		return m.call(n.right, input, f, []any{left})
	}
	right := m.eval(n.right, input, f)
	if !isFunctionValue(right) {
		m.throw(&Error{Code: "T2006", Message: "The right side of the function application operator ~> must be a function"})
	}
	if isFunctionValue(left) {
		m.hold(bindingBytes)
		return &chain{left, right}
	}
	return m.invoke(right, []any{left}, input, f)
}
