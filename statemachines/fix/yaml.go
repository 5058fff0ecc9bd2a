package fix

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// ApplyYAML is Apply for a definition in YAML, in a file of its own or inline in a
// template: it returns the new text of the file. read reads the definition out of a
// text of the file.
func ApplyYAML(ctx context.Context, file []byte, read func(file []byte) (*source.Definition, error), o Options) ([]byte, []Loop, error) {
	d, err := read(file)
	if err != nil {
		return nil, nil, err
	}
	m, err := d.Parse()
	if err != nil {
		return nil, nil, err
	}
	var found []Loop
	for _, l := range pollLoops(m) {
		if len(o.Only) > 0 && !slices.Contains(o.Only, l.Poll.Name) {
			continue
		}
		// A definition is read anew after each change, for its places.
		f, text, one, err := replaceOne(ctx, d.Text, l.Poll.Name, o)
		var changed []byte
		if err == nil {
			changed, err = f.editYAML(file, d, text, read)
		}
		reason, refused := reasonOf(err)
		switch {
		case refused:
			one.Refused = reason
		case err != nil:
			return nil, nil, err
		default:
			file = changed
			if d, err = read(file); err != nil {
				return nil, nil, err
			}
		}
		found = append(found, one)
	}
	return file, found, nil
}

// editYAML writes the file with the fragment in the place of the loop. The text is
// the definition in JSON as it has to be read then.
func (f *fragment) editYAML(file []byte, d *source.Definition, text []byte, read func([]byte) (*source.Definition, error)) ([]byte, error) {
	if d.Form == source.FormInline && slices.ContainsFunc(f.loop.states, func(s *asl.State) bool { return bytes.Contains(f.node(s).Raw(), []byte("${")) }) {
		return nil, refuse("the loop has values of the template, which would be lost")
	}
	e := &yamlEdit{fragment: f, file: file, definition: d}
	if err := e.collect(); err != nil {
		return nil, err
	}
	changed := apply(file, 0, e.changes)
	again, err := read(changed)
	if err != nil {
		return nil, refuse("the YAML cannot be changed: %s", err)
	}
	got, err := asl.Parse(again.Text)
	if err != nil {
		return nil, refuse("the YAML cannot be changed: %s", err)
	}
	want, err := asl.Parse(text)
	if err != nil {
		return nil, err
	}
	if !sameStates(asl.Print(got), asl.Print(want)) {
		return nil, refuse("the YAML cannot be changed: it is written in a way that this program does not know")
	}
	return changed, nil
}

// sameStates compares definitions, whatever the order of their states.
func sameStates(a, b []byte) bool { return equalJSON(string(a), string(b)) }

// yamlEdit collects the changes of a file.
type yamlEdit struct {
	*fragment

	file       []byte
	definition *source.Definition
	changes    []change
}

func (e *yamlEdit) collect() error {
	printed, err := e.print()
	if err != nil {
		return err
	}
	if n := e.flowNode().Get("StartAt"); n != nil && e.inside[n.Text] {
		if err := e.rename(n); err != nil {
			return err
		}
	}
	states := e.loop.states
	first, last := states[0], states[len(states)-1]
	written := map[string]bool{}
	var before, after []string
	for _, name := range e.order[:slices.Index(e.order, e.poll.Name)] {
		if !e.inside[name] {
			before, written[name] = append(before, name), true
		}
	}
	for _, name := range e.order {
		if !e.inside[name] && !written[name] {
			after = append(after, name)
		}
	}
	for _, s := range states {
		if err := e.state(s, printed, s == first, s == last, before, after); err != nil {
			return err
		}
	}
	for _, s := range e.flow.States {
		if e.inside[s.Name] {
			continue
		}
		for _, n := range e.targetNodes(e.node(s)) {
			if err := e.rename(n); err != nil {
				return err
			}
		}
	}
	return nil
}

// state replaces or removes a state of the loop, and adds states around it.
func (e *yamlEdit) state(s *asl.State, printed map[string]string, first, last bool, before, after []string) error {
	key, from, to, err := e.place(s)
	if err != nil {
		return err
	}
	line := bytes.LastIndexByte(e.file[:key], '\n') + 1
	margin := string(e.file[line:key])
	if strings.TrimSpace(margin) != "" {
		return refuse("the state %q does not begin a line", s.Name)
	}
	var b strings.Builder
	if first {
		for _, name := range before {
			b.WriteString(e.block(name, printed[name], margin))
		}
	}
	end := len(e.file)
	if i := bytes.IndexByte(e.file[to:], '\n'); i >= 0 {
		end = to + i + 1
	}
	if state := printed[s.Name]; state != "" {
		// The key stays as it is written, and a comment behind it.
		body := e.block(s.Name, state, margin)
		b.WriteString(string(e.file[line:from]) + body[strings.IndexByte(body, '\n')+1:])
	}
	if last {
		for _, name := range after {
			b.WriteString(e.block(name, printed[name], margin))
		}
	}
	e.changes = append(e.changes, change{line, end, b.String()})
	return nil
}

// place finds the key of a state, the first byte behind the line of the key, and the
// end of its value.
func (e *yamlEdit) place(s *asl.State) (key, from, to int, err error) {
	value, to, ok := e.definition.Range(s.Position.Pointer)
	position := e.definition.LocatePosition(s.Position)
	key = offsetOf(e.file, position.Line, position.Column)
	if !ok || key < 0 || value < key || e.file[value] == '{' {
		return 0, 0, 0, refuse("the state %q is not written as a block of lines", s.Name)
	}
	i := bytes.IndexByte(e.file[key:value], '\n')
	if i < 0 {
		return 0, 0, 0, refuse("the state %q is not written as a block of lines", s.Name)
	}
	return key, key + i + 1, to, nil
}

// offsetOf is the byte of a place; -1 if there is none.
func offsetOf(text []byte, line, column int) int {
	at := 0
	for range line - 1 {
		i := bytes.IndexByte(text[at:], '\n')
		if i < 0 {
			return -1
		}
		at += i + 1
	}
	for range column - 1 {
		if at >= len(text) {
			return -1
		}
		at += len(string([]rune(string(text[at:min(len(text), at+4)]))[:1]))
	}
	return at
}

// block writes a state as YAML, behind a margin.
func (e *yamlEdit) block(name, state, margin string) string {
	document, err := jsontree.Parse([]byte(state))
	if err != nil {
		return ""
	}
	key := &yaml.Node{}
	key.SetString(name)
	root := &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{key, yamlNode(document.Root)}}
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if encoder.Encode(root) != nil || encoder.Close() != nil {
		return ""
	}
	var out strings.Builder
	for line := range strings.Lines(b.String()) {
		out.WriteString(margin + line)
	}
	return out.String()
}

// yamlNode is a value of JSON as YAML, with members in the same order.
func yamlNode(n *jsontree.Node) *yaml.Node {
	node := &yaml.Node{}
	switch n.Kind {
	case jsontree.Object:
		node.Kind = yaml.MappingNode
		for _, m := range n.Members {
			name := &yaml.Node{}
			name.SetString(m.Name)
			node.Content = append(node.Content, name, yamlNode(m.Value))
		}
	case jsontree.Array:
		node.Kind = yaml.SequenceNode
		for _, item := range n.Items {
			node.Content = append(node.Content, yamlNode(item))
		}
	case jsontree.String:
		node.SetString(n.Text)
	default: // which YAML writes in the same way
		node.Kind, node.Value = yaml.ScalarNode, string(n.Raw())
	}
	if len(node.Content) == 0 && node.Kind != yaml.ScalarNode {
		node.Style = yaml.FlowStyle
	}
	return node
}

// rename lets a text name the first state of the fragment.
func (e *yamlEdit) rename(n *jsontree.Node) error {
	from, to, ok := e.definition.Range(n.Pointer())
	if !ok {
		return refuse("the place of %s is not known", n.Pointer())
	}
	text, err := yaml.Marshal(e.start)
	if err != nil {
		return err
	}
	e.changes = append(e.changes, change{from, to, strings.TrimSpace(string(text))})
	return nil
}
