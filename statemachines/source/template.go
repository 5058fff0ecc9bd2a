package source

import (
	"bytes"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// machineTypes are the types of resource that are state machines.
var machineTypes = []string{"AWS::Serverless::StateMachine", "AWS::StepFunctions::StateMachine"}

// definitions returns the definitions of a file: its own, or those of the state
// machines of a template.
func (l *loader) definitions(f *file) []*Definition {
	if bytes.Contains(f.bytes, []byte("Resources")) {
		root, problems := readTree(f.whole(), isYAML(f.name, f.bytes))
		if resources := root.get("Resources"); resources != nil && root.get("StartAt") == nil {
			t := &template{loader: l, file: f, root: root}
			return t.machines(resources, "/Resources")
		}
		if problems != nil && slices.ContainsFunc(machineTypes, func(kind string) bool { return bytes.Contains(f.bytes, []byte(kind)) }) {
			return []*Definition{{Name: f.name, File: f.name, Problems: problems, Form: FormFile, YAML: isYAML(f.name, f.bytes)}}
		}
	}
	d := &Definition{Name: f.name, File: f.name}
	d.readFile(f, l.value)
	return []*Definition{d}
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
	d.readJSON(f.whole(), value)
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

// template is a template of AWS SAM or CloudFormation.
type template struct {
	*loader

	file *file
	root *value
}

// machines returns the state machines of the resources, in their order.
func (t *template) machines(resources *value, pointer string) []*Definition {
	var all []*Definition
	for _, m := range resources.members {
		at := pointer + "/" + pointerEscapes.Replace(m.name.text)
		if strings.HasPrefix(m.name.text, "Fn::ForEach::") && len(m.value.items) == len([]string{"name", "list", "resources"}) {
			all = append(all, t.machines(m.value.items[2], at+"/2")...)
			continue
		}
		if kind, _ := m.value.textOf("Type"); slices.Contains(machineTypes, kind) {
			all = append(all, t.machine(m, at))
		}
	}
	return all
}

// machine reads the definition of a resource.
func (t *template) machine(resource member, pointer string) *Definition {
	d := &Definition{Name: t.file.name + "#" + resource.name.text, ID: resource.name.text, File: t.file.name, YAML: isYAML(t.file.name, t.file.bytes), origin: t}
	properties := resource.value.get("Properties")
	pointer += "/Properties"
	r := &resolver{root: t.root, given: t.value, unresolved: t.Unresolved, made: map[*value]*value{}}
	kind, _ := resource.value.textOf("Type")
	r.numbers = kind == machineTypes[0]
	d.Type = executionType(r, properties)
	m := &machineReader{template: t, resolver: r, d: d, substitutions: properties.get("DefinitionSubstitutions"), looked: map[*value]bool{}}
	var forms []member
	if properties != nil {
		for _, p := range properties.members {
			if slices.Contains(definitionProperties, p.name.text) {
				forms = append(forms, p)
			}
		}
	}
	switch len(forms) {
	case 0:
		if isOpen(properties) {
			m.warn(properties, pointer, "the definition of %s is known at deployment only, so it is not checked", d.ID)
			break
		}
		m.report(diag.Error, resource.name, pointer, "the state machine %s has no definition: give it one of %s", d.ID, strings.Join(definitionProperties, ", "))
	case 1:
		m.read(forms[0], pointer+"/"+forms[0].name.text)
	default:
		second := forms[1].name
		m.report(diag.Error, second, pointer+"/"+second.text, "the state machine %s has a definition already, in %s; keep one", d.ID, forms[0].name.text)
	}
	return d
}

// isOpen tells whether a function gives the properties.
func isOpen(properties *value) bool {
	if properties == nil {
		return false
	}
	name, _ := intrinsic(properties)
	return name != "" || properties.get("Fn::Transform") != nil
}

// executionType is what the template says of it.
func executionType(r *resolver, properties *value) asl.ExecutionType {
	for _, name := range []string{"Type", "StateMachineType"} {
		if kind := properties.get(name); kind != nil {
			text, _ := r.resolve(kind).literal()
			if kind := asl.ExecutionType(text); kind == asl.Standard || kind == asl.Express {
				return kind
			}
		}
	}
	return ""
}

// definitionProperties are where a resource has its definition.
var definitionProperties = []string{"Definition", "DefinitionString", "DefinitionUri", "DefinitionS3Location"}
