package source

import (
	"bytes"
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/pollcore/diag"
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
	return []*Definition{l.alone(f)}, nil
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
	d := newDocument(l, f)
	for i, root := range c.roots {
		d.number = i
		d.read(root)
	}
	d.nameApart()
	return d.found
}

// alone reads a file as a definition.
func (l *loader) alone(f *file) *Definition {
	d := &Definition{Name: f.name, File: f.name}
	d.readFile(f, l.value)
	return d
}

// content is what a file says: its documents, or why it cannot be read.
type content struct {
	file     *file
	mayHold  bool // else it has no word of a state machine, and is not read
	roots    []*value
	problems diag.Problems
}

func readContent(f *file) *content {
	c := &content{file: f, mayHold: mayHold(f.bytes)}
	if c.mayHold {
		c.parse()
	}
	return c
}

// parse reads the text, and what cannot be read with its placeholders in quotes.
func (c *content) parse() {
	f, t := c.file, c.file.whole()
	if !isYAML(f.name, f.bytes) {
		var root *value
		if root, c.problems = readJSON(t); c.problems != nil {
			root, c.problems = readJSON(quoteBare(t))
		}
		if c.problems == nil {
			c.roots = []*value{root}
		}
		return
	}
	c.roots, c.problems = readDocuments(t)
	for _, quote := range []func(*text) *text{quoteYAML, quoteBare} {
		if c.problems == nil {
			break
		}
		if again, problems := readDocuments(quote(t)); problems == nil {
			c.roots, c.problems = again, nil
		}
	}
}

// mayHold tells whether a text has the words of a state machine.
func mayHold(text []byte) bool {
	has := func(word string) bool { return bytes.Contains(text, []byte(word)) }
	return has("StartAt") && has("States") || holdsTemplate(text) || has("stepFunctions") ||
		has(terraformMachine) || has(pulumiMachine) || has(ansibleModule) || has("stateMachineArn") && has("kmsKeyId")
}

// holdsTemplate tells whether a text may be a template with a state machine.
func holdsTemplate(text []byte) bool {
	return bytes.Contains(text, []byte("Resources")) &&
		slices.ContainsFunc(machineTypes, func(kind string) bool { return bytes.Contains(text, []byte(kind)) })
}

// isFlow tells whether a value has the members of a definition.
func isFlow(v *value) bool { return v.get("StartAt") != nil && v.get("States") != nil }

// isServerless tells whether a definition is one that the Serverless Framework takes from a
// file of its own: a function of CloudFormation or a variable names what a Task calls.
func isServerless(definition *value) bool {
	states := definition.get("States")
	return states != nil && slices.ContainsFunc(states.members, func(m member) bool {
		resource := m.value.get("Resource")
		if resource == nil {
			return false
		}
		function, _ := intrinsic(resource)
		return function != "" || slices.ContainsFunc(variableForm().FindAllString(resource.text, -1), func(form string) bool {
			return form[0] == '#' || strings.Contains(form, ",")
		})
	})
}

// isFlowText tells whether a text has the members of a definition, as people and programs
// indent them.
func isFlowText(text []byte) bool { return startsAt().Match(text) && hasStates().Match(text) }

var (
	startsAt  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^[ \t{]*["']?StartAt["']?\s*:`) })
	hasStates = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^[ \t{]*["']?States["']?\s*:`) })
)

// isTemplate tells whether a value is a template with a state machine.
func isTemplate(v *value) bool {
	resources := v.get("Resources")
	return resources != nil && hasMachine(resources)
}

func hasMachine(resources *value) bool {
	return slices.ContainsFunc(resources.members, func(m member) bool {
		kind, _ := m.value.textOf("Type")
		return slices.Contains(machineTypes, kind) || strings.HasPrefix(m.name.text, "Fn::ForEach::") && len(m.value.items) > 2 && hasMachine(m.value.items[2])
	})
}

// isYAML tells in which language a file is written: by its name, else by how it
// begins.
func isYAML(name string, text []byte) bool {
	switch path.Ext(name) {
	case ".json":
		return false
	case ".yaml", ".yml":
		return !json.Valid(text)
	default:
		return !startsAsJSON(text)
	}
}

func startsAsJSON(text []byte) bool {
	text = bytes.TrimLeft(bytes.TrimPrefix(text, []byte("\ufeff")), " \t\r\n")
	return len(text) > 0 && text[0] == '{'
}

func readTree(t *text, yaml bool) (*value, diag.Problems) {
	if yaml {
		return readYAML(t)
	}
	return readJSON(t)
}

// readFile reads a definition that has a file of its own.
func (d *Definition) readFile(f *file, value func(string) (string, bool)) {
	d.Form, d.YAML = FormFile, isYAML(f.name, f.bytes)
	if d.YAML {
		d.readYAML(substituteYAML(f.whole(), value))
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
