package intrinsic

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

func arrayContains(e *evaluation) (any, error) {
	items, err := e.array()
	if err != nil {
		return nil, err
	}
	for _, item := range items {
		if equal(item, e.arguments[1]) {
			return true, nil
		}
	}
	return false, nil
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
	for n := first; step > 0 && n <= last || step < 0 && n >= last; {
		if len(items) == maxRange {
			return nil, e.fail("Invalid arguments in %s: the array would have more than %d elements", e.call.function.name, maxRange)
		}
		items = append(items, whole(n))
		next := n + step
		if (next > n) != (step > 0) {
			break // beyond 64 bits
		}
		n = next
	}
	return items, nil
}

func arrayGetItem(e *evaluation) (any, error) {
	items, err := e.array()
	if err != nil {
		return nil, err
	}
	i, err := e.integer(1)
	if err != nil {
		return nil, err
	}
	if i < 0 || i >= int64(len(items)) {
		return nil, e.fail("Invalid arguments in %s: index %d is outside of the array, which has %d elements", e.call.function.name, i, len(items))
	}
	return items[i], nil
}

func arrayLength(e *evaluation) (any, error) {
	items, err := e.array()
	if err != nil {
		return nil, err
	}
	return whole(int64(len(items))), nil
}

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
	return unique, nil
}
