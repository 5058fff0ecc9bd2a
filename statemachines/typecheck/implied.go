package typecheck

import (
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsonata"
)

// withContext is a call of a function of the language with the context as the first argument, if it takes that for one that
// is left out, and the values of its arguments; not known where their types do not tell.
func (x *scene) withContext(p *jsonata.Part, values []Value, context Value) (whole *jsonata.Part, all []Value, known bool) {
	types := make([]string, len(values))
	for i, v := range values {
		if types[i] = typesOf(v); p.Parts[i].Kind == jsonata.PartRegex || x.closureOf(&p.Parts[i], context) != nil {
			types[i] = "f"
		}
	}
	takes, leaves := jsonata.TakesContext(p.Text, types)
	if !takes {
		return p, values, true
	}
	if leaves {
		return p, values, false
	}
	whole = x.c.implied[p]
	if whole == nil {
		call := *p
		call.Parts = append([]jsonata.Part{{Kind: jsonata.PartVariable, Offset: p.Offset}}, p.Parts...)
		whole = &call
		x.c.implied[p] = whole
	}
	return whole, slices.Concat([]Value{context}, values), true
}

// typesOf are the symbols of the types that a value may have, as signatures of JSONata have them. What is not known may be a
// function.
func typesOf(v Value) string {
	if v.IsUnknown() {
		return jsonata.AnyType
	}
	var symbols strings.Builder
	for i, symbol := range "mlbnsao" { // in the order of kinds
		if v.may(1 << i) {
			symbols.WriteRune(symbol)
		}
	}
	return symbols.String()
}
