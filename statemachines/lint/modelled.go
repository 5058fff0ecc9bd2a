package lint

import (
	"slices"
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// namesEnds tells whether a Choice looks at a status whose values a model lists, and no value that looks like the
// end of a job comes to its Default.
func (c *checker) namesEnds(s *asl.State) bool {
	env, named, lists := c.types.Input(s), map[string]bool{}, false
	nameValues(s, named)
	for i := range s.Choice.Rules {
		for _, o := range operandsOfRule(&s.Choice.Rules[i]) {
			listed := readOperand(env, o).Enum()
			lists = lists || len(listed) > 0
			nameByPattern(expressionsOf(s), listed, named)
			if slices.ContainsFunc(listed, func(value string) bool {
				return !named[value] && endName().MatchString(value) && !isOnItsWay(value) && c.comesToDefault(s, env, o, value)
			}) {
				return false
			}
		}
	}
	return lists
}

// comesToDefault tells whether no rule of a Choice takes a value of an operand, as far as is known.
func (c *checker) comesToDefault(s *asl.State, env typecheck.Env, o operand, value string) bool {
	if o.variable != "" || len(o.steps) == 0 {
		return true
	}
	ways := c.types.Step(s, env.Narrow(o.variable, o.path(), value), typecheck.Value{})
	return slices.ContainsFunc(ways, func(way typecheck.Way) bool { return way.Kind == asl.TransitionDefault })
}

// readOperand is the value of an operand in an environment.
func readOperand(env typecheck.Env, o operand) typecheck.Value {
	v := env.Input
	if o.variable != "" {
		v = env.Variable(o.variable)
	}
	for _, step := range o.steps {
		if index, err := strconv.Atoi(strings.Trim(step, "[]")); err == nil && strings.HasPrefix(step, "[") {
			v = v.Item(index)
		} else {
			v = v.Member(step)
		}
	}
	return v
}
