package lint

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// checkSameName checks that a loop that starts an execution in each turn, and waits for it, does not give each the same
// name: Step Functions takes the name of an execution that has ended no second time.
func (c *checker) checkSameName(l *loop) {
	turns := loops(l.flow, l.states, func(_ *asl.State, way asl.Transition) bool { return way.Kind != asl.TransitionCatch })
	for _, turn := range turns {
		for _, s := range turn.states {
			if s.Task == nil {
				continue
			}
			r := asl.ParseResource(s.Task.Resource)
			if r.Service != "states" || r.Action != "startExecution" || !strings.HasPrefix(r.Pattern, ".sync") || !isSameName(s) ||
				slices.ContainsFunc(s.Catch, func(k asl.Catcher) bool { return slices.ContainsFunc(k.ErrorEquals, alreadyExists().MatchString) }) {
				continue
			}
			c.reportAs(diag.Danger, RepeatedStart, s, "", "%q starts an execution in each turn of the loop %s, and its \"Name\" is the same: "+
				"the second one fails, as the execution already exists; leave \"Name\" out, or add to it what each turn changes", s.Name, turn.turn(s).path())
		}
	}
}

var alreadyExists = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`ExecutionAlreadyExists`) })

// isSameName tells whether the name of the execution that a Task starts is made of constants and of what the context
// object says of the execution around.
func isSameName(s *asl.State) bool {
	arguments := argumentsOf(s)
	if name, isText := memberLiteral(arguments, "Name").(string); isText {
		return name != "" && !asl.HasPlaceholder(name)
	}
	name := findMember(arguments, "Name")
	switch {
	case name == nil:
		return false
	case name.Path != nil:
		return ofExecution().MatchString(name.Path.String())
	case name.Intrinsic != nil:
		return !differs(name) && !slices.ContainsFunc(name.Intrinsic.Paths(), func(p *jsonpath.Path) bool { return !ofExecution().MatchString(p.String()) })
	case name.Expression != nil:
		text := ofExecution().ReplaceAllString(quoted().ReplaceAllString(name.Expression.String(), "''"), "")
		return !strings.ContainsAny(text, "$")
	default:
		return false
	}
}

// ofExecution matches a path to what the context object says of an execution.
var ofExecution = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$(\$|states\.context)\.Execution\.(Id|Name|StartTime)\b`)
})
