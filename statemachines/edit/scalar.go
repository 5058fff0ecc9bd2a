package edit

import (
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/jobpoller/jobpoller/internal/jsontree"
)

// scalar writes a string, number, boolean or null.
func (p *pen) scalar(v *jsontree.Node, role string, inBrackets bool) string {
	switch {
	case p.writing.HCL:
		return p.scalarHCL(v)
	case !p.isYAML() || v.Kind != jsontree.String:
		return string(v.Raw())
	}
	var quote byte
	known := false
	for _, sameRole := range []bool{true, false} {
		p.at.near(func(n *node) bool {
			if n.kind == jsontree.String && n.literal && (!sameRole || n.role() == role) && n.from < len(p.text) {
				quote, known = p.quotation(n.from, n.data.Text)
			}
			return known
		})
		if known {
			break
		}
	}
	return quoteYAML(v.Text, quote, inBrackets)
}

// key writes the name of a member.
func (p *pen) key(name string, inBrackets bool) string {
	switch {
	case p.writing.HCL:
		return p.keyHCL(name)
	case !p.isYAML():
		return string(jsontree.Quote(name))
	}
	var quote byte
	p.at.near(func(n *node) (known bool) {
		if n.name >= 0 {
			quote, known = p.quotation(n.name, n.label)
		}
		return known
	})
	return quoteYAML(name, quote, inBrackets)
}

// quotation returns the quotation mark of a string, or 0. It is no choice of a person if the string
// needs one.
func (p *pen) quotation(offset int, text string) (quote byte, known bool) {
	switch c := p.text[offset]; c {
	case '"', '\'':
		return c, isPlain(text, true)
	case '|', '>':
		return 0, false
	default:
		return 0, true
	}
}

// quoteYAML writes a string in the quotation marks, if it can stand in them, or without.
func quoteYAML(text string, quote byte, inBrackets bool) string {
	special := strings.ContainsFunc(text, func(r rune) bool {
		return r < ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 || r == 0xfeff
	})
	switch {
	case quote == 0 && isPlain(text, inBrackets):
		return text
	case special, quote != '\'' && !strings.ContainsAny(text, `"\`), quote == '"':
		return string(jsontree.Quote(text))
	default:
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	}
}

// isSpecial tells whether only double quotes can have a character.
func isSpecial(r rune) bool {
	return r < ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 || r == 0xfeff
}

// ambiguous are texts that some reader of YAML takes for something else than a string.
var ambiguous = regexp.MustCompile(`(?i)^(?:y|n|yes|no|on|off|true|false|null|~|<<|=)$|` +
	`^(?:[-+.]?[0-9][-+0-9_.:,exabcdf]*|0o[0-7]+|[-+]?\.(?:inf|nan))$|^[0-9]{4}-[0-9]`)

// isPlain tells whether a string means itself in YAML without quotation marks.
func isPlain(text string, inBrackets bool) bool {
	if text == "" || strings.TrimSpace(text) != text || ambiguous.MatchString(text) || strings.ContainsAny(text[:1], "{}[]%*&!@`'\"#|>,?:-") {
		return false
	}
	if strings.Contains(text, ": ") || strings.Contains(text, " #") || strings.HasSuffix(text, ":") || strings.ContainsFunc(text, isSpecial) {
		return false
	}
	if inBrackets && strings.ContainsAny(text, "{}[],:?") {
		return false
	}
	var node yaml.Node
	if yaml.Unmarshal([]byte(text), &node) != nil || len(node.Content) != 1 {
		return false
	}
	return node.Content[0].ShortTag() == "!!str" && node.Content[0].Value == text
}
