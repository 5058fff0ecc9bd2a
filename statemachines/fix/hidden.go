package fix

import (
	"regexp"
	"slices"
	"sync"

	"github.com/jobpoller/jobpoller/internal/jsontree"
)

// called finds the functions that expressions call.
var called = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$(\w+)\(`) })

// checkFunctions refuses a loop that calls a function by a name that the machine, whose new
// definition is passed, gives a variable: in JSONata the variable hides the function.
func (f *fragment) checkFunctions(machine *jsontree.Node) error {
	variables := setIn(machine)
	for _, name := range f.order {
		for _, found := range called().FindAllSubmatch(mustJSON(f.states[name]), -1) {
			if function := string(found[1]); slices.Contains(variables, function) {
				return refuse("the machine has a variable %q, which hides the function $%[1]s that the new loop calls: give the variable another name", function)
			}
		}
	}
	return nil
}

// setIn are the variables that the Assigns in a part of a definition set.
func setIn(n *jsontree.Node) []string {
	var names []string
	for _, m := range n.Members {
		if m.Name == "Assign" {
			for _, set := range m.Value.Members {
				names = append(names, variableOf(set))
			}
		}
		names = append(names, setIn(m.Value)...)
	}
	for _, item := range n.Items {
		names = append(names, setIn(item)...)
	}
	return names
}
