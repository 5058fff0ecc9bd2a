package source

import (
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// document finds the state machines in a document of JSON or YAML: each member of
// definitionNames that has a definition, and each template.
type document struct {
	*loader

	file  *file
	yaml  bool
	found []*Definition
	seen  map[*value]bool // aliases stand for what was seen
	path  []step          // to the value that is looked at
	// copied tells that the document is an answer of AWS, or a plan or state of a tool.
	copied bool
	// address is that of the resource of Terraform that is looked at.
	address string
	// number is that of the document in its file, from 0.
	number int
	// vars put variables into the definitions; nil until one has some.
	vars *variables
}

func newDocument(l *loader, f *file) *document {
	return &document{loader: l, file: f, yaml: isYAML(f.name, f.bytes), seen: map[*value]bool{}}
}

// step is a step into a document.
type step struct {
	in   *value // the object or array
	name string // of the member; empty for an item
	item int
}

// machine begins the definition that stands where the path leads.
func (d *document) machine() *machineReader {
	var siblings *value
	if len(d.path) > 0 {
		siblings = d.path[len(d.path)-1].in
	}
	r := &resolver{root: &value{}, given: d.valuesIn(d.file.name), unresolved: d.Unresolved, made: map[*value]*value{}}
	id := d.nearestName()
	found := &Definition{Name: d.file.name, ID: id, pointer: d.inFile(d.pointer()), File: d.file.name, YAML: d.yaml, Copied: d.copied}
	if id != "" {
		found.Name += "#" + id
	}
	found.Type = executionType(r, siblings)
	if d.address != "" {
		found.title, _ = siblings.textOf("name")
	}
	return &machineReader{template: &template{loader: d.loader, file: d.file, root: r.root}, resolver: r, d: found, looked: map[*value]bool{}}
}

// add adds what a reader found at a value.
func (d *document) add(r *machineReader, at *value) {
	r.checkFull(at, d.pointer())
	r.d.at = at.origin()
	if len(d.path) > 0 {
		r.d.holdBy(nil, d.path[len(d.path)-1].in)
	}
	d.found = append(d.found, r.d)
}

// unknown notes a state machine whose definition nobody knows.
func (d *document) unknown(at *value, format string) {
	r := d.machine()
	r.report(diag.Note, at, d.pointer(), format, r.d.Title())
	d.found = append(d.found, r.d)
}

// inFile is a pointer into the document, as one into its file.
func (d *document) inFile(pointer string) string {
	if d.number > 0 {
		return strconv.Itoa(d.number) + pointer
	}
	return pointer
}

// pointer is the JSON pointer of the value that is looked at.
func (d *document) pointer() string {
	var b strings.Builder
	for _, s := range d.path {
		b.WriteByte('/')
		if s.in.kind == jsontree.Array {
			b.WriteString(strconv.Itoa(s.item))
		} else {
			b.WriteString(pointerEscapes.Replace(s.name))
		}
	}
	return b.String()
}
