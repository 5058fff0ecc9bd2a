package typecheck

import "github.com/jobpoller/jobpoller/internal/jsonata"

// fewestArguments are how many arguments functions of JSONata need at least that take the context for the first one
// where that is left out, as in Status.$lowercase().
var fewestArguments = map[string]int{
	"string": 1, "substring": 2, "substringBefore": 2, "substringAfter": 2, "lowercase": 1, "uppercase": 1, "length": 1, "trim": 1,
	"pad": 2, "match": 2, "contains": 2, "replace": 3, "split": 2, "base64encode": 1, "base64decode": 1, "encodeUrlComponent": 1,
	"encodeUrl": 1, "decodeUrlComponent": 1, "decodeUrl": 1, "number": 1, "floor": 1, "ceil": 1, "round": 1, "abs": 1, "sqrt": 1,
	"power": 2, "formatNumber": 2, "formatBase": 1, "formatInteger": 2, "parseInteger": 2, "boolean": 1, "not": 1,
	"sift": 2, "each": 2, "keys": 1, "lookup": 2, "spread": 1, "clone": 1, "toMillis": 1, "fromMillis": 1,
}

// withContext is a call with the context as the first argument, if it leaves that out.
func (c *Checker) withContext(p *jsonata.Part) *jsonata.Part {
	if n, takes := fewestArguments[p.Text]; !takes || len(p.Parts) != n-1 {
		return p
	}
	whole := c.implied[p]
	if whole == nil {
		call := *p
		call.Parts = append([]jsonata.Part{{Kind: jsonata.PartVariable, Offset: p.Offset}}, p.Parts...)
		whole = &call
		c.implied[p] = whole
	}
	return whole
}
