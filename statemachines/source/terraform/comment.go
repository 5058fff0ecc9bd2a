package terraform

import (
	"bytes"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Layout is where comments and blocks stand in a text of HCL.
type Layout struct {
	// Comments are those of the text, each from its mark to its end.
	Comments []Place
	// Blocks are those on the outside, from the name of their kind to their brace.
	Blocks []Place
}

// ReadLayout reads the layout of a file. What is no HCL has none.
func ReadLayout(file string, text []byte) Layout {
	var l Layout
	tokens, _ := hclsyntax.LexConfig(text, file, hcl.InitialPos)
	depth, header := 0, -1
	for _, t := range tokens {
		switch t.Type { //nolint:exhaustive // of the others, none opens or closes a block
		case hclsyntax.TokenComment:
			end := t.Range.Start.Byte + len(bytes.TrimRight(t.Bytes, "\r\n"))
			l.Comments = append(l.Comments, Place{file, t.Range.Start.Byte, end})
			continue
		case hclsyntax.TokenNewline:
			if depth == 0 {
				header = -1
			}
			continue
		case hclsyntax.TokenOBrace, hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
			depth++
		case hclsyntax.TokenCBrace, hclsyntax.TokenTemplateSeqEnd:
			if depth--; depth == 0 && header >= 0 {
				l.Blocks = append(l.Blocks, Place{file, header, t.Range.End.Byte})
			}
		}
		if header < 0 {
			header = t.Range.Start.Byte
		}
	}
	return l
}
