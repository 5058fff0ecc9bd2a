package catalog

import (
	"slices"
	"strings"
)

// reads are how operations that change nothing are called.
var reads = []string{
	"BatchDescribe", "BatchGet", "Check", "Count", "Describe", "Estimate", "Filter", "Get", "Head", "List", "Lookup", "Poll", "Preview",
	"Query", "Read", "Retrieve", "Scan", "Search", "Select", "Simulate", "Test", "Validate", "View",
}

// Reads tells whether the operation changes nothing, by its name.
func (o *Operation) Reads() bool {
	return slices.ContainsFunc(reads, func(verb string) bool {
		rest, ok := strings.CutPrefix(o.Name, verb)
		return ok && (rest == "" || rest[0] >= 'A' && rest[0] <= 'Z')
	})
}
