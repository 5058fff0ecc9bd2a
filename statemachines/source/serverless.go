package source

import (
	"slices"
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// machineSettings are the members of a machine of serverless-step-functions.
var machineSettings = []string{"definition", "id", "name", "type", "events"}

// serverlessPlugin is the plugin whose machines serverless.yml has.
const serverlessPlugin = "serverless-step-functions"

// serverless reads the state machines of a serverless.yml.
func (l *loader) serverless(f *file, root *value) []*Definition {
	vars := newVariables(l, f, root)
	section := vars.lone(root.get("stepFunctions"))
	if section == nil {
		return nil
	}
	machines := section
	if all := section.get("stateMachines"); all != nil {
		machines = vars.lone(all)
	}
	if machines == nil {
		return []*Definition{l.unknownMachines(f, root.get("stepFunctions"), "/stepFunctions")}
	}
	lists := []*value{machines}
	if machines.kind == jsontree.Array { // objects that are merged
		lists = machines.items
	}
	var found []*Definition
	for i, entry := range lists {
		list := vars.lone(entry)
		if list == nil {
			found = append(found, l.unknownMachines(f, entry, "/stepFunctions/stateMachines/"+strconv.Itoa(i)))
			continue
		}
		for _, m := range list.members {
			if d := vars.machine(m); d != nil {
				found = append(found, d)
			}
		}
	}
	return found
}

// unknownMachines stand for the machines of a value of serverless.yml that nobody knows.
func (l *loader) unknownMachines(f *file, at *value, pointer string) *Definition {
	d := &Definition{Name: f.name, File: f.name, pointer: pointer}
	l.serverlessMachine(d, f).warn(at, pointer, "the state machines are known to the Serverless Framework alone, so they are not checked: %s", packageFirst)
	return d
}

// packageFirst says how the Serverless Framework tells what it knows.
const packageFirst = "run serverless package, then jobpoller lint .serverless/cloudformation-template-update-stack.json"

func (l *loader) serverlessMachine(d *Definition, f *file) *machineReader {
	root := &value{}
	r := &resolver{root: root, given: l.valuesIn(f.name), unresolved: l.Unresolved, made: map[*value]*value{}}
	return &machineReader{template: &template{loader: l, file: f, root: root}, resolver: r, d: d, looked: map[*value]bool{}}
}

// machine reads a state machine; nil for a member that is none.
func (r *variables) machine(m member) *Definition {
	machine := r.lone(m.value)
	d := &Definition{Name: r.file.name + "#" + m.name.text, ID: m.name.text, File: r.file.name, YAML: isYAML(r.file.name, r.file.bytes)}
	reader := r.serverlessMachine(d, r.file)
	pointer := "/stepFunctions/stateMachines/" + pointerEscapes.Replace(m.name.text)
	d.pointer = pointer
	d.holdBy(m.name, m.value)
	definition, at := machine.get("definition"), machine.get("definition")
	switch {
	case machine == nil:
		r.explain(reader, m.value, pointer)
		return d
	case isFlow(machine): // before the plugin's version 1
		definition, at = machine, m.value
	case definition == nil && !slices.ContainsFunc(machineSettings, func(name string) bool { return machine.get(name) != nil }):
		return nil
	case definition == nil:
		reader.report(diag.Error, m.name, pointer, "the state machine %s has no definition: give it the member definition", d.ID)
		return d
	}
	pointer += "/definition"
	if kind := r.lone(machine.get("type")); kind != nil {
		d.Type = executionType(reader.resolver, &value{members: []member{{&value{text: "type"}, kind}}})
	}
	if definition = r.lone(definition); definition == nil {
		r.explain(reader, at, pointer)
		return d
	}
	r.readDefinition(reader, definition, pointer)
	return d
}

// readDefinition reads a definition, which may stand in a file of its own.
func (r *variables) readDefinition(reader *machineReader, definition *value, pointer string) {
	d, f := reader.d, definition.in.file
	if f != r.file {
		d.File, d.Template, d.YAML = f.name, r.file.name, isYAML(f.name, f.bytes)
		r.liveAt(d, f, definition.origin())
		r.named[r.nameNow(f.name)], r.taken[spot{r.nameNow(f.name), definition.origin()}] = true, true
	}
	if definition.kind == jsontree.String {
		d.Form, d.writing = FormText, writingOf(definition)
		reader.report(diag.Error, definition, pointer, "%s makes JSON of the definition, so AWS gets a string here: "+
			"write the definition as an object", serverlessPlugin)
		reader.text(definition, definition.chars(), pointer)
		return
	}
	if r.renders(0) {
		definition = r.expand(definition)
	}
	reader.object(definition, pointer)
	reader.checkFull(definition, pointer)
}

// explain says why the value of a variable is not known.
func (r *variables) explain(reader *machineReader, at *value, pointer string) {
	form := fileForm().FindStringSubmatch(r.lastExpression(at))
	if form == nil {
		reader.warn(at, pointer, "the definition of %s is known to the Serverless Framework alone, so it is not checked: %s", reader.d.ID, packageFirst)
		return
	}
	switch read := r.readFile(form[1]); {
	case read.outside:
		reader.warn(at, pointer, "%s, so the definition of %s is not checked: run jobpoller in a folder that has both", read.err, reader.d.Title())
	case read.err != nil:
		reader.report(diag.Error, at, pointer, "the file of the definition cannot be read: %v; expected a path relative to %s", read.err, r.file.name)
	case read.problems != nil:
		r.named[r.nameNow(read.file.name)] = true
		reader.d.File, reader.d.Template, reader.d.Problems = read.file.name, r.file.name, read.problems
	case read.root != nil:
		reader.report(diag.Error, at, pointer, "%s has no %q", read.file.name, form[2])
	default:
		reader.warn(at, pointer, "%s is a program, so the definition of %s is not checked: %s", form[1], reader.d.ID, packageFirst)
	}
}

// lastExpression returns the expression that has no value, behind those that lead to it. It
// is empty where a part of it is not known.
func (r *variables) lastExpression(at *value) string {
	for range maxNested {
		form := strings.TrimSpace(at.text)
		if !isLone(form) {
			return ""
		}
		expression := r.complete(form[len("${"):len(form)-len("}")], at)
		if strings.Contains(expression, "${") {
			return ""
		}
		next := r.evaluate(expression, at)
		if next == nil {
			return expression
		}
		at = next
	}
	return ""
}
