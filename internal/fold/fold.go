// Package fold finds the loops in a sequence, so that it can be shown short:
// Wait, Get, Done?, Wait, Get, Done? is (Wait, Get, Done?) twice.
package fold

import "slices"

// Turns is a part of a sequence: its first Size items, Times times.
type Turns struct{ Size, Times int }

// longest is how many items a turn has at most.
const longest = 40

// Loops divides a sequence into turns. What does not repeat is a turn of one
// item.
func Loops[Item comparable](sequence []Item) []Turns {
	var parts []Turns
	for i := 0; i < len(sequence); {
		part := loopAt(sequence[i:])
		parts = append(parts, part)
		i += part.Size * part.Times
	}
	return parts
}

// loopAt finds the loop that the sequence starts with: that which goes furthest,
// and of those the shortest.
func loopAt[Item comparable](sequence []Item) Turns {
	best := Turns{1, 1}
	for n := 1; n <= min(longest, len(sequence)/2); n++ {
		times := 1
		for end := (times + 1) * n; end <= len(sequence) && slices.Equal(sequence[:n], sequence[end-n:end]); end += n {
			times++
		}
		if times > 1 && times*n > best.Size*best.Times {
			best = Turns{n, times}
		}
	}
	return best
}
