package intrinsic

import "slices"

// maxRange is the most elements that States.ArrayRange makes.
const maxRange = 1_000

func array(e *evaluation) (any, error) { return e.arguments, nil }

func arrayPartition(e *evaluation) (any, error) {
	items, err := e.array()
	if err != nil {
		return nil, err
	}
	size, err := e.integer(1)
	if err != nil {
		return nil, err
	}
	if size <= 0 {
		return nil, e.invalid(1, "a positive number")
	}
	chunks := []any{}
	for len(items) > 0 {
		n := min(size, int64(len(items)))
		chunks, items = append(chunks, items[:n:n]), items[n:]
	}
	return chunks, nil
}

// arrayContains finds a value that is equal or looks the same: AWS compares the
// texts that States.Format writes, so 1 is in ["1"].
func arrayContains(e *evaluation) (any, error) {
	items, err := e.array()
	if err != nil {
		return nil, err
	}
	want := e.arguments[1]
	text := show(want)
	return slices.ContainsFunc(items, func(item any) bool { return equal(item, want) || show(item) == text }), nil
}

func arrayRange(e *evaluation) (any, error) {
	var bounds [3]int64
	for i := range bounds {
		n, err := e.integer(i)
		if err != nil {
			return nil, err
		}
		bounds[i] = n
	}
	first, last, step := bounds[0], bounds[1], bounds[2]
	if step == 0 {
		return nil, e.invalid(2, "a number other than 0")
	}
	items := []any{}
	for n := first; step > 0 && n <= last || step < 0 && n >= last; n += step {
		if len(items) == maxRange {
			return nil, e.refuse("expected at most %d elements from %d to %d in steps of %d, found more", maxRange, first, last, step)
		}
		items = append(items, decimal(n))
	}
	return items, nil
}

// arrayGetItem gives the element at an index. Of an empty array AWS gives null.
func arrayGetItem(e *evaluation) (any, error) {
	items, err := e.array()
	if err != nil {
		return nil, err
	}
	i, err := e.integer(1)
	if err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return nil, nil
	}
	if i < 0 || i >= int64(len(items)) {
		return nil, e.refuse("expected an index of the array, which has %d elements, as argument 2, found %d", len(items), i)
	}
	return items[i], nil
}

func arrayLength(e *evaluation) (any, error) {
	items, err := e.array()
	if err != nil {
		return nil, err
	}
	return decimal(int64(len(items))), nil
}

// arrayUnique leaves out what has been there before, in the order of a Java
// HashSet, in which AWS collects the elements.
func arrayUnique(e *evaluation) (any, error) {
	items, err := e.array()
	if err != nil {
		return nil, err
	}
	unique, seen := []any{}, map[string]bool{}
	for _, item := range items {
		key := canonical(item)
		if !seen[key] {
			seen[key] = true
			unique = append(unique, item)
		}
	}
	hashOrder(unique, len(items))
	return unique, nil
}
