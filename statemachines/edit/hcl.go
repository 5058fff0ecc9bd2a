package edit

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/source/terraform"
)

// scalarHCL writes a string, number, boolean or null in Terraform's language. A placeholder
// becomes the expression that it stands for.
func (p *pen) scalarHCL(v *jsontree.Node) string {
	if v.Kind != jsontree.String {
		return string(v.Raw())
	}
	if site, ok := p.Sites()[v.Text]; ok && !strings.HasPrefix(site, "${") {
		return site
	}
	return p.quoteHCL(v.Text)
}

func (p *pen) quoteHCL(text string) string {
	return `"` + p.escapeTemplate(text, terraform.Quoted, escapeHCL) + `"`
}

// keyHCL writes the name of a member: in quotes if it needs them, or if the neighbours have
// some.
func (p *pen) keyHCL(name string) string {
	quoted := false
	p.at.near(func(n *node) bool {
		if n.name < 0 || !isWord(n.label) {
			return false
		}
		quoted = p.text[n.name] == '"'
		return true
	})
	if quoted || !isWord(name) {
		return p.quoteHCL(name)
	}
	return name
}

// isWord tells whether a name means itself without quotes.
func isWord(name string) bool {
	return hclsyntax.ValidIdentifier(name) && !slices.Contains([]string{"for", "if", "null", "true", "false"}, name)
}

var equalsAtEnd = regexp.MustCompile(`[ \t]*[=:][ \t]*$`)

// colonHCL is what stands between a name and its value, without blanks that align it.
func (p *pen) colonHCL() string {
	colon := " = "
	p.at.near(func(n *node) bool {
		if n.name < 0 || n.from <= n.name || n.from > len(p.text) {
			return false
		}
		found := equalsAtEnd.Find(p.text[n.name:n.from])
		if found == nil {
			return false
		}
		colon = string(found)
		if trimmed := strings.TrimLeft(colon, " \t"); len(trimmed) < len(colon) {
			colon = " " + trimmed
		}
		return true
	})
	return colon
}

// membersHCL writes members on lines of their own, with aligned signs where the values have
// one line, as terraform fmt does.
func (p *pen) membersHCL(names, values []string) []string {
	colon := p.colon()
	out := make([]string, len(names))
	for i := 0; i < len(names); {
		end, width := i, 0
		for end < len(names) && !strings.Contains(values[end], "\n") {
			width = max(width, utf8.RuneCountInString(names[end]))
			end++
		}
		if end == i { // a value of several lines is aligned with nothing
			end, width = i+1, 0
		}
		for ; i < end; i++ {
			pad := ""
			if strings.HasPrefix(colon, " =") {
				pad = strings.Repeat(" ", max(0, width-utf8.RuneCountInString(names[i])))
			}
			out[i] = names[i] + pad + colon + values[i]
		}
	}
	return out
}

// member writes a member beside the node.
func (p *pen) member(name, value string) string {
	key, colon := p.key(name, true), p.colon()
	n := p.at
	if p.writing.HCL && n.name >= 0 && n.from > n.name && strings.HasPrefix(colon, " =") && !strings.Contains(value, "\n") {
		// The sign stands below that of the neighbour, if it has one line, too.
		if own := equalsAtEnd.Find(p.text[n.name:n.from]); own != nil && bytes.IndexByte(p.text[n.name:min(n.to, len(p.text))], '\n') < 0 {
			column := utf8.RuneCount(p.text[n.name:n.from]) - utf8.RuneCount(bytes.TrimLeft(own, " \t"))
			key += strings.Repeat(" ", max(0, column-1-utf8.RuneCountInString(key)))
		}
	}
	return key + colon + value
}

// separator stands behind a member or an item that another follows on a line of its
// own.
func (p *pen) separator(kind jsontree.Kind, alone bool) string {
	if !p.writing.HCL || kind != jsontree.Object || !alone {
		return ","
	}
	separator := ","
	if strings.Contains(p.colon(), "=") {
		separator = ""
	}
	p.at.near(func(n *node) bool {
		if n.kind != jsontree.Object || !n.bracket || !n.isFilled() || p.isFlat(n) || len(n.children) < 2 {
			return false
		}
		first, second := n.children[0], n.children[1]
		if first.to > second.start() {
			return false
		}
		separator = ""
		if bytes.HasPrefix(bytes.TrimLeft(p.text[first.to:second.start()], " \t"), []byte(",")) {
			separator = ","
		}
		return true
	})
	return separator
}

// commentEnd is the end of the line of a node, if nothing but a comma and a comment stands
// behind the node there.
func (d *document) commentEnd(n *node) (end int, comma, found bool) {
	rest := d.text[n.to:]
	if i := bytes.IndexByte(rest, '\n'); i >= 0 {
		rest = bytes.TrimRight(rest[:i], "\r")
	}
	blank := bytes.TrimLeft(rest, " \t")
	if d.writing.HCL && bytes.HasPrefix(blank, []byte(",")) {
		comma = true
		blank = bytes.TrimLeft(blank[1:], " \t")
	}
	return n.to + len(rest), comma, d.isComment(blank)
}

// isComment tells whether a text begins with a comment to the end of its line.
func (d *document) isComment(text []byte) bool {
	return (d.isYAML() || d.writing.HCL) && bytes.HasPrefix(text, []byte("#")) || d.writing.HCL && bytes.HasPrefix(text, []byte("//"))
}
