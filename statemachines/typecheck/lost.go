package typecheck

import (
	"fmt"
	"slices"

	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// findLost warns of paths of JSONPath that select nothing on one of several ways to their state, such as behind a Task
// whose result has replaced the input. A path of JSONata gives nothing there, and may do so on purpose.
func (c *Checker) findLost() {
	known := map[string]bool{} // the places of findings
	for _, f := range c.findings {
		known[f.Pointer] = true
	}
	for s := range c.machine.All {
		types := c.states[s]
		if types.assumed {
			continue
		}
		for _, way := range c.step(s, types.in, c.Result(s), false) {
			next := types.flow.State(way.To)
			if way.End || next == nil || next.QueryLanguage == asl.JSONata || c.states[next].assumed {
				continue
			}
			for _, f := range c.findOn(next, way.Env) {
				if f.Rule != UnknownMember || known[f.Pointer] {
					continue
				}
				f.Severity = diag.Warning
				f.Message += fmt.Sprintf(" on the way from %q, and the state fails", s.Name) + adviseLost(s, way)
				c.add(f)
				known[f.Pointer] = true
			}
		}
	}
}

// findOn is what is wrong in a state that is entered from an environment.
func (c *Checker) findOn(s *asl.State, in Env) []Finding {
	findings, told := c.findings, c.told
	c.findings, c.told = nil, map[[3]string]bool{}
	c.step(s, in, c.Result(s), true)
	found := c.findings
	c.findings, c.told = findings, told
	return slices.Clone(found)
}

// adviseLost says how to keep the input of a state that its result or an error replaces; empty if neither does.
func adviseLost(s *asl.State, way Way) string {
	replaces := s.QueryLanguage != asl.JSONata && (s.Task != nil || len(s.Flows()) > 0)
	switch {
	case !replaces:
		return ""
	case way.Kind == asl.TransitionCatch && isRoot(s.Catch[way.Rule].ResultPath):
		return fmt.Sprintf("; keep the input of %q by \"ResultPath\" of its catcher", s.Name)
	case way.Kind != asl.TransitionCatch && isRoot(s.ResultPath):
		return fmt.Sprintf("; keep the input of %q by its \"ResultPath\"", s.Name)
	default:
		return ""
	}
}

// isRoot tells whether a path is "$".
func isRoot(p *jsonpath.Path) bool { return p != nil && p.Root() && p.Variable() == "" && !p.Context() }
