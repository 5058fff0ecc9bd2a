package fix

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// asked are the parts of the state's input, and the variables, that a poll's arguments read: they
// say which job it asks for.
type asked struct{ paths, variables []string }

// readPath finds a member of a state's input that an argument in JSONPath or in JSONata reads.
var readPath = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:\$states\.input|[^$\w]\$)\.(\w+)`) })

// madeMember finds a member of an object that an expression makes.
var madeMember = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`['"](\w+)['"]\s*:`) })

// askedBy reads the arguments of a poll.
func (c *checked) askedBy(poll *asl.State) asked {
	var a asked
	node := nodeAt(c.root, poll.Position.Pointer)
	for _, field := range []string{"Parameters", "Arguments"} {
		arguments := node.Get(field)
		if arguments == nil {
			continue
		}
		for _, m := range readPath().FindAllSubmatch(arguments.Raw(), -1) {
			a.paths = append(a.paths, string(m[1]))
		}
		for _, name := range poll.Variables() {
			if readsVariable(arguments.Raw(), name) {
				a.variables = append(a.variables, name)
			}
		}
	}
	return a
}

// setBy tells whether a state sets what a poll asks for, on its way to Next or Default.
func (a asked) setBy(s *asl.State, node *jsontree.Node) bool {
	if s.Task != nil && len(a.paths) > 0 && (s.QueryLanguage == asl.JSONata && s.Output == nil || s.ResultPath != nil && s.ResultPath.Root()) {
		return true // its result takes the place of the input
	}
	if s.Type != asl.TypeChoice && s.Type != asl.TypeWait && s.ResultPath != nil && !s.ResultPath.Root() {
		name, _, _ := strings.Cut(strings.TrimPrefix(s.ResultPath.String(), "$."), ".")
		if slices.Contains(a.paths, name) {
			return true
		}
	}
	return a.setIn(node)
}

// setBehind tells whether a state sets what a poll asks for, on some way out of it.
func (a asked) setBehind(s *asl.State, root *jsontree.Node) bool {
	return a.setBy(s, nodeAt(root, s.Position.Pointer)) ||
		slices.ContainsFunc(s.Transitions(), func(way asl.Transition) bool { return a.setOn(s, way, root) })
}

// setOn tells whether a rule or a catcher sets what a poll asks for.
func (a asked) setOn(s *asl.State, way asl.Transition, root *jsontree.Node) bool {
	ofState := way.Kind == asl.TransitionNext || way.Kind == asl.TransitionDefault
	return !ofState && a.setIn(nodeAt(root, strings.TrimSuffix(targetPointer(s, way), "/Next")))
}

// setIn tells whether an Assign sets one of the variables, or an Output or Parameters one of the
// members to what it has not been.
func (a asked) setIn(node *jsontree.Node) bool {
	if assign := node.Get("Assign"); assign != nil && slices.ContainsFunc(assign.Members, func(m jsontree.Member) bool {
		return slices.Contains(a.variables, variableOf(m))
	}) {
		return true
	}
	for _, field := range []string{"Output", "Parameters"} {
		made := node.Get(field)
		if made == nil || node.Get("Resource") != nil && field == "Parameters" {
			continue
		}
		for _, m := range madeMember().FindAllStringSubmatch(made.Text, -1) {
			if slices.Contains(a.paths, m[1]) {
				return true
			}
		}
		for _, m := range made.Members {
			name := variableOf(m)
			kept := []string{"$." + name, "{% $states.input." + name + " %}"}
			if slices.Contains(a.paths, name) && !slices.Contains(kept, m.Value.Text) {
				return true
			}
		}
	}
	return false
}
