package graph

import (
	"fmt"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// Mermaid writes the graph as a Mermaid flowchart. Visited states and
// transitions have classes of their own if they are counted.
func (g *Graph) Mermaid() string {
	m := &mermaid{g: g, ids: map[*node]string{}}
	m.line(0, "flowchart TD")
	m.flow(g.flow, 1)
	for _, c := range mermaidClasses {
		m.line(1, "classDef "+c)
	}
	for _, o := range g.flow.outcomes() {
		m.line(1, "classDef "+string(o)+" "+mermaidOutcome(o))
	}
	for _, styled := range []struct {
		links []string
		style string
	}{{m.taken, "stroke:#1259c3,stroke-width:2.5px"}, {m.caught, "stroke:" + light("amber-line") + ",stroke-width:3px"}, {m.untaken, "stroke:#a9b2bd"}} {
		if len(styled.links) > 0 {
			m.line(1, "linkStyle "+strings.Join(styled.links, ",")+" "+styled.style)
		}
	}
	return m.out.String()
}

// mermaidClasses are the styles of nodes: borders and insides that can be told
// apart in light and in dark, with ink that goes with them.
var mermaidClasses = []string{
	"task fill:#e9f1fd,stroke:#2f6fce,color:#1b2430",
	"choice fill:#fff3dd,stroke:#b26a00,color:#1b2430",
	"wait fill:#f2ecfd,stroke:#7a4fc4,color:#1b2430",
	"pass fill:#f0f2f5,stroke:#68727f,color:#1b2430",
	"succeed fill:#e3f6ea,stroke:#1c8047,color:#1b2430",
	"fail fill:#fdeaea,stroke:#c4332f,color:#1b2430",
	"parallel stroke:#0c7c8c",
	"map stroke:#0c7c8c",
	"unknown stroke-dasharray:3 3",
	"unvisited stroke:#a9b2bd,stroke-width:1px",
	"visited stroke-width:3px",
}

// mermaidOutcome is the style of states by what came of them; their text says it, too.
func mermaidOutcome(o Outcome) string {
	name := "amber"
	switch o {
	case Aborted:
		return "stroke-width:4px,stroke-dasharray:7 4"
	case Retried:
		return "stroke-width:3px"
	case Failed, TimedOut:
		name = "bad"
	default:
	}
	return fmt.Sprintf("fill:%s,stroke:%s,stroke-width:4px,color:%s", light(name), light(name+"-line"), light(name+"-ink"))
}

// mermaid is a flowchart under way.
type mermaid struct {
	g     *Graph
	out   strings.Builder
	ids   map[*node]string
	links int
	// taken, caught and untaken are numbers of links.
	taken, caught, untaken []string
}

func (m *mermaid) line(depth int, text string) {
	m.out.WriteString(strings.Repeat("    ", depth) + text + "\n")
}

func (m *mermaid) flow(f *flow, depth int) {
	for _, n := range f.nodes {
		m.ids[n] = fmt.Sprintf("n%d", len(m.ids))
		m.node(n, depth)
	}
	for _, w := range f.wires {
		for _, way := range w.ways {
			m.link(w, way, depth)
		}
	}
}

// mermaidShapes are the brackets around the text of a node.
var mermaidShapes = map[asl.Type][2]string{
	asl.TypeTask: {"(", ")"}, asl.TypeChoice: {"{{", "}}"}, asl.TypeWait: {"([", "])"}, asl.TypePass: {"[/", "/]"},
	asl.TypeSucceed: {"([", "])"}, asl.TypeFail: {"[[", "]]"},
}

func (m *mermaid) node(n *node, depth int) {
	id := m.ids[n]
	switch n.kind {
	case kindStart:
		m.line(depth, id+`(("start"))`)
		return
	case kindEnd:
		m.line(depth, id+`((("end")))`)
		return
	case kindUnknown:
		m.line(depth, id+`["`+m.text(n, "<br/>")+`"]:::unknown`)
		return
	default:
	}
	class := strings.ToLower(string(n.state.Type))
	if len(n.flows) == 0 {
		shape := mermaidShapes[n.state.Type]
		m.line(depth, id+shape[0]+`"`+m.text(n, "<br/>")+`"`+shape[1]+":::"+class)
	} else {
		m.line(depth, "subgraph "+id+`["`+m.text(n, " ")+`"]`)
		for i, inner := range n.flows {
			if n.state.Type == asl.TypeParallel {
				m.line(depth+1, fmt.Sprintf(`subgraph %sb%d["Branch %d"]`, id, i, i))
				m.flow(inner, depth+2)
				m.line(depth+1, "end")
			} else {
				m.flow(inner, depth+1)
			}
		}
		m.line(depth, "end")
		m.line(depth, "class "+id+" "+class)
	}
	switch {
	case !m.g.visits:
	case n.visits > 0:
		m.line(depth, "class "+id+" visited")
	default:
		m.line(depth, "class "+id+" unvisited")
	}
	if n.ending.Outcome != "" {
		m.line(depth, "class "+id+" "+string(n.ending.Outcome))
	}
}

// text is the text of a node, its parts parted by a line break or, in the
// title of a subgraph, which has one line, by a space.
func (m *mermaid) text(n *node, parting string) string {
	out := mermaidText(n.heading) + parting + "<b>" + mermaidText(n.name) + "</b>"
	if m.g.visits && n.visits > 0 {
		out += parting + times(n.visits)
	}
	if n.ending.Text != "" {
		out += parting + mermaidText(n.ending.Text)
	}
	return out
}

func (m *mermaid) link(w *wire, way way, depth int) {
	arrow := "-->"
	if w.dashed {
		arrow = "-.->"
	}
	label := way.short
	number := fmt.Sprint(m.links)
	m.links++
	if m.g.takes {
		switch {
		case way.takes == 0:
			m.untaken = append(m.untaken, number)
		case w.isCaught():
			label = Caught.Word() + ": " + label + " " + times(way.takes)
			m.caught = append(m.caught, number)
		default:
			label = strings.TrimSpace(label + " " + times(way.takes))
			m.taken = append(m.taken, number)
		}
	}
	if label != "" {
		arrow += `|"` + mermaidText(label) + `"|`
	}
	m.line(depth, m.ids[w.from]+" "+arrow+" "+m.ids[w.to])
}

// mermaidText escapes a text: Mermaid reads entities by number or name with a
// number sign, and takes the backquote for Markdown.
func mermaidText(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case strings.ContainsRune("\"#&<>`\\", r):
			fmt.Fprintf(&b, "#%d;", r)
		case r < ' ' || r == 0x7f:
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
