package source

import (
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// machineTypes are the types of resource that are state machines.
var machineTypes = []string{"AWS::Serverless::StateMachine", "AWS::StepFunctions::StateMachine"}

// template is a template of AWS SAM or CloudFormation.
type template struct {
	*loader

	file   *file
	yaml   bool
	root   *value
	copied bool // see Definition.Copied
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
	d := &Definition{
		Name: t.file.name + "#" + resource.name.text, ID: resource.name.text, File: t.file.name, YAML: t.yaml, Copied: t.copied, origin: t, pointer: pointer,
	}
	d.holdBy(resource.name, resource.value)
	properties := resource.value.get("Properties")
	pointer += "/Properties"
	r := &resolver{root: t.root, given: t.valuesIn(t.file.name), unresolved: t.Unresolved, made: map[*value]*value{}}
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
	for _, name := range []string{"Type", "StateMachineType", "type", "stateMachineType"} {
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
