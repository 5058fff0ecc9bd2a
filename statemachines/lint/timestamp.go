package lint

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// mark stands for a time, to see whether it is still there a lap later.
const mark = "jobpoller: a time"

// isFixed tells whether a Wait of a loop waits for a time that no lap changes: from the
// second lap on it may have passed.
func (c *checker) isFixed(l *loop, wait *asl.State) bool {
	at := wait.Wait.Timestamp
	if at == nil {
		return false
	}
	if literal, ok := at.Literal.(time.Time); ok {
		return !literal.IsZero()
	}
	assigned := assignedNames(l.states)
	switch {
	case at.Expression != nil:
		text := at.Expression.String()
		return !changing().MatchString(text) && !slices.ContainsFunc(name().FindAllString(text, -1), func(n string) bool { return assigned[n] })
	case at.Path == nil || asl.IsPlaceholder(at.Path):
		return false
	case at.Path.Context():
		return strings.HasPrefix(at.Path.String(), "$$.Execution.")
	case at.Path.Variable() != "":
		return !assigned[at.Path.Variable()]
	default:
		return c.keeps(l, wait, at.Path)
	}
}

// changing is what an expression may read anew in each lap.
var changing = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$(now|millis|random|eval)\(|\$states\.(input|result|errorOutput)|\bState\b|\$states\b(?:[^.]|\.context\b[^.])`)
})

// assignedNames are the variables that states assign.
func assignedNames(states []*asl.State) map[string]bool {
	names := map[string]bool{}
	for _, s := range states {
		for _, t := range templatesOf(s) {
			for _, m := range t.Object {
				names[m.Name] = true
			}
			if object, ok := t.Literal.(map[string]any); ok {
				for n := range object {
					names[n] = true
				}
			}
		}
	}
	return names
}

// keeps tells whether each lap from a state back to it keeps what a path selects.
func (c *checker) keeps(l *loop, from *asl.State, path *jsonpath.Path) bool {
	var names []string
	for _, step := range path.Steps() {
		if step.Kind != jsonpath.StepName || step.Deep {
			return false
		}
		names = append(names, step.Names[0])
	}
	env := c.types.Input(from)
	env.Input = typecheck.Narrow(env.Input, names, mark)
	open, back := []entry{{from, env}}, false
	for visits := 0; len(open) > 0; visits++ {
		at := open[0]
		open = open[1:]
		if visits > mostVisits*len(l.states) {
			return false
		}
		for _, way := range c.types.Step(at.state, at.env, c.types.Result(at.state)) {
			switch {
			case !l.inside[way.To]:
			case way.To != from.Name:
				open = append(open, entry{l.flow.State(way.To), way.Env})
			case !isMarked(way.Env.Input, names):
				return false
			default:
				back = true
			}
		}
	}
	return back
}

// isMarked tells whether the value at a path is the mark.
func isMarked(v typecheck.Value, names []string) bool {
	for _, n := range names {
		v = v.Member(n)
	}
	words, known := v.Literals()
	return known && slices.Equal(words, []string{mark})
}
