package typecheck

import (
	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// AlwaysSelects tells whether a path of the input of a state, or of a variable, selects a value in each run that comes to the
// state, and whether that is never an object or an array.
func (c *Checker) AlwaysSelects(s *asl.State, path *jsonpath.Path) (value, scalar bool) {
	if asl.IsPlaceholder(path) || path.Context() || !path.Definite() {
		return false, false
	}
	env := c.Input(s)
	root := env.Input
	if name := path.Variable(); name != "" {
		root = env.Variable(name)
	}
	selected, _ := presence(root, c.stepsOf(path))
	return !selected.IsNothing() && !selected.may(missing), !selected.may(objects | arrays)
}
