package simtest

import (
	"fmt"
	"slices"
	"strings"
)

// Loop returns the states n times, for a path with a loop.
func Loop(n int, states ...string) []string { return slices.Repeat(states, n) }

// Join joins parts of a path.
func Join(parts ...[]string) []string { return slices.Concat(parts...) }

// folded writes a path with its loops once each: "(Wait > Get) x 4 > Done".
func folded(path []string) string {
	const most = 60
	var parts []string
	for i := 0; i < len(path); {
		size, times := loopAt(path[i:])
		part := strings.Join(path[i:i+size], " > ")
		if times > 1 {
			part = fmt.Sprintf("(%s) x %d", part, times)
		}
		parts = append(parts, part)
		i += size * times
	}
	if len(parts) > most {
		parts = slices.Concat(parts[:most/2], []string{"..."}, parts[len(parts)-most/2:])
	}
	return strings.Join(parts, " > ")
}

// loopAt finds the loop that the path starts with: that which goes furthest,
// and of those the shortest.
func loopAt(path []string) (size, times int) {
	const longest = 20
	size, times = 1, 1
	for n := 1; n <= min(longest, len(path)/2); n++ {
		repeats := 1
		for end := (repeats + 1) * n; end <= len(path) && slices.Equal(path[:n], path[end-n:end]); end += n {
			repeats++
		}
		if repeats > 1 && repeats*n > size*times {
			size, times = n, repeats
		}
	}
	return size, times
}
