// Package graph draws state machines: as SVG with a layout of its own, and as
// Mermaid text. Every machine that asl.Parse takes can be drawn.
package graph

import (
	"slices"
	"sync"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// Edge is a transition from one state to another; To is empty for the end of
// the flow. It has the members of sim.Edge, so one converts to the other.
type Edge struct {
	From, To string
	Kind     asl.TransitionKind
	Rule     int // number of the choice rule or catcher, from 0
}

// Options say what a drawing shows besides the definition.
type Options struct {
	// Title is the heading of the drawing for screen readers and tooltips;
	// "State machine" if empty.
	Title string
	// Visits counts how often each state was entered. If it is not nil, states
	// are coloured by whether they were visited.
	Visits map[string]int
	// Edges counts how often each transition was taken. If it is not nil,
	// transitions are coloured by whether they were taken.
	Edges map[Edge]int
	// Endings are the worst that came of states, by their names.
	Endings map[string]Ending
	// Links are the ids of the elements that say more of a state, by its name, in
	// the page that the drawing stands in. The drawing of the state has the id with
	// "node-" before it.
	Links map[string]string
	// Current are the states that an execution is in: their drawings have the class
	// "current".
	Current map[string]bool
}

// Graph is a state machine as a graph. It is safe for concurrent use.
type Graph struct {
	title, comment string
	flow           *flow
	// visits and takes tell whether states and transitions are counted.
	visits, takes bool
	laidOut       sync.Once
}

// flow is a graph of nodes, with its layout once it is laid out.
type flow struct {
	nodes         []*node // the start first, the end, if there is one, last
	wires         []*wire
	width, height float64
	trunks        []*trunk
}

// nodeKind tells states from the dots where a flow starts and ends.
type nodeKind uint8

const (
	kindState nodeKind = iota
	kindStart
	kindEnd
	// kindUnknown is a state that a placeholder stands for.
	kindUnknown
)

// node is a state or a dot. Its place is that of its top left corner in its
// flow.
type node struct {
	kind    nodeKind
	state   *asl.State // of kindState
	name    string
	heading string   // type and what it works on
	lines   []string // the name in lines that fit
	visits  int
	ending  Ending
	says    []string // the text of the ending in lines that fit
	link    string   // id of the element with details
	current bool     // an execution is in it
	flows   []*flow  // inside of the state

	x, y, width, height float64
	headHeight          float64 // of heading and name
	inner               []point // where the flows stand, from the top left corner
}

// wire is the transitions from one node to another that are drawn as one line.
type wire struct {
	from, to *node
	dashed   bool // for the transitions of catchers
	ways     []way
	label    *label // nil if the line needs none
	path     path
	arrow    *arrow // nil if the line ends in a trunk
}

// way is one transition of a wire.
type way struct {
	short, long string // readings of its condition; empty for Next
	takes       int
}

// label is the text at a wire. Its place is its centre.
type label struct {
	lines         []string
	x, y          float64
	width, height float64
}

// isCaught tells whether a Catch took a failure this way. A poll that leads on by a Catch is
// none.
func (w *wire) isCaught() bool {
	return w.dashed && w.takes() > 0 && w.from.ending.Outcome.Compare(Caught) >= 0
}

// takes is how often the wire was taken.
func (w *wire) takes() int {
	sum := 0
	for _, way := range w.ways {
		sum += way.takes
	}
	return sum
}

// New makes the graph of a state machine.
func New(m *asl.StateMachine, o Options) *Graph {
	g := &Graph{title: o.Title, comment: m.Comment, visits: o.Visits != nil, takes: o.Edges != nil}
	if g.title == "" {
		g.title = "State machine"
	}
	g.flow = g.newFlow(&m.Flow, o)
	return g
}

// newFlow makes the nodes and wires of a flow and of those inside of it.
func (g *Graph) newFlow(f *asl.Flow, o Options) *flow {
	out := &flow{}
	byName := map[string]*node{}
	start, end := &node{kind: kindStart}, &node{kind: kindEnd}
	out.nodes = append(out.nodes, start)
	for _, s := range f.States {
		n := &node{
			state: s, name: s.Name, heading: heading(s), visits: o.Visits[s.Name], ending: o.Endings[s.Name],
			link: o.Links[s.Name], current: o.Current[s.Name],
		}
		for _, inner := range s.Flows() {
			n.flows = append(n.flows, g.newFlow(inner, o))
		}
		byName[s.Name] = n
		out.nodes = append(out.nodes, n)
	}
	target := func(name string) *node {
		if byName[name] == nil {
			byName[name] = &node{kind: kindUnknown, name: name, heading: "set at deployment"}
			out.nodes = append(out.nodes, byName[name])
		}
		return byName[name]
	}
	entry := &wire{from: start, to: target(f.StartAt)}
	start.visits = entry.to.visits
	out.wires = append(out.wires, entry)
	ends := false
	for _, s := range f.States {
		from := byName[s.Name]
		transitions := s.Transitions()
		if s.End {
			transitions = append([]asl.Transition{{}}, transitions...)
			ends = true
		}
		for _, t := range transitions {
			to := end
			if t.To != "" {
				to = target(t.To)
			}
			takes := o.Edges[Edge{From: s.Name, To: t.To, Kind: t.Kind, Rule: t.Rule}]
			switch to {
			case end:
				if end.visits += takes; !g.takes {
					end.visits += from.visits
				}
			case entry.to:
				start.visits -= takes // it was not entered from the start
			}
			w := out.wire(from, to, t.Kind == asl.TransitionCatch)
			short, long := reading(s, t)
			w.ways = append(w.ways, way{short: short, long: long, takes: takes})
		}
	}
	start.visits = max(start.visits, 0)
	entry.ways = []way{{takes: start.visits}}
	if ends {
		out.nodes = append(out.nodes, end)
	}
	return out
}

// wire returns the wire between two nodes for transitions of one style. The
// last ones made are those of the same state.
func (f *flow) wire(from, to *node, dashed bool) *wire {
	for _, w := range slices.Backward(f.wires) {
		if w.from != from {
			break
		}
		if w.to == to && w.dashed == dashed {
			return w
		}
	}
	w := &wire{from: from, to: to, dashed: dashed}
	f.wires = append(f.wires, w)
	return w
}
