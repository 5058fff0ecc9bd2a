package lint

import (
	"slices"
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// valueOf is what is known of an operand where a state is entered.
func valueOf(env typecheck.Env, o operand) typecheck.Value {
	v := env.Input
	if o.variable != "" {
		v = env.Variable(o.variable)
	}
	for _, step := range o.steps {
		if n, err := strconv.Atoi(strings.Trim(step, "[]")); err == nil && strings.HasPrefix(step, "[") {
			v = v.Item(n)
		} else {
			v = v.Member(step)
		}
	}
	return v
}

// looksBesideStatus tells whether a Choice of a loop that polls an operation of the catalogue looks
// only at other members than its status, none of which may end in a failure that it leaves to its
// Default, as far as is known: the phases of a build go on to COMPLETED, whatever its status is.
func (c *checker) looksBesideStatus(l *loop, s *asl.State) bool {
	statuses := map[string]bool{}
	for _, poll := range l.states {
		if p := c.operations.of(poll); p != nil && p != checkStatus {
			for _, status := range p.statuses {
				statuses[status.steps[len(status.steps)-1]] = true
			}
		}
	}
	named := map[string]bool{}
	nameValues(s, named)
	env := c.types.Input(s)
	for i := range s.Choice.Rules {
		for _, o := range operandsOfRule(&s.Choice.Rules[i]) {
			v := valueOf(env, o)
			fails := slices.ContainsFunc(v.Enum(), func(value string) bool { return !named[value] && endName().MatchString(value) })
			isText := !v.IsUnknown() && !typecheck.Narrow(v, nil, otherValue).IsNothing()
			if len(o.steps) == 0 || statuses[o.steps[len(o.steps)-1]] || fails || !isText {
				return false
			}
		}
	}
	return len(statuses) > 0
}
