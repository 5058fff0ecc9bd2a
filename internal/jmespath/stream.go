package jmespath

import "slices"

// sink takes the elements of an array one by one, and returns whether it wants
// more.
type sink func(fr *frame, item value) bool

// stream evaluates an expression and gives the elements of the result to a
// sink, without building an array. It returns false if the result is no array.
type stream func(fr *frame, in value) bool

// streams reports whether the node's elements come one by one.
func streams(n *Node) bool {
	switch n.Op {
	case OpProject, OpSlice, OpFlatten, OpFilter, OpValues, OpMultiList:
		return true
	case OpSub, OpPipe:
		return streams(n.Kids[1])
	default:
		return false
	}
}

// iterate gives the elements of an array to a sink. It returns false if that
// wants no more, or after a failure.
func iterate(fr *frame, at int, array value, to sink) bool {
	switch array.plan.rep { // each form by itself, since most work is done here
	case repMadeList:
		for _, item := range *array.held.Interface().(*[]value) {
			if !to(fr, fr.sound(at, item)) || !fr.step(at) {
				return false
			}
		}
	case repList:
		for _, item := range array.held.Interface().([]any) {
			if !to(fr, fr.sound(at, fromAny(item))) || !fr.step(at) {
				return false
			}
		}
	default:
		load := array.plan.inner.load
		for i := range array.held.Len() {
			if !to(fr, fr.sound(at, load(array.held.Index(i)))) || !fr.step(at) {
				return false
			}
		}
	}
	return true
}

// stream is the code that gives the node's elements to a sink.
func (g *generator) stream(n *Node, to sink) stream {
	switch n.Op {
	case OpProject:
		return g.project(n, to)
	case OpFlatten:
		return g.flatten(n.Kids[0], to)
	case OpFilter:
		holds := g.verdict(n.Kids[1])
		return g.stream(n.Kids[0], func(fr *frame, item value) bool {
			return holds(fr, item) != yes || to(fr, item)
		})
	case OpSlice:
		return g.slice(n, to)
	case OpValues:
		return g.values(n, to)
	case OpMultiList:
		kids := g.items(n, to)
		return func(fr *frame, in value) bool {
			kids(fr, in)
			return in.kind != Null
		}
	case OpSub, OpPipe:
		if streams(n) {
			return g.behind(n, to)
		}
	default:
	}
	whole, at := g.code(n), n.Offset
	return func(fr *frame, in value) bool {
		v := whole(fr, in)
		if v.kind != Array {
			return false
		}
		iterate(fr, at, v, to)
		return true
	}
}

// behind streams the right side of a dot or a pipe.
func (g *generator) behind(n *Node, to sink) stream {
	left, right, always := g.code(n.Kids[0]), g.stream(n.Kids[1], to), n.Op == OpPipe
	return func(fr *frame, in value) bool {
		v := left(fr, in)
		return (always || v.kind != Null) && right(fr, v)
	}
}

// project is a projection: what is null is left out.
func (g *generator) project(n *Node, to sink) stream {
	source, body := n.Kids[0], n.Kids[1]
	if body.Op == OpCurrent {
		return g.stream(source, func(fr *frame, item value) bool { return item.kind == Null || to(fr, item) })
	}
	each := g.code(body)
	return g.stream(source, func(fr *frame, item value) bool {
		v := each(fr, item)
		return v.kind == Null || to(fr, v)
	})
}

// flatten gives the elements of arrays in the place of the arrays.
func (g *generator) flatten(n *Node, to sink) stream {
	if n.Op == OpProject && n.Kids[1].Op == OpMultiList { // a.[b, c][] needs no lists in between
		return g.stream(n.Kids[0], g.items(n.Kids[1], to))
	}
	at := n.Offset
	return g.stream(n, func(fr *frame, item value) bool {
		if item.kind == Array {
			return iterate(fr, at, item, to)
		}
		return to(fr, item)
	})
}

// items gives what a multi-select list selects from a value to a sink, and
// nothing if that is null.
func (g *generator) items(n *Node, to sink) sink {
	kids, at := g.codes(n.Kids), n.Offset
	return func(fr *frame, in value) bool {
		if in.kind == Null {
			return true
		}
		for _, kid := range kids {
			if !to(fr, kid(fr, in)) || !fr.step(at) {
				return false
			}
		}
		return true
	}
}

func (g *generator) slice(n *Node, to sink) stream {
	source, parts, at := g.code(n.Kids[0]), n.Slice, n.Offset
	return func(fr *frame, in value) bool {
		v := source(fr, in)
		if v.kind != Array {
			return false
		}
		s := v.span()
		start, stop, step := bounds(parts, s.count)
		for i := start; step > 0 && i < stop || step < 0 && i > stop; i += step {
			if !to(fr, fr.sound(at, s.at(i))) || !fr.step(at) {
				break
			}
		}
		return true
	}
}

// bounds are the first index of a slice, the one at which it ends, and the
// step, for an array of n elements.
func bounds(parts [3]*int, n int) (start, stop, step int) {
	step = 1
	if parts[2] != nil {
		step = max(-n-1, min(n+1, *parts[2])) // further steps all leave the array
	}
	lowest, highest := 0, n
	if step < 0 {
		lowest, highest = -1, n-1
	}
	bound := func(part *int, otherwise int) int {
		if part == nil {
			return otherwise
		}
		i := *part
		if i < 0 {
			i += n
		}
		return max(lowest, min(highest, i))
	}
	if step < 0 {
		return bound(parts[0], highest), bound(parts[1], lowest), step
	}
	return bound(parts[0], lowest), bound(parts[1], highest), step
}

func (g *generator) values(n *Node, to sink) stream {
	source, at := g.code(n.Kids[0]), n.Offset
	return func(fr *frame, in value) bool {
		v := source(fr, in)
		if v.kind != Object {
			return false
		}
		for _, name := range v.names() {
			if !to(fr, fr.member(at, v, name)) || !fr.step(at) {
				break
			}
		}
		return true
	}
}

// collect builds the array that a stream would give.
func (g *generator) collect(n *Node) code {
	slot := g.slot()
	elements := g.stream(n, func(fr *frame, item value) bool {
		s := &fr.slots[slot]
		if len(s.list) == cap(s.list) { // append grows a long list by little
			s.list = slices.Grow(s.list, len(s.list))
		}
		s.list = append(s.list, item)
		return true
	})
	return func(fr *frame, in value) value {
		fr.slots[slot].list = nil
		if !elements(fr, in) {
			return value{}
		}
		return list(fr.slots[slot].list)
	}
}

// count is length() of a stream.
func (g *generator) count(n *Node) code {
	slot := g.slot()
	elements := g.stream(n.Kids[0], func(fr *frame, _ value) bool {
		fr.slots[slot].count++
		return true
	})
	want, at := n.fn.param(0), n.Kids[0].Offset
	return func(fr *frame, in value) value {
		fr.slots[slot].count = 0
		if !elements(fr, in) {
			fr.fail(InvalidType, at, "length() takes %s as argument 1, found null", want)
			return value{}
		}
		return number(float64(fr.slots[slot].count))
	}
}

// contains is contains() of a stream. It stops at the first match if the rest
// cannot fail.
func (g *generator) contains(n *Node) code {
	slot := g.slot()
	more, at := n.Kids[0].CanFail(), n.Kids[0].Offset
	elements := g.stream(n.Kids[0], func(fr *frame, item value) bool {
		s := &fr.slots[slot]
		s.found = s.found || fr.equal(at, item, s.search, 0)
		return more || !s.found
	})
	search := g.code(n.Kids[1])
	want := n.fn.param(0)
	return func(fr *frame, in value) value {
		s := &fr.slots[slot]
		s.found, s.search = false, search(fr, in)
		if !elements(fr, in) {
			fr.fail(InvalidType, at, "contains() takes %s as argument 1, found null", want)
			return value{}
		}
		return boolean(s.found)
	}
}
