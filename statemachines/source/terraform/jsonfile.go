package terraform

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// labelled are how many names the blocks of a kind have.
var labelled = map[string]int{"resource": 2, "data": 2, "module": 1, "variable": 1, "output": 1, "locals": 0}

// jsonReader makes expressions of a file in the syntax of JSON, in which strings are
// templates.
type jsonReader struct {
	*reader

	out  *source
	file *unit
	key  string
	// literal is set for a file whose strings are texts.
	literal bool
}

func (r *reader) readJSON(out *source, name string, text []byte) {
	u := &unit{file: name, bytes: text}
	j := &jsonReader{reader: r, out: out, file: u, key: r.units.add(u)}
	document, err := jsontree.Parse(text)
	if err != nil {
		problems, _ := err.(diag.Problems) //nolint:errorlint // what Parse documents
		for _, p := range problems {
			at := offsetOf(text, p.Line, p.Column)
			out.problems = append(out.problems, Problem{u.place(at, at), "Terraform cannot read this: " + p.Message, true})
		}
		return
	}
	for _, kind := range document.Root.Members {
		if labels, known := labelled[kind.Name]; known {
			j.blocks(kind.Name, kind, labels, nil)
		}
	}
}

// offsetOf is the byte at a line and a column, both from 1.
func offsetOf(text []byte, line, column int) int {
	at := 0
	for ; line > 1 && at < len(text); at++ {
		if text[at] == '\n' {
			line--
		}
	}
	for ; column > 1 && at < len(text); column-- {
		_, size := utf8.DecodeRune(text[at:])
		at += size
	}
	return at
}

// blocks are those of a kind, which stand in an object for each label.
func (j *jsonReader) blocks(kind string, m jsontree.Member, missing int, labels []string) {
	if m.Value.Kind == jsontree.Array {
		for _, item := range m.Value.Items {
			j.blocks(kind, jsontree.Member{Name: m.Name, Offset: m.Offset, Value: item}, missing, labels)
		}
		return
	}
	if missing > 0 {
		for _, inner := range m.Value.Members {
			j.blocks(kind, inner, missing-1, append(slices.Clone(labels), inner.Name))
		}
		return
	}
	b := &block{kind: kind, labels: labels, attributes: map[string]hclsyntax.Expression{}, at: j.file.place(m.Offset, m.Offset)}
	for _, a := range m.Value.Members {
		b.attributes[a.Name] = j.expression(a.Value)
	}
	j.out.blocks = append(j.out.blocks, b)
}

// isText tells whether a string that looks like a template is a text.
func (j *jsonReader) isText(text string) bool {
	return j.literal && (strings.Contains(text, "${") || strings.Contains(text, "%{"))
}

func (j *jsonReader) expression(n *jsontree.Node) hclsyntax.Expression { //nolint:ireturn // one of hcl's kinds
	at := hcl.Range{Filename: j.key, Start: hcl.Pos{Byte: n.Offset}, End: hcl.Pos{Byte: n.End}}
	switch n.Kind {
	case jsontree.Null:
		return &hclsyntax.LiteralValueExpr{Val: cty.NullVal(cty.DynamicPseudoType), SrcRange: at}
	case jsontree.Bool:
		return &hclsyntax.LiteralValueExpr{Val: cty.BoolVal(n.Text == "true"), SrcRange: at}
	case jsontree.Number:
		if number, err := cty.ParseNumberVal(n.Text); err == nil {
			return &hclsyntax.LiteralValueExpr{Val: number, SrcRange: at}
		}
	case jsontree.String:
		if j.isText(n.Text) {
			return &hclsyntax.LiteralValueExpr{Val: cty.StringVal(n.Text), SrcRange: at}
		}
		parsed, err := j.parseTemplate(decodeJSON(j.file.file, j.file.bytes, n.Offset), "")
		if err == nil {
			return parsed
		}
		if broken, ok := err.(*templateError); ok { //nolint:errorlint // what parseTemplate returns
			j.out.problems = append(j.out.problems, broken.problem)
		}
	case jsontree.Array:
		tuple := &hclsyntax.TupleConsExpr{SrcRange: at}
		for _, item := range n.Items {
			tuple.Exprs = append(tuple.Exprs, j.expression(item))
		}
		return tuple
	case jsontree.Object:
		object := &hclsyntax.ObjectConsExpr{SrcRange: at}
		for _, m := range n.Members {
			name := decodeJSON(j.file.file, j.file.bytes, m.Offset)
			key, err := j.parseTemplate(name, "")
			switch {
			case j.isText(m.Name):
				key = &hclsyntax.LiteralValueExpr{Val: cty.StringVal(m.Name), SrcRange: at}
			case err != nil:
				continue
			}
			object.Items = append(object.Items, hclsyntax.ObjectConsItem{KeyExpr: key, ValueExpr: j.expression(m.Value)})
		}
		return object
	}
	return &hclsyntax.LiteralValueExpr{Val: cty.DynamicVal, SrcRange: at}
}
