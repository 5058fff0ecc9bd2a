package asl

import (
	"regexp"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// Placeholder is a "${Name}" in a definition, which AWS SAM
// (DefinitionSubstitutions) or the CDK replaces at deployment.
type Placeholder struct {
	Name     string
	Position Position // of the value that it stands in
	// Needed is set if the value must be known to run the definition: a
	// number, a path, an expression, the name of a state.
	Needed bool
}

var placeholderForm = regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_.:-]*\}`)

// placeholder tells whether placeholders stand in a string, and keeps them.
func (p *parser) placeholder(n *jsontree.Node, needed bool) bool {
	if p.deployed || n.Kind != jsontree.String || !strings.Contains(n.Text, "${") {
		return false
	}
	found := placeholderForm.FindAllString(n.Text, -1)
	for _, text := range found {
		h := Placeholder{Name: text[len("${") : len(text)-len("}")], Position: p.position(n.Pointer(), n.Offset), Needed: needed}
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

// leaveHollow tells whether a placeholder stands in a value that the rest cannot be read
// without, and keeps that.
func (p *parser) leaveHollow(n *jsontree.Node, what string) bool {
	if !p.placeholder(n, true) {
		return false
	}
	problem := n.Problem("%s stands for %s, which only the deployment knows: the definition is not checked", n.Text, what)
	problem.Severity = diag.Warning
	p.hollow = append(p.hollow, problem)
	return true
}

// IsPlaceholderText tells whether a string is a placeholder and nothing else. It
// may then be a value of any type.
func IsPlaceholderText(text string) bool {
	at := placeholderForm.FindStringIndex(text)
	return at != nil && at[0] == 0 && at[1] == len(text)
}

// HasPlaceholder tells whether a placeholder stands in a string.
func HasPlaceholder(text string) bool {
	return strings.Contains(text, "${") && placeholderForm.MatchString(text)
}

// HasPlaceholder tells whether a placeholder stands in a string of the machine.
func (m *StateMachine) HasPlaceholder(text string) bool { return !m.Deployed && HasPlaceholder(text) }

// PlaceholderForm is a "${Name}" in a text.
type PlaceholderForm struct {
	Name       string
	Start, End int // bytes
	// Bare is set outside of quotes.
	Bare bool
}

// FindPlaceholders returns the placeholders of a definition's text, in its order.
func FindPlaceholders(text []byte) []PlaceholderForm {
	var found []PlaceholderForm
	quoted, from := false, 0 // from: the first byte not looked at
	for _, form := range placeholderForm.FindAllIndex(text, -1) {
		for ; from < form[0]; from++ {
			switch {
			case text[from] == '"':
				quoted = !quoted
			case text[from] == '\\' && quoted:
				from++
			}
		}
		found = append(found, PlaceholderForm{
			Name: string(text[form[0]+len("${") : form[1]-len("}")]), Start: form[0], End: form[1], Bare: !quoted && from == form[0],
		})
		from = max(from, form[1])
	}
	return found
}

// bareForms are the placeholders outside of quotes.
func bareForms(text []byte) []PlaceholderForm {
	return slices.DeleteFunc(FindPlaceholders(text), func(form PlaceholderForm) bool { return !form.Bare })
}

// bareProblems are the placeholders outside of quotes as problems, if the first
// of them is what keeps the text from being JSON.
func bareProblems(text []byte, notJSON diag.Problems) diag.Problems {
	var problems diag.Problems
	for i, at := range bareForms(text) {
		message := "the placeholder \"${" + at.Name + "}\" stands outside of quotes: the definition is JSON only when it has a value"
		if i >= diag.MaxShown {
			problems = append(problems, diag.Hidden("", message))
			continue
		}
		problems = append(problems, diag.At(text, at.Start, "", message))
	}
	if len(problems) == 0 || problems[0].Line != notJSON[0].Line || problems[0].Column != notJSON[0].Column {
		return nil
	}
	return problems
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
