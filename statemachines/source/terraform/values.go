package terraform

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/jobpoller/jobpoller/internal/jsontree"
)

// values are what the files of a folder say of the variables of its module, which is the
// root. They are nil if Terraform refuses one of the files.
func (r *reader) values(folder string) map[string]hclsyntax.Expression {
	if known, ok := r.assigned[folder]; ok {
		return known
	}
	r.assigned[folder] = nil
	names, err := r.Values(folder)
	if err != nil {
		return nil
	}
	found := map[string]hclsyntax.Expression{}
	for _, name := range names {
		text, err := r.Read(name)
		if err != nil || !r.readValues(found, &unit{file: name, bytes: text}) {
			return nil
		}
	}
	r.assigned[folder] = found
	return found
}

// readValues adds the values of a file, and tells whether Terraform reads it: values are
// constants, and there are no blocks.
func (r *reader) readValues(found map[string]hclsyntax.Expression, u *unit) bool {
	key := r.units.add(u)
	if strings.HasSuffix(u.file, ".json") {
		document, err := jsontree.Parse(u.bytes)
		if err != nil {
			return false
		}
		j := &jsonReader{reader: r, out: &source{}, file: u, key: key, literal: true}
		for _, m := range document.Root.Members {
			found[m.Name] = j.expression(m.Value)
		}
		return true
	}
	tokens, _ := hclsyntax.LexConfig(u.bytes, key, hcl.InitialPos)
	if _, message := refuse(tokens); message != "" {
		return false
	}
	file, diagnostics := hclsyntax.ParseConfig(u.bytes, key, hcl.InitialPos)
	body, ok := file.Body.(*hclsyntax.Body)
	if !ok || diagnostics.HasErrors() || len(body.Blocks) > 0 {
		return false
	}
	for name, a := range body.Attributes {
		if !isConstant(a.Expr) {
			return false
		}
		found[name] = a.Expr
	}
	return true
}

// isConstant tells whether an expression has neither references nor calls of functions.
func isConstant(x hclsyntax.Expression) bool {
	calls := false
	_ = hclsyntax.VisitAll(x, func(n hclsyntax.Node) hcl.Diagnostics {
		_, is := n.(*hclsyntax.FunctionCallExpr)
		calls = calls || is
		return nil
	})
	return !calls && len(x.Variables()) == 0
}
