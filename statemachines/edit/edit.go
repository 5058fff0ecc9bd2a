// Package edit changes definitions in the text that people wrote them in. An edit says
// what becomes of the data. What is written copies its neighbour, and the rest of the
// text stays as it is.
//
//	after, err := edit.Apply(before, read, edit.Edit{
//		Op: edit.Before, At: "/States/Done?/Choices/1",
//		Value: []byte(`{"Variable": "$.status", "StringEquals": "CANCELLED", "Next": "Failed"}`),
//	})
package edit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// Op says what an edit does.
type Op string

// The operations.
const (
	// Replace gives the value at At another one.
	Replace Op = "replace"
	// Rename gives the member at At the name Name.
	Rename Op = "rename"
	// Remove takes the member or item at At away.
	Remove Op = "remove"
	// Before inserts a member or an item in front of the one at At, and Behind inserts it
	// behind that one.
	Before Op = "before"
	Behind Op = "behind"
	// Append inserts it at the end of the object or array at At, which may be empty.
	Append Op = "append"
	// Move puts the item at At in front of the one at To, which stands before it in the array. Each keeps its comments.
	Move Op = "move"
)

// Edit is a change of a definition.
type Edit struct {
	Op Op `json:"op"`
	// At is a JSON pointer (RFC 6901) into the definition as it was before all edits.
	At string `json:"at"`
	// Name is that of the new member, or the new name of a member.
	Name string `json:"name,omitempty"`
	// Value is the new value: JSON, in the order in which it is to be written.
	Value json.RawMessage `json:"value,omitempty"`
	// To is a JSON pointer to the item in front of which Move puts another one.
	To string `json:"to,omitempty"`
}

// Error says why an edit is not made.
type Error struct {
	// At is the JSON pointer of the edit.
	At string
	// Line and Column are the place in the file, from 1; 0 if it is not known.
	Line, Column int
	Reason       string
}

// Error says where and why, and what to do.
func (e *Error) Error() string {
	place := cmp.Or(e.At, "the definition")
	if e.Line > 0 {
		place = fmt.Sprintf("%d:%d: %s", e.Line, e.Column, place)
	}
	return fmt.Sprintf("%s cannot be changed in place: %s; make the change by hand", place, e.Reason)
}

// Read reads a definition out of the text of its file.
type Read func(file []byte) (*source.Definition, error)

// Apply makes edits in the file of a definition and returns its new text. It makes all or
// none: the definition that read finds in the new text is the old one with the edits made
// as data, or there is an *Error. Edits that touch each other's text are an *Error, too.
func Apply(file []byte, read Read, edits ...Edit) ([]byte, error) {
	d, err := open(file, read)
	if err != nil {
		return nil, err
	}
	plan := make(changesOf, len(edits))
	places := make([]planned, len(edits))
	for i, e := range edits {
		if places[i], err = d.plan(e, plan); err != nil {
			return nil, err
		}
	}
	var all []change
	for _, p := range places {
		changes, err := d.change(p, plan)
		if err != nil {
			return nil, err
		}
		all = append(all, changes...)
	}
	after, err := d.write(all)
	if err != nil {
		return nil, err
	}
	if err := d.verify(after, read, plan, edits); err != nil {
		return nil, err
	}
	return after, nil
}

// verify reads the definition of a new text again.
func (d *document) verify(after []byte, read Read, plan changesOf, edits []Edit) error {
	at := ""
	if len(edits) > 0 {
		at = edits[0].At
	}
	again, err := read(after)
	if err == nil && again.Text == nil {
		err = again.Problems
	}
	if err != nil {
		return d.refuse(at, nil, "the new text cannot be read: %s", err)
	}
	got, err := again.Root()
	if err != nil {
		return d.refuse(at, nil, "the new text cannot be read: %s", err)
	}
	if !equal(plan.apply(d.root.data), got) {
		return d.refuse(at, nil, "the text is written in a way that the change would not keep")
	}
	return nil
}

// plan checks an edit, notes it, and returns it with its place.
func (d *document) plan(e Edit, plan changesOf) (planned, error) {
	n := d.root.find(e.At)
	if n == nil {
		return planned{}, d.refuse(e.At, nil, "the definition has no such value")
	}
	p := planned{Edit: e, node: n}
	switch e.Op {
	case Replace, Append:
	case Rename, Remove, Before, Behind, Move:
		if n.parent == nil {
			return p, d.refuse(e.At, n, "the definition itself has no neighbour and no name")
		}
	default:
		return p, d.refuse(e.At, n, "there is no operation %q", e.Op)
	}
	inside := n.parent // what the edit changes
	if e.Op == Append {
		inside = n
		if n.kind < jsontree.Array {
			return p, d.refuse(e.At, n, "only an object or an array has an end, found %s", n.kind)
		}
	}
	names := inside != nil && inside.kind == jsontree.Object && e.Op != Replace && e.Op != Remove && e.Op != Move
	if names != (e.Name != "") {
		return p, d.refuse(e.At, n, "a name is for a member alone, found the name %q", e.Name)
	}
	if names && d.takes(inside, e.Name, plan) {
		return p, d.refuse(e.At, n, "there is a member %q already", e.Name)
	}
	if e.Op == Move {
		to, err := d.target(e, n)
		if err != nil {
			return p, err
		}
		p.to = to
		plan[to.data] = append(plan[to.data], planned{Edit: Edit{Op: Move}, node: to, value: n.data, arrives: true})
	}
	if e.Op != Remove && e.Op != Rename && e.Op != Move {
		value, err := d.parse(e.Value)
		if err != nil {
			return p, d.refuse(e.At, n, "%s", err)
		}
		p.value = value
		p.Value = value.Raw()
		if err := d.checkPlaceholders(e.At, n, p.Value); err != nil {
			return p, err
		}
	}
	if p.name, p.text = e.Name, p.value; d.writing.Sub && p.value != nil {
		text, err := jsontree.Parse(d.escapeSub(p.Value))
		if err != nil {
			return p, d.refuse(e.At, n, "%s", err)
		}
		p.text = text.Root
	}
	if d.writing.Sub {
		p.name = string(d.escapeSub([]byte(e.Name)))
	}
	plan[n.data] = append(plan[n.data], p)
	return p, nil
}

// takes tells whether an object has a member of a name, or gets one.
func (d *document) takes(object *node, name string, plan changesOf) bool {
	if object.data.Get(name) != nil {
		return true
	}
	for _, made := range plan {
		for _, p := range made {
			if p.Name == name && (p.node == object && p.Op == Append || p.node.parent == object && p.Op != Append) {
				return true
			}
		}
	}
	return false
}

// parse reads a value as it is written in this file: HCL takes "%{" for the start of a
// directive, in JSONata a blank may follow the "{%".
func (d *document) parse(value json.RawMessage) (*jsontree.Node, error) {
	if !d.writing.Sub && !d.writing.Template && !d.writing.HCL && bytes.Contains(d.file, []byte("${")) {
		value = bytes.ReplaceAll(bytes.ReplaceAll(value, []byte(`"{%{`), []byte(`"{% {`)), []byte(`}%}"`), []byte(`} %}"`))
		if bytes.Contains(value, []byte("%{")) {
			return nil, fmt.Errorf(`"%%{" would start a directive of a template`)
		}
		for _, form := range placeholders().FindAll(value, -1) {
			if !d.isPlaceholder(form) {
				return nil, fmt.Errorf("%q would be a placeholder of a template", form)
			}
		}
	}
	document, err := jsontree.Parse(value)
	if err != nil {
		return nil, fmt.Errorf("the new value is not JSON: %w", err)
	}
	return document.Root, nil
}

// escapeSub writes what Fn::Sub reads. A placeholder that the text has already stays one.
func (d *document) escapeSub(text []byte) []byte {
	return placeholders().ReplaceAllFunc(text, func(form []byte) []byte {
		if d.isPlaceholder(form) {
			return form
		}
		return append([]byte("${!"), form[len("${"):]...)
	})
}

// isPlaceholder tells whether the file has a placeholder already.
func (d *document) isPlaceholder(form []byte) bool {
	return bytes.HasSuffix(form, []byte("}")) && !bytes.HasPrefix(form, []byte("${!")) && bytes.Contains(d.file, form)
}

// refuse returns an *Error at a node of the file.
func (d *document) refuse(at string, n *node, format string, args ...any) error {
	e := &Error{At: at, Reason: fmt.Sprintf(format, args...)}
	if n == nil {
		return e
	}
	offset := n.start()
	if d.isMapped() {
		offset, _ = d.Span(offset, offset)
	}
	p := diag.At(d.file, offset, "", "")
	e.Line, e.Column = p.Line, p.Column
	return e
}
