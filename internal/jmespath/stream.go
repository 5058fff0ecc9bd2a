package jmespath

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
		load, sure := array.plan.inner.load, array.plan.inner.sure
		for i := range array.held.Len() {
			item := load(array.held.Index(i))
			if !sure {
				item = fr.sound(at, item)
			}
			if !to(fr, item) || !fr.step(at) {
				return false
			}
		}
	}
	return true
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
