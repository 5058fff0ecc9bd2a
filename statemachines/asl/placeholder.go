package asl

import (
	"regexp"
	"slices"

	"github.com/jobpoller/jobpoller/internal/jsontree"
)

// Placeholder is a "${Name}" in a definition, which AWS SAM
// (DefinitionSubstitutions) or the CDK replaces at deployment.
type Placeholder struct {
	Name     string
	Position Position // of the value that it stands in
	// Needed is set if the value has to be known to run the definition: a
	// number, a path, an expression, the name of a state.
	Needed bool
}

var placeholderForm = regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_.:-]*\}`)

// placeholder tells whether placeholders stand in a string, and keeps them.
func (p *parser) placeholder(n *jsontree.Node, needed bool) bool {
	if n.Kind != jsontree.String {
		return false
	}
	found := placeholderForm.FindAllString(n.Text, -1)
	for _, text := range found {
		h := Placeholder{Name: text[len("${") : len(text)-len("}")], Position: p.position(n.Pointer, n.Offset), Needed: needed}
		all := p.machine.Placeholders
		same := func(other Placeholder) bool { return other.Name == h.Name && other.Position == h.Position }
		// A value may be looked at twice, but not after the next one.
		recent := max(0, len(all)-len(found))
		if i := slices.IndexFunc(all[recent:], same); i >= 0 {
			i += recent
			all[i].Needed = all[i].Needed || needed
		} else {
			p.machine.Placeholders = append(p.machine.Placeholders, h)
		}
	}
	return len(found) > 0
}

// Substitute replaces the placeholders "${Name}" of a definition's text by
// values, text for text as AWS does: one in quotes becomes part of a string, one
// without may become a number. Placeholders without a value stay.
func Substitute(text []byte, values map[string]string) []byte {
	return placeholderForm.ReplaceAllFunc(text, func(found []byte) []byte {
		value, ok := values[string(found[len("${"):len(found)-len("}")])]
		if !ok {
			return found
		}
		quoted := jsontree.Quote(value)
		return quoted[1 : len(quoted)-1]
	})
}
