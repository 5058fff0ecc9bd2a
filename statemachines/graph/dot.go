package graph

import (
	"fmt"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// DOT writes the graph in the language of Graphviz.
func (g *Graph) DOT() string {
	d := &dot{g: g, ids: map[*node]string{}}
	d.line(0, "digraph %s {", dotText(g.title))
	d.line(1, "compound=true; bgcolor=white; fontname=Helvetica; fontsize=11;")
	d.line(1, "node [fontname=Helvetica fontsize=11 style=filled fillcolor=white];")
	d.line(1, "edge [fontname=Helvetica fontsize=10];")
	d.flow(g.flow, 1)
	d.line(0, "}")
	return d.out.String()
}

// dot is a DOT text under way.
type dot struct {
	g   *Graph
	out strings.Builder
	ids map[*node]string
}

func (d *dot) line(depth int, format string, args ...any) {
	d.out.WriteString(strings.Repeat("  ", depth))
	fmt.Fprintf(&d.out, format, args...)
	d.out.WriteByte('\n')
}

func (d *dot) flow(f *flow, depth int) {
	for _, n := range f.nodes {
		d.ids[n] = fmt.Sprintf("n%d", len(d.ids))
		d.node(n, depth)
	}
	for _, w := range f.wires {
		for _, way := range w.ways {
			d.edge(w, way, depth)
		}
	}
}

// dotShapes are the shapes and colours of the types of state.
var dotShapes = map[asl.Type][3]string{
	asl.TypeTask:    {`shape=box style="filled,rounded"`, "#2f6fce", "#e9f1fd"},
	asl.TypeChoice:  {"shape=hexagon", "#b26a00", "#fff3dd"},
	asl.TypeWait:    {"shape=ellipse", "#7a4fc4", "#f2ecfd"},
	asl.TypePass:    {"shape=parallelogram", "#68727f", "#f0f2f5"},
	asl.TypeSucceed: {"shape=ellipse peripheries=2", "#1c8047", "#e3f6ea"},
	asl.TypeFail:    {"shape=octagon peripheries=2", "#c4332f", "#fdeaea"},
}

// Colours of what a run did not come to.
const dotPale, dotPage = "#a9b2bd", "#ffffff"

// node writes a node. A state with flows in it is a cluster: lines come to the
// point at its top and leave the one at its bottom.
func (d *dot) node(n *node, depth int) {
	id := d.ids[n]
	unvisited := d.g.visits && n.visits == 0
	switch n.kind {
	case kindStart:
		d.line(depth, `%s [shape=circle label="" width=0.18 fillcolor=black tooltip="Start"];`, id)
		return
	case kindEnd:
		d.line(depth, `%s [shape=doublecircle label="" width=0.14 fillcolor=black tooltip="End"];`, id)
		return
	case kindUnknown:
		d.line(depth, `%s [shape=box style=dashed label=%s];`, id, d.text(n))
		return
	default:
	}
	if len(n.flows) == 0 {
		shape := dotShapes[n.state.Type]
		border, fill := shape[1], shape[2]
		if unvisited {
			border, fill = dotPale, dotPage
		}
		d.line(depth, `%s [%s color="%s" fillcolor="%s" label=%s];`, id, shape[0], border, fill, d.text(n))
		return
	}
	border := "#0c7c8c"
	if unvisited {
		border = dotPale
	}
	d.line(depth, `subgraph cluster_%s {`, id)
	d.line(depth+1, `style=rounded; color="%s"; label=%s;`, border, d.text(n))
	d.line(depth+1, `%s [shape=point style=invis];`, id)
	d.line(depth+1, `%s_out [shape=point style=invis];`, id)
	for i, inner := range n.flows {
		d.line(depth+1, `subgraph cluster_%s_%d {`, id, i)
		title := ""
		if n.state.Type == asl.TypeParallel {
			title = fmt.Sprintf("Branch %d", i)
		}
		d.line(depth+2, `style=dashed; color="%s"; label=%s;`, dotPale, dotText(title))
		d.flow(inner, depth+2)
		d.line(depth+1, "}")
		d.line(depth+1, `%s -> %s [style=invis];`, id, d.ids[inner.nodes[0]])
		for _, last := range inner.nodes {
			d.line(depth+1, `%s -> %s_out [style=invis];`, d.leave(last), id)
		}
	}
	d.line(depth, "}")
}

// leave is the name of the point that lines leave a node from.
func (d *dot) leave(n *node) string {
	if len(n.flows) > 0 {
		return d.ids[n] + "_out"
	}
	return d.ids[n]
}

func (d *dot) text(n *node) string {
	out := n.heading + "\n" + n.name
	if d.g.visits && n.visits > 0 {
		out += " " + times(n.visits)
	}
	return dotText(out)
}

func (d *dot) edge(w *wire, way way, depth int) {
	var attributes []string
	add := func(format string, args ...any) { attributes = append(attributes, fmt.Sprintf(format, args...)) }
	label := way.short
	switch {
	case !d.g.takes:
	case way.takes > 0:
		label = strings.TrimSpace(label + " " + times(way.takes))
		add(`color="#1259c3" penwidth=2`)
	default:
		add(`color="%s"`, dotPale)
	}
	if label != "" {
		add("label=%s", dotText(label))
	}
	if w.dashed {
		add("style=dashed")
	}
	if len(w.from.flows) > 0 {
		add("ltail=cluster_%s", d.ids[w.from])
	}
	if len(w.to.flows) > 0 {
		add("lhead=cluster_%s", d.ids[w.to])
	}
	if len(attributes) > 0 {
		d.line(depth, "%s -> %s [%s];", d.leave(w.from), d.ids[w.to], strings.Join(attributes, " "))
	} else {
		d.line(depth, "%s -> %s;", d.leave(w.from), d.ids[w.to])
	}
}

// dotText quotes a text.
func dotText(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", " ", "\x00", " ").Replace(s) + `"`
}
