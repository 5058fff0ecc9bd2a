package source

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// terraformMachine is Terraform's type of a state machine.
const terraformMachine = "aws_sfn_state_machine"

// readTerraform finds the state machines in what Terraform says: in a plan or a state as
// "terraform show -json" prints it, and in the file of a state. It tells whether the
// document is one.
func (d *document) readTerraform(root *value) bool {
	planned, values, resources := root.get("planned_values"), root.get("values"), root.get("resources")
	switch {
	case d.yaml:
		return false
	case root.get("format_version") != nil && planned != nil:
		d.copied = true
		d.module(planned.get("root_module"), awaited(root))
	case root.get("format_version") != nil && values != nil:
		d.copied = true
		d.module(values.get("root_module"), nil)
	case root.get("terraform_version") != nil && root.get("lineage") != nil && resources != nil:
		d.copied = true
		for _, resource := range resources.items {
			d.stored(resource)
		}
	default:
		return false
	}
	return true
}

// module reads the resources of a module, and of those below it. awaited says what the
// unknown definitions wait for, by the address of the resource without its index.
func (d *document) module(v *value, awaited map[string]string) {
	if v == nil {
		return
	}
	for _, list := range []string{"resources", "child_modules"} {
		all := v.get(list)
		if all == nil {
			continue
		}
		for _, item := range all.items {
			if list == "child_modules" {
				d.module(item, awaited)
				continue
			}
			address, _ := item.textOf("address")
			d.resource(item, item.get("values"), address, awaited)
		}
	}
}

// stored reads a resource of the file of a state.
func (d *document) stored(v *value) {
	instances := v.get("instances")
	if instances == nil {
		return
	}
	for _, instance := range instances.items {
		address := ""
		if module, ok := v.textOf("module"); ok {
			address = module + "."
		}
		if mode, _ := v.textOf("mode"); mode == "data" {
			address += "data."
		}
		kind, _ := v.textOf("type")
		name, _ := v.textOf("name")
		address += kind + "." + name
		switch key := instance.get("index_key"); {
		case key == nil:
		case key.kind == jsontree.String:
			address += "[" + strconv.Quote(key.text) + "]"
		default:
			address += "[" + key.text + "]"
		}
		d.resource(v, cmp.Or(instance.get("attributes"), instance.get("attributes_flat")), address, nil)
	}
}

// resource reads the definition of a resource. It has no values if nothing of it is known.
func (d *document) resource(v, values *value, address string, awaited map[string]string) {
	if values == nil {
		values = &value{kind: jsontree.Object, in: v.in, start: v.start, after: v.end()}
	}
	d.address = address
	d.path = append(d.path, step{in: values, name: "definition"})
	defer func() { d.path, d.address = d.path[:len(d.path)-1], "" }()
	for _, name := range definitionNames {
		if definition := values.get(name); definition != nil && d.definition(definition) {
			return
		}
	}
	if kind, _ := v.textOf("type"); kind != terraformMachine {
		d.path[len(d.path)-1] = step{in: v, name: address} // which tells machines of several stacks apart
		d.walk(values)
		return
	}
	waits := awaited[withoutIndex(address)]
	if waits != "" {
		waits = " (" + waits + ")"
	}
	r := d.machine()
	r.report(diag.Note, v, "", "the definition of %s is known only when Terraform has made what it refers to%s, so it is not checked: "+
		"pass the folder with the .tf files, or after the deployment the answer of aws stepfunctions describe-state-machine", address, waits)
	d.found = append(d.found, r.d)
}

// withoutIndex returns the address of a resource without its index and those of its
// modules, as the configuration of a plan has it.
func withoutIndex(address string) string {
	var b strings.Builder
	depth := 0
	for _, c := range address {
		switch {
		case c == '[':
			depth++
		case c == ']':
			depth--
		case depth == 0:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// awaited returns the names that the definitions of a plan refer to, by the address of the
// resource without indices.
func awaited(plan *value) map[string]string {
	found := map[string]string{}
	var read func(module *value, prefix string)
	read = func(module *value, prefix string) {
		if module == nil {
			return
		}
		if resources := module.get("resources"); resources != nil {
			for _, resource := range resources.items {
				if kind, _ := resource.textOf("type"); kind != terraformMachine {
					continue
				}
				address, _ := resource.textOf("address")
				found[prefix+address] = references(resource.get("expressions").get("definition"))
			}
		}
		if calls := module.get("module_calls"); calls != nil {
			for _, call := range calls.members {
				read(call.value.get("module"), prefix+"module."+call.name.text+".")
			}
		}
	}
	read(plan.get("configuration").get("root_module"), "")
	return found
}

// references returns the names that an expression of a plan refers to. Terraform lists
// a.b.c and a.b for one of them.
func references(expression *value) string {
	all := expression.get("references")
	if all == nil {
		return ""
	}
	sorted := make([]string, 0, len(all.items))
	for _, name := range all.items {
		sorted = append(sorted, name.text)
	}
	slices.Sort(sorted)
	var names []string
	for _, name := range all.items {
		part := name.text + "."
		if at, _ := slices.BinarySearch(sorted, part); at == len(sorted) || !strings.HasPrefix(sorted[at], part) {
			names = append(names, name.text)
		}
	}
	return strings.Join(names, ", ")
}
