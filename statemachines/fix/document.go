package fix

import (
	"bytes"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// document is a file and the definition in it.
type document struct {
	*source.Definition

	file []byte
	read func(file []byte) (*source.Definition, error)
	root *jsontree.Node // of the definition's Text

	looked   bool // lint has looked at it, see look
	findings []finding
}

func newDocument(file []byte, read func(file []byte) (*source.Definition, error)) (*document, error) {
	d, err := read(file)
	if err != nil {
		return nil, err
	}
	if d.Text == nil {
		return nil, d.Problems
	}
	text, err := jsontree.Parse(d.Text)
	if err != nil {
		return nil, d.LocateError(err)
	}
	return &document{Definition: d, file: file, read: read, root: text.Root}, nil
}

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

// edit writes the file with a fragment in the place of its loop, and reads it again:
// the definition has to be the one that is meant.
func (d *document) edit(f *fragment, o Options) (*document, error) {
	states, err := d.place(f.flowPointer() + "/States")
	if err != nil {
		return nil, err
	}
	printed, err := f.print()
	if err != nil {
		return nil, err
	}
	var changes []change
	if d.file[states.From] == '{' {
		changes, err = (&jsonEdit{f, d, states, printed}).changes()
	} else {
		changes, err = (&yamlEdit{fragment: f, document: d, printed: printed}).changes()
	}
	if err != nil {
		return nil, err
	}
	if err := checkAnchors(d.file, changes); err != nil {
		return nil, err
	}
	if bytes.Contains(d.file, []byte("\r\n")) {
		for i, c := range changes {
			changes[i].text = strings.ReplaceAll(strings.ReplaceAll(c.text, "\r\n", "\n"), "\n", "\r\n")
		}
	}
	if slices.ContainsFunc(changes, func(c change) bool { return strings.Contains(c.text, keptName) }) {
		return nil, refuse("a value that the template gives would have to become a part of an expression")
	}
	text := apply(d.file, 0, changes)
	if name := lostPlaceholder(d.file, text); name != "" && o.MaxDelay == 0 && o.Schedule == nil {
		return nil, refuse("the new loop has its own delays, and nothing in it takes the value of ${%s}: say the longest delay", name)
	}
	changed, err := newDocument(text, d.read)
	if err != nil {
		return nil, refuse("the file cannot be changed: %s", err)
	}
	want, err := f.merge(d)
	if err != nil {
		return nil, err
	}
	if !equalJSON(string(changed.Text), string(want)) {
		return nil, refuse("the file is written in a way that cannot be changed in place")
	}
	return changed, nil
}

// lostPlaceholder is the name of a placeholder that the change takes out of the file; empty
// if it takes out none.
func lostPlaceholder(before, after []byte) string {
	kept := asl.FindPlaceholders(after)
	for _, p := range asl.FindPlaceholders(before) {
		if !slices.ContainsFunc(kept, func(k asl.PlaceholderForm) bool { return k.Name == p.Name }) {
			return p.Name
		}
	}
	return ""
}

// place is where a value stands in the file.
func (d *document) place(pointer string) (source.Place, error) {
	p, ok := d.Place(pointer)
	if !ok {
		return p, refuse("the place of %s in the file is not known", pointer)
	}
	return p, nil
}

// targets are the places of the names of states of the loop in what leads there from
// outside.
func (d *document) targets(f *fragment) ([]source.Place, error) {
	var all []source.Place
	add := func(nodes ...*jsontree.Node) error {
		for _, n := range nodes {
			p, err := d.place(n.Pointer())
			if err != nil {
				return err
			}
			if !slices.Contains(all, p) { // an alias has the place of its anchor
				all = append(all, p)
			}
		}
		return nil
	}
	if n := nodeAt(d.root, f.flowPointer()).Get("StartAt"); n != nil && f.inside[n.Text] {
		if err := add(n); err != nil {
			return nil, err
		}
	}
	for _, s := range f.flow.States {
		if !f.staysIn(s.Name) {
			if err := add(f.targetNodes(nodeAt(d.root, s.Position.Pointer))...); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// nodeAt is the value that a JSON pointer names.
func nodeAt(n *jsontree.Node, pointer string) *jsontree.Node {
	if pointer == "" {
		return n
	}
	for step := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		n = n.Child(strings.NewReplacer("~1", "/", "~0", "~").Replace(step))
	}
	return n
}
