package lint

import (
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// isBelow tells whether a JSON pointer is another, or leads on from it.
func isBelow(pointer, from string) bool {
	rest, found := strings.CutPrefix(pointer, from)
	return found && (rest == "" || rest[0] == '/')
}

// isOfCall tells whether a JSON pointer is in the arguments of a Task.
func isOfCall(s *asl.State, pointer string) bool {
	return slices.ContainsFunc([]string{"/InputPath", "/Parameters", "/Arguments"}, func(field string) bool {
		return isBelow(pointer, s.Position.Pointer+field)
	})
}
