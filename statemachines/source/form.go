package source

import (
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/internal/terminal"
)

// definitions returns the definitions of a file that the user names.
func (l *loader) definitions(f *file) ([]*Definition, error) {
	if d := l.program(f); d != nil {
		return []*Definition{d}, nil
	}
	c := readContent(f)
	if all := l.find(c); all != nil {
		return all, nil
	}
	if len(f.bytes) > maxDefinitionFile {
		return nil, errorf("%s has no state machine, and more than %d bytes, which no definition has", f.name, maxDefinitionFile)
	}
	if !c.mayHold {
		c.parse()
	}
	if len(c.roots) == 1 && c.roots[0].get("Resources") != nil && c.roots[0].get("StartAt") == nil {
		return nil, errorf("%s has no state machine: expected a resource of type %s", f.name, strings.Join(machineTypes, " or "))
	}
	if len(c.roots) == 1 && isOther(c.roots[0]) {
		return nil, &OtherFileError{Name: f.name, Text: f.bytes}
	}
	return []*Definition{l.alone(f)}, nil
}

// OtherFileError is the error of a file that somebody names, with a text that has nothing
// of a state machine.
type OtherFileError struct {
	Name string
	Text []byte
}

func (e *OtherFileError) Error() string {
	return terminal.Quote(e.Name) + " has no state machine: expected an object with StartAt and States, or a file that has one within"
}

// isOther tells whether an object has no field of a definition; StartAt and States count
// in small letters and capitals.
func isOther(v *value) bool {
	return v.kind == jsontree.Object && !slices.ContainsFunc(v.members, func(m member) bool {
		name := m.name.text
		return strings.EqualFold(name, "StartAt") || strings.EqualFold(name, "States") ||
			slices.Contains([]string{"Comment", "QueryLanguage", "TimeoutSeconds", "Version"}, name)
	})
}

// find returns the definitions of a file: its own, those of a template, and those that a
// member of it has. A file of something else has none.
func (l *loader) find(c *content) []*Definition {
	f := c.file
	switch {
	case !c.mayHold:
		return nil
	case c.problems != nil:
		if d := mustRender(c); d != nil {
			return []*Definition{d}
		}
		if holdsTemplate(f.bytes) {
			return []*Definition{{Name: f.name, File: f.name, Problems: c.problems, Form: FormFile, YAML: isYAML(f.name, f.bytes)}}
		}
		// A definition with a slip of the pen is one all the same.
		if isNamedASL(f.name) || hasDefinitions(f.name) && isFlowText(f.bytes) {
			return []*Definition{l.alone(f)}
		}
		return nil
	}
	if slices.ContainsFunc(c.roots, isFlow) {
		if d := rendersByName(c); d != nil {
			return []*Definition{d}
		}
		if len(c.roots) == 1 && isServerless(c.roots[0]) {
			d := newDocument(l, f)
			d.definition(c.roots[0])
			return d.found
		}
		return []*Definition{l.alone(f)}
	}
	if len(c.roots) > 1 && slices.ContainsFunc(c.roots, isTemplate) {
		return []*Definition{l.alone(f)} // with the problem of the second document
	}
	if len(c.roots) == 1 && isConstructTree(c.roots[0]) {
		return nil
	}
	d := newDocument(l, f)
	for i, root := range c.roots {
		d.number = i
		d.read(root)
	}
	d.nameApart()
	return d.found
}

// read finds the state machines below the root of a document.
func (d *document) read(root *value) {
	d.copied = false
	switch {
	case root.kind == jsontree.String: // of aws --query definition or --query TemplateBody
		d.copied = true
		if !d.definition(root) {
			d.embedded(root)
		}
	case d.readTerraform(root):
	case root.get("stepFunctions") != nil:
		d.found = append(d.found, d.serverless(d.file, root)...)
		d.seen[root.get("stepFunctions")] = true
		d.walk(root)
	default:
		d.walk(root)
	}
}

// alone reads a file as a definition.
func (l *loader) alone(f *file) *Definition {
	d := &Definition{Name: f.name, File: f.name}
	d.readFile(f, l.valuesIn(f.name))
	return d
}

// readFile reads a definition that has a file of its own.
func (d *Definition) readFile(f *file, value func(string) (string, bool)) {
	d.Form, d.YAML = FormFile, isYAML(f.name, f.bytes)
	if d.YAML {
		d.readYAML(substituteYAML(nameValues(f.whole()), value))
		return
	}
	d.readJSON(f.withNames(), value)
}

func (d *Definition) readJSON(t *text, value func(string) (string, bool)) {
	d.text, d.quoted = substituteJSON(t, value)
	d.Text = d.text.bytes
}

func (d *Definition) readYAML(t *text) {
	root, problems := readYAML(t)
	if problems != nil {
		if again, others := readYAML(quoteYAML(t)); others == nil {
			root, problems = again, nil
		}
	}
	if problems == nil {
		d.root = root
		d.text, problems = render(root)
	}
	if problems != nil {
		d.Problems = append(d.Problems, problems...)
		return
	}
	d.Text = d.text.bytes
}
