package terraform

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// The bounds of what the parser is given. It calls itself for each bracket in a bracket,
// and for each sign before a sign, and joins the lines of a template one by one.
const (
	maxNesting = 250
	maxChoices = 20_000 // conditions of a file, which may lead into each other
	maxJoined  = 4 << 30
	maxLines   = 40_000 // of a template
)

// guard looks at the tokens of a file before they are parsed.
type guard struct {
	depth, signs, choices int
	templates             []templateSize
}

// templateSize is the number of bytes that the parser has to join.
type templateSize struct{ lines, bytes int }

// refuse returns the first token that the parser must not be given, and why.
func refuse(tokens hclsyntax.Tokens) (at hcl.Range, message string) {
	g := guard{templates: []templateSize{{}}}
	for _, t := range tokens {
		if message := g.look(t); message != "" {
			return t.Range, message
		}
	}
	return hcl.Range{}, ""
}

func (g *guard) look(t hclsyntax.Token) string {
	signs := g.signs
	g.signs = 0
	switch t.Type { //nolint:exhaustive // the others do not nest
	case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen, hclsyntax.TokenTemplateInterp:
		g.depth++
	case hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc:
		g.depth++
		g.templates = append(g.templates, templateSize{})
	case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenTemplateSeqEnd:
		g.depth--
	case hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc:
		g.depth--
		g.templates = g.templates[:max(1, len(g.templates)-1)]
	case hclsyntax.TokenTemplateControl:
		g.depth++
		g.choices++
	case hclsyntax.TokenQuestion:
		g.choices++
	case hclsyntax.TokenBang, hclsyntax.TokenMinus:
		g.signs = signs + 1
	case hclsyntax.TokenStringLit, hclsyntax.TokenQuotedLit:
		last := &g.templates[len(g.templates)-1]
		last.lines, last.bytes = last.lines+1, last.bytes+len(t.Bytes)
		if last.lines > maxLines || last.lines*last.bytes > maxJoined {
			return "the text is too large to be read here: put it into a file of JSON"
		}
	}
	switch {
	case g.depth > maxNesting || g.signs > maxNesting:
		return "brackets and signs nest too deep to be read here"
	case g.choices > maxChoices:
		return "there are too many conditions to be read here"
	}
	return ""
}
