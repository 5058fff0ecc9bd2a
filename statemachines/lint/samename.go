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

// checkSameName checks that a loop that starts an execution of one state machine in each turn, and waits for it, does not
// give each the same name: a state machine takes the name of an execution that has ended no second time.
func (c *checker) checkSameName(l *loop) {
	turns := loops(l.flow, l.states, func(_ *asl.State, way asl.Transition) bool { return way.Kind != asl.TransitionCatch })
	for _, turn := range turns {
		for _, s := range turn.states {
			if s.Task == nil {
				continue
			}
			r := asl.ParseResource(s.Task.Resource)
			if r.Service != "states" || r.Action != "startExecution" || !strings.HasPrefix(r.Pattern, ".sync") || !isSameName(s) || !turn.isSameMachine(s) ||
				slices.ContainsFunc(s.Catch, func(k asl.Catcher) bool { return slices.ContainsFunc(k.ErrorEquals, alreadyExists().MatchString) }) {
				continue
			}
			c.reportAs(diag.Danger, RepeatedStart, s, "", "%q starts an execution in each turn of the loop %s, and its \"Name\" is the same: "+
				"the second one fails, as the execution already exists; leave \"Name\" out, or add to it what each turn changes", s.Name, c.turn(turn, s).path())
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
	return isOfExecution(findMember(arguments, "Name"), nil)
}

// isSameMachine tells whether a Task of the loop starts executions of one state machine: its ARN is made of constants,
// of what the context object says of the execution around, and of variables that the loop does not assign.
func (l *loop) isSameMachine(s *asl.State) bool {
	arguments := argumentsOf(s)
	if _, isText := memberLiteral(arguments, "StateMachineArn").(string); isText {
		return true
	}
	return isOfExecution(findMember(arguments, "StateMachineArn"), l.keeps)
}

// keeps tells whether no state of the loop assigns a variable.
func (l *loop) keeps(variable string) bool {
	return !slices.ContainsFunc(l.states, func(s *asl.State) bool {
		templates := []*asl.Template{s.Assign}
		for _, k := range s.Catch {
			templates = append(templates, k.Assign)
		}
		if s.Choice != nil {
			for i := range s.Choice.Rules {
				templates = append(templates, s.Choice.Rules[i].Assign)
			}
		}
		return slices.ContainsFunc(templates, func(t *asl.Template) bool { return memberOf(t, variable) != nil })
	})
}

// isOfExecution tells whether a value is made of constants, of what the context object says of the execution around,
// and of variables that are kept.
func isOfExecution(value *asl.Template, kept func(variable string) bool) bool {
	isOf := func(p *jsonpath.Path) bool {
		return ofExecution().MatchString(p.String()) || kept != nil && p.Variable() != "" && kept(p.Variable())
	}
	switch {
	case value == nil:
		return false
	case value.Path != nil:
		return isOf(value.Path)
	case value.Intrinsic != nil:
		return !differs(value) && !slices.ContainsFunc(value.Intrinsic.Paths(), func(p *jsonpath.Path) bool { return !isOf(p) })
	case value.Expression != nil:
		text := ofExecution().ReplaceAllString(quoted().ReplaceAllString(value.Expression.String(), "''"), "")
		text = variable().ReplaceAllStringFunc(text, func(name string) string {
			if kept != nil && name != "$states" && !strings.HasSuffix(name, "(") && kept(name[1:]) {
				return ""
			}
			return name
		})
		return !strings.Contains(text, "$")
	default:
		return false
	}
}

var (
	// ofExecution matches a path to what the context object says of an execution.
	ofExecution = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\$(\$|states\.context)\.(Execution\.(Id|Name|StartTime)|StateMachine\.(Id|Name))\b`)
	})
	// variable matches a variable of JSONata, or a function with its bracket.
	variable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\w+(\s*\()?`) })
)
