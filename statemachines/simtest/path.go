package simtest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/fold"
)

// Loop returns the states n times, for a path with a loop.
func Loop(n int, states ...string) []string { return slices.Repeat(states, n) }

// Join joins parts of a path.
func Join(parts ...[]string) []string { return slices.Concat(parts...) }

// foldPath writes a path with its loops once each: "(Wait > Get) x 4 > Done".
func foldPath(path []string) string {
	const most = 60
	var parts []string
	for _, turns := range fold.Loops(path) {
		part := strings.Join(path[:turns.Size], " > ")
		if turns.Times > 1 {
			part = fmt.Sprintf("(%s) x %d", part, turns.Times)
		}
		parts = append(parts, part)
		path = path[turns.Size*turns.Times:]
	}
	if len(parts) > most {
		parts = slices.Concat(parts[:most/2], []string{"..."}, parts[len(parts)-most/2:])
	}
	return strings.Join(parts, " > ")
}
