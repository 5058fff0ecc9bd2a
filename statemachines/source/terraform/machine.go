package terraform

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Project reads modules, each file once.
type Project struct{ reader *reader }

// New reads with the files.
func New(files Files) *Project {
	return &Project{&reader{
		Files: files, units: units{}, folders: map[string]*source{}, templates: map[string]hclsyntax.Expression{},
		assigned: map[string]map[string]hclsyntax.Expression{},
	}}
}

// Calls are the folders of the modules that a module's blocks name.
func (p *Project) Calls(folder string) ([]string, error) {
	m, err := newModule(p.reader, folder)
	if err != nil {
		return nil, err
	}
	var folders []string
	for _, b := range m.source.blocks {
		if b.kind == "module" {
			if called, ok := m.callee(b); ok {
				folders = append(folders, path.Clean(called))
			}
		}
	}
	return folders, nil
}

// Problems are those of the files of a module, and of the modules that it calls.
func (p *Project) Problems(folder string) []Problem {
	var all []Problem
	open, seen := []string{folder}, map[string]bool{}
	for len(open) > 0 {
		next := open[0]
		open = open[1:]
		s := p.reader.folders[next]
		if s == nil || seen[next] {
			continue
		}
		seen[next] = true
		all = append(all, s.problems...)
		called, _ := p.Calls(next) // it has been read
		open = append(open, called...)
	}
	return all
}

// Machines are the state machines that a root module makes, in the order of its files,
// with those of modules that it calls.
func (p *Project) Machines(folder string) ([]Machine, error) {
	m, err := newModule(p.reader, folder)
	if err != nil {
		return nil, err
	}
	f := &finder{budget: newBudget()}
	f.find(m, Place{})
	return f.found, nil
}

// finder finds the machines of a module and of those that it calls.
type finder struct {
	budget *budget
	found  []Machine
}

// definitionAttributes are those that have a definition, by the type of a resource.
var definitionAttributes = map[string]string{
	"aws_sfn_state_machine": "definition", "awscc_stepfunctions_state_machine": "definition_string",
}

func (f *finder) find(m *module, within Place) {
	for _, b := range m.source.blocks {
		if len(f.found) >= maxMachines {
			return
		}
		at := within
		if at.File == "" {
			at = b.at
		}
		e := m.evaluator(f.budget.machine(), nil)
		switch {
		case b.kind == "resource" && len(b.labels) == 2 && definitionAttributes[b.labels[0]] != "":
			for _, i := range m.instances(e, b) {
				f.read(m, b, b.attributes[definitionAttributes[b.labels[0]]], i, m.prefix()+b.labels[0]+"."+b.labels[1]+i.suffix, at)
			}
		case b.kind == "module" && len(b.labels) == 1:
			for _, i := range m.calls(e, b) {
				if i.module != nil {
					f.find(i.module, at)
				} else if x := b.attributes["definition"]; x != nil {
					f.read(m, b, x, i, m.prefix()+"module."+b.labels[0]+i.suffix, at)
				}
			}
		}
	}
}

func (m *module) evaluator(b *budget, chosen map[Place]bool) *evaluator {
	return &evaluator{reader: m.reader, budget: b, locals: map[local]*Value{}, open: map[local]bool{}, chosen: chosen}
}

// read finds what the definition of an instance may be: a text for each way that unknown
// conditions may go, each condition by itself.
func (f *finder) read(m *module, b *block, x hclsyntax.Expression, i instance, address string, at Place) {
	if x == nil {
		f.found = append(f.found, Machine{Address: address, Local: m.localName(address), Block: at, At: b.at, Missing: definitionAttributes[b.labels[0]]})
		return
	}
	open := []map[Place]bool{{}}
	sources := map[Place]string{}
	for n := 0; n < len(open) && n < maxVariants; n++ {
		e := m.evaluator(f.budget.machine(), open[n])
		v := e.eval(x, i.scope)
		made := Machine{Address: address, Local: m.localName(address), Block: at, At: m.units.place(x.Range()), Type: typeOf(e, b, i.scope)}
		made.take(v)
		if made.Missing == "" && e.budget.spent() {
			made.Text, made.Object, made.Missing = nil, nil, m.units.source(x.Range())
		}
		if b.kind == "module" && !made.isMachine(b) {
			return
		}
		for _, c := range e.met {
			if _, known := sources[c.at]; !known {
				sources[c.at] = c.source
				next := maps.Clone(open[n])
				next[c.at] = false
				open = append(open, next)
			}
		}
		made.Condition = describe(open[n], e.met, sources)
		f.found = append(f.found, made)
	}
}

// describe says what the conditions are.
func describe(chosen map[Place]bool, met []condition, sources map[Place]string) string {
	var said []string
	for at, is := range chosen {
		if !is {
			said = append(said, "not ("+sources[at]+")")
		}
	}
	slices.Sort(said)
	for _, c := range met {
		said = append(said, sources[c.at])
	}
	return strings.Join(said, " and ")
}

// typeOf is the type that a block gives its machine.
func typeOf(e *evaluator, b *block, s scope) string {
	for _, name := range []string{"type", "state_machine_type"} {
		if x := b.attributes[name]; x != nil {
			text, _ := e.eval(x, s).text()
			known, _ := text.known()
			return strings.ToUpper(known)
		}
	}
	return ""
}

// take notes what a definition is.
func (m *Machine) take(v *Value) {
	encoded := v
	if v.encodes != nil {
		encoded = v.encodes
	}
	switch {
	case encoded.decodes != nil:
		m.Text, m.YAML = encoded.decodes.text, encoded.decodes.yaml
	case encoded.Kind == Object && encoded.Hole == nil:
		m.Object = encoded
	case v.Kind == String && v.encodes == nil:
		m.Text = v.Text
	case encoded.Hole != nil:
		m.Missing = encoded.Hole.Source
		m.note(encoded.Hole)
	default:
		m.Missing = "definition"
	}
	seen := map[*Value]bool{}
	if m.Object != nil {
		m.noteAll(m.Object, seen)
	}
	known := false
	for _, p := range m.Text {
		m.note(p.Hole)
		known = known || p.Hole == nil && strings.TrimSpace(p.Text) != ""
		if p.Hole != nil && m.Missing == "" {
			m.Missing = p.Hole.Source
		}
	}
	if known || m.Object != nil {
		m.Missing = ""
	} else {
		m.Text = nil
	}
}

// note keeps the problem of a hole.
func (m *Machine) note(h *Hole) {
	if h != nil && h.Problem != nil && !slices.Contains(m.Problems, *h.Problem) {
		m.Problems = append(m.Problems, *h.Problem)
	}
}

func (m *Machine) noteAll(v *Value, seen map[*Value]bool) {
	if seen[v] {
		return
	}
	seen[v] = true
	m.note(v.Hole)
	for _, p := range v.Text {
		m.note(p.Hole)
	}
	for _, item := range v.Items {
		m.noteAll(item, seen)
	}
	for _, member := range v.Members {
		m.noteAll(member.Value, seen)
	}
}

// isMachine tells whether the argument of a module is a state machine's definition, or may
// be one.
func (m *Machine) isMachine(b *block) bool {
	if m.Object != nil {
		return m.Object.get("StartAt") != nil && m.Object.get("States") != nil
	}
	if m.Missing != "" {
		source, _ := literalText(b.attributes["source"])
		return strings.Contains(source, "step-function")
	}
	whole := joinText(m.Text).whole
	return strings.Contains(whole, "StartAt") && strings.Contains(whole, "States")
}
