package fix

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// change puts a text in the place of bytes.
type change struct {
	from, to int
	text     string
}

// apply makes changes, which do not overlap, in a part of a text that begins at an
// offset.
func apply(part []byte, offset int, changes []change) []byte {
	slices.SortFunc(changes, func(a, b change) int { return a.from - b.from })
	var b bytes.Buffer
	at := 0
	for _, c := range changes {
		b.Write(part[at : c.from-offset])
		b.WriteString(c.text)
		at = c.to - offset
	}
	b.Write(part[at:])
	return b.Bytes()
}

// edit writes the definition with the fragment in the place of the loop.
func (f *fragment) edit(text []byte) ([]byte, error) {
	states := f.statesNode()
	printed, err := f.print()
	if err != nil {
		return nil, err
	}
	style := newStyle(text, states)
	var changes []change
	if n := f.flowNode().Get("StartAt"); n != nil && f.inside[n.Text] {
		changes = append(changes, change{n.Offset, n.End, quote(f.start)})
	}
	var pieces []string // each with the white space before it
	written := map[string]bool{}
	insert := func(name string) {
		written[name] = true
		pieces = append(pieces, style.lead+quote(name)+style.colon+style.indent(printed[name]))
	}
	last := len(states.Members) - 1
	for last > 0 && !f.inside[states.Members[last].Name] {
		last--
	}
	first, end := true, states.Offset+1
	for i, m := range states.Members {
		lead := strings.Replace(string(text[end:m.Offset]), ",", "", 1)
		end = m.Value.End
		switch {
		case !f.inside[m.Name]:
			kept := apply(text[m.Offset:m.Value.End], m.Offset, f.retarget(m.Value))
			pieces = append(pieces, lead+string(kept))
		default:
			if first {
				for _, name := range f.order[:slices.Index(f.order, f.poll.Name)] {
					insert(name)
				}
			}
			first = false
			if state := printed[m.Name]; state != "" {
				written[m.Name] = true
				pieces = append(pieces, lead+string(text[m.Offset:m.Value.Offset])+style.indent(state))
			}
		}
		if i == last {
			for _, name := range f.order {
				if !written[name] && !f.inside[name] {
					insert(name)
				}
			}
		}
	}
	body := "{" + strings.Join(pieces, ",") + string(text[end:states.End])
	changes = append(changes, change{states.Offset, states.End, body})
	return apply(text, 0, changes), nil
}

// statesNode is the object of the states of the loop's flow, and flowNode what it is
// in.
func (f *fragment) statesNode() *jsontree.Node { return f.flowNode().Get("States") }

func (f *fragment) flowNode() *jsontree.Node {
	pointer := f.poll.Position.Pointer
	n := f.root
	for step := range strings.SplitSeq(strings.TrimPrefix(pointer[:strings.LastIndex(pointer, "/States/")], "/"), "/") {
		if step != "" {
			n = n.Child(strings.NewReplacer("~1", "/", "~0", "~").Replace(step))
		}
	}
	return n
}

// retarget leads the transitions of a state into the fragment that led into the
// loop.
func (f *fragment) retarget(state *jsontree.Node) []change {
	var changes []change
	for _, n := range f.targetNodes(state) {
		changes = append(changes, change{n.Offset, n.End, quote(f.start)})
	}
	return changes
}

// targetNodes are the names of states of the loop in the transitions of another.
func (f *fragment) targetNodes(state *jsontree.Node) []*jsontree.Node {
	var found []*jsontree.Node
	var walk func(n *jsontree.Node)
	walk = func(n *jsontree.Node) {
		for _, m := range n.Members {
			switch {
			case (m.Name == "Next" || m.Name == "Default") && m.Value.Kind == jsontree.String && f.inside[m.Value.Text]:
				found = append(found, m.Value)
			case m.Name == "Choices" || m.Name == "Catch":
				for _, item := range m.Value.Items {
					walk(item)
				}
			}
		}
	}
	walk(state)
	return found
}

func quote(text string) string { return string(jsontree.Quote(text)) }

// print writes the states of the fragment, as asl.Print does.
func (f *fragment) print() (map[string]string, error) {
	all := map[string]any{}
	for name, s := range f.states {
		all[name] = s
	}
	for _, s := range f.states {
		text, err := json.Marshal(s)
		if err != nil {
			return nil, err
		}
		document, err := jsontree.Parse(text)
		if err != nil {
			return nil, err
		}
		for _, target := range targetsOf(document.Root) {
			if all[target] == nil {
				all[target] = object{"Type": "Pass", "End": true}
			}
		}
	}
	text, err := json.Marshal(object{"StartAt": f.start, "States": all})
	if err != nil {
		return nil, err
	}
	m, err := asl.Parse(text)
	if err != nil {
		return nil, refuse("its states cannot be written: %s", err)
	}
	document, err := jsontree.Parse(asl.Print(m))
	if err != nil {
		return nil, err
	}
	printed := map[string]string{}
	for _, member := range document.Root.Get("States").Members {
		if f.states[member.Name] != nil {
			printed[member.Name] = string(member.Value.Raw())
		}
	}
	return printed, nil
}

// style is how a definition is written.
type style struct {
	lead  string // before a state: a line break and white space
	colon string
	unit  string // of indentation
	base  string // white space before a state
	flat  bool   // all on one line
}

// newStyle reads how the states of a definition are written.
func newStyle(text []byte, states *jsontree.Node) style {
	margin := func(offset int) (string, bool) {
		line := text[bytes.LastIndexByte(text[:offset], '\n')+1 : offset]
		return string(line), len(bytes.TrimSpace(line)) == 0 && bytes.IndexByte(text[:offset], '\n') >= 0
	}
	first := states.Members[0]
	base, ok := margin(first.Offset)
	s := style{base: base, unit: "  ", colon: ": "}
	s.colon = string(text[first.Offset+len(jsontree.Quote(first.Name)) : first.Value.Offset])
	if !ok {
		s.flat = true
		return s
	}
	s.lead = "\n" + base
	// The bracket at the end stands one level further out.
	outer, ok := margin(states.End - 1)
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
