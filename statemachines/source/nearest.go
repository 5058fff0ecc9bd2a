package source

import (
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
)

// nameMembers name the object that has them, the surest first.
var nameMembers = []string{"address", "name", "Name", "StateMachineName", "stateMachineName", "resourceName"}

// containers are members whose names say nothing of the state machine in them.
var containers = []string{
	"spec", "forProvider", "values", "attributes", "inputs", "outputs", "newState", "properties", "Properties", "configuration", "resource", "body",
	"data", "args", "with", "stateMachine", "StateMachine",
}

// nearestName names the state machine whose definition is looked at: by the nearest name,
// Name, address or key. It is empty for one that has none.
func (d *document) nearestName() string {
	if d.address != "" {
		return d.address
	}
	for i, s := range slices.Backward(d.path) {
		for _, name := range nameMembers {
			if text := s.in.get(name); isName(text) {
				return text.text
			}
		}
		if text := s.in.get("metadata").get("name"); isName(text) {
			return text.text
		}
		if i == 0 {
			break
		}
		if key := d.path[i-1]; key.in.kind == jsontree.Object && !slices.Contains(containers, key.name) && !strings.Contains(key.name, ".") {
			return key.name
		}
	}
	return ""
}

// isName tells whether a value is a name that is known here.
func isName(v *value) bool {
	text, ok := v.literal()
	return ok && v.kind == jsontree.String && text != "" && !strings.ContainsAny(text, "\n{")
}

// nameApart gives state machines of one name their pointers as names.
func (d *document) nameApart() {
	count := map[string]int{}
	for _, found := range d.found {
		count[found.Name]++
	}
	for _, found := range d.found {
		if count[found.Name] > 1 && found.pointer != "" {
			found.ID, found.Name = found.pointer, d.file.name+"#"+found.pointer
		}
	}
}
