package fix

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// jsonEdit writes a fragment into an object of JSON, or of YAML in brackets.
type jsonEdit struct {
	*fragment

	document *document
	states   source.Place // of the object
	printed  map[string]string
}

// changes are one of the states, and those of what leads to the loop from outside of
// them.
func (e *jsonEdit) changes() ([]change, error) {
	var outside []change
	targets, err := e.document.targets(e.fragment)
	if err != nil {
		return nil, err
	}
	var within []change // of the states
	for _, p := range targets {
		c := change{p.From, p.To, quote(e.start)}
		if p.From < e.states.From || p.To > e.states.To {
			outside = append(outside, c)
		} else {
			within = append(within, c)
		}
	}
	body, err := e.body(within)
	if err != nil {
		return nil, err
	}
	return append(outside, change{e.states.From, e.states.To, body}), nil
}

// body is the object of the states.
func (e *jsonEdit) body(targets []change) (string, error) {
	text := e.document.file
	places := make([]source.Place, len(e.flow.States))
	for i, s := range e.flow.States {
		p, err := e.document.place(s.Position.Pointer)
		if err != nil {
			return "", err
		}
		places[i] = p
	}
	style := newStyle(text, e.states, places[0])
	write := func(name string) string {
		return e.restoreJSON(style.indent(e.printed[name]), keptValue.toFile)
	}
	var pieces []string // each with the white space before it
	insert := func(name string) { pieces = append(pieces, style.lead+quote(name)+style.colon+write(name)) }
	before, after := e.around()
	first, last := e.loop.states[0].Name, e.loop.states[len(e.loop.states)-1].Name
	end := e.states.From + 1
	for i, s := range e.flow.States {
		p := places[i]
		lead := strings.Replace(string(text[end:p.Name]), ",", "", 1)
		end = p.To
		if !e.inside[s.Name] {
			var own []change
			for _, c := range targets {
				if c.from >= p.From && c.to <= p.To {
					own = append(own, c)
				}
			}
			pieces = append(pieces, lead+string(apply(text[p.Name:p.To], p.Name, own)))
			continue
		}
		if s.Name == first {
			for _, name := range before {
				insert(name)
			}
		}
		if e.printed[s.Name] != "" {
			pieces = append(pieces, lead+string(text[p.Name:p.From])+write(s.Name))
		}
		if s.Name == last {
			for _, name := range after {
				insert(name)
			}
		}
	}
	return "{" + strings.Join(pieces, ",") + string(text[end:e.states.To]), nil
}

// around are the new states that come before the loop, and those behind it.
func (f *fragment) around() (before, after []string) {
	first := f.poll.Name
	if f.starter != nil {
		first = f.starter.Name
	}
	at := slices.Index(f.order, first)
	for i, name := range f.order {
		switch {
		case f.inside[name]: // it takes the place of the one that it is named after
		case i < at:
			before = append(before, name)
		default:
			after = append(after, name)
		}
	}
	return before, after
}

// targetNodes are the names of states of the loop in the transitions of another.
func (f *fragment) targetNodes(state *jsontree.Node) []*jsontree.Node {
	return slices.DeleteFunc(transitionsOf(state), func(n *jsontree.Node) bool { return !f.inside[n.Text] })
}

// transitionsOf are the names of states in the transitions of a state.
func transitionsOf(state *jsontree.Node) []*jsontree.Node {
	var found []*jsontree.Node
	for _, m := range state.Members {
		switch {
		case (m.Name == "Next" || m.Name == "Default") && m.Value.Kind == jsontree.String:
			found = append(found, m.Value)
		case m.Name == "Choices" || m.Name == "Catch":
			for _, item := range m.Value.Items {
				found = append(found, transitionsOf(item)...)
			}
		}
	}
	return found
}

func quote(text string) string { return string(jsontree.Quote(text)) }

// style is how a definition is written.
type style struct {
	lead  string // before a state: a line break and white space
	colon string
	unit  string // of indentation
	base  string // white space before a state
	flat  bool   // all on one line
}

// newStyle reads how an object of states is written, by its first member.
func newStyle(text []byte, states, first source.Place) style {
	margin := func(offset int) (string, bool) {
		line := text[bytes.LastIndexByte(text[:offset], '\n')+1 : offset]
		return string(line), len(bytes.TrimSpace(line)) == 0 && bytes.IndexByte(text[:offset], '\n') >= 0
	}
	base, ok := margin(first.Name)
	s := style{base: base, unit: "  ", colon: ": "}
	name := text[first.Name:first.From]
	if i := bytes.LastIndexByte(name, '"'); i >= 0 {
		s.colon = string(name[i+1:])
	}
	if !ok {
		s.flat = true
		return s
	}
	s.lead = "\n" + base
	// The bracket at the end stands one level further out.
	outer, ok := margin(states.To - 1)
	switch {
	case strings.HasPrefix(base, "\t"):
		s.unit = "\t"
	case ok && strings.HasPrefix(base, outer) && len(base) > len(outer):
		s.unit = base[len(outer):]
	}
	return s
}

// printedMargin is the white space before a state that asl.Print writes, and
// printedUnit that of each level.
const printedMargin, printedUnit = "    ", "  "

// indent writes a state in the style.
func (s style) indent(state string) string {
	if s.flat {
		var b bytes.Buffer
		if json.Compact(&b, []byte(state)) == nil {
			return b.String()
		}
		return state
	}
	lines := strings.Split(state, "\n")
	for i, line := range lines {
		if i == 0 {
			continue
		}
		line = strings.TrimPrefix(line, printedMargin)
		body := strings.TrimLeft(line, " ")
		lines[i] = s.base + strings.Repeat(s.unit, (len(line)-len(body))/len(printedUnit)) + body
	}
	return strings.Join(lines, "\n")
}
