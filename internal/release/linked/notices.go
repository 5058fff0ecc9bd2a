package linked

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Notices is one text with the licences and notices of modules. A text that several
// modules have is there once, below their names.
func Notices(modules []Module) string {
	var b strings.Builder
	b.WriteString(`Third-party notices

The programs of jobpoller contain the modules below, which others made. This command
gets the sources of one:

    go mod download -json MODULE@VERSION

`)
	of := map[string][]string{}
	for _, m := range modules {
		fmt.Fprintf(&b, "    %s %s  %s\n", m.Path, m.Version, m.Expression())
		for _, t := range m.Texts {
			of[t.Content] = append(of[t.Content], fmt.Sprintf("%s %s, %s", m.Path, m.Version, t.Name))
		}
	}
	b.WriteString("\n" + standard + " is the standard library of Go.\n")
	texts := slices.SortedFunc(maps.Keys(of), func(a, b string) int { return slices.Compare(of[a], of[b]) })
	for _, text := range texts {
		fmt.Fprintf(&b, "\n%s\n%s\n\n%s\n", strings.Repeat("=", ruleWidth), strings.Join(of[text], "\n"), strings.TrimSpace(text))
	}
	return b.String()
}

// ruleWidth is the length of the line between two texts.
const ruleWidth = 80
