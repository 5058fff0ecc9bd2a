package trial

import (
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// graph is the transitions between the states of all flows of a machine, by name.
type graph struct {
	names         []string
	after, before map[string][]string
	ends          map[string][]string // of the flows inside of a state, the states that end them
	outer         map[string][]string // of the first state of a flow, the one that the flow is in
}

func newGraph(m *asl.StateMachine) *graph {
	g := &graph{after: map[string][]string{}, before: map[string][]string{}, ends: map[string][]string{}, outer: map[string][]string{}}
	for s := range m.All {
		g.names = append(g.names, s.Name)
		for _, flow := range s.Flows() {
			g.outer[flow.StartAt] = append(g.outer[flow.StartAt], s.Name)
			for _, inner := range flow.States {
				if inner.Next == "" && inner.Choice == nil {
					g.ends[s.Name] = append(g.ends[s.Name], inner.Name)
				}
			}
		}
		for _, way := range s.Transitions() {
			g.after[s.Name] = append(g.after[s.Name], way.To)
			g.before[way.To] = append(g.before[way.To], s.Name)
		}
	}
	return g
}

// components are the sets of states that lead to each other (Kosaraju).
func (g *graph) components() [][]string {
	var left []string
	seen := map[string]bool{}
	for _, name := range g.names {
		visit(name, g.after, seen, func(name string) { left = append(left, name) })
	}
	clear(seen)
	var all [][]string
	for _, name := range slices.Backward(left) {
		var component []string
		visit(name, g.before, seen, func(name string) { component = append(component, name) })
		if component != nil {
			all = append(all, component)
		}
	}
	return all
}

// loops are the states of the loop that each state of one is in.
func (g *graph) loops() map[string][]string {
	loopOf := map[string][]string{}
	for _, component := range g.components() {
		if len(component) > 1 || slices.Contains(g.after[component[0]], component[0]) {
			for _, name := range component {
				loopOf[name] = component
			}
		}
	}
	return loopOf
}

// visit calls leave for each state that a way leads to, when all behind it are left.
func visit(from string, ways map[string][]string, seen map[string]bool, leave func(string)) {
	if seen[from] {
		return
	}
	seen[from] = true
	type step struct {
		name string
		next int
	}
	stack := []step{{name: from}}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if top.next == len(ways[top.name]) {
			leave(top.name)
			stack = stack[:len(stack)-1]
			continue
		}
		next := ways[top.name][top.next]
		top.next++
		if !seen[next] {
			seen[next] = true
			stack = append(stack, step{name: next})
		}
	}
}

// backTo are the states that lead to one, and those of the loops that do so through others, also from inside of a
// Map or Parallel that leads there or is in such a loop.
func (g *graph) backTo(name string, loopOf map[string][]string) []string {
	var found []string
	seen := map[string]bool{name: true}
	queue := []string{name}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for _, before := range slices.Concat(g.before[at], g.ends[at]) {
			if seen[before] {
				continue
			}
			seen[before] = true
			if at == name || loopOf[before] != nil {
				found = append(found, before)
			}
			if loopOf[before] == nil {
				queue = append(queue, before)
			}
			for _, inside := range loopOf[before] {
				if !seen[inside] && g.ends[inside] != nil {
					seen[inside] = true
					queue = append(queue, inside)
				}
			}
		}
	}
	return found
}

// ways are those back from each state, into and out of flows as well.
func (g *graph) ways() map[string][]string {
	ways := map[string][]string{}
	for _, name := range g.names {
		ways[name] = slices.Concat(g.before[name], g.ends[name], g.outer[name])
	}
	return ways
}
