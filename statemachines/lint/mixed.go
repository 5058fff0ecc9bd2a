package lint

import (
	"regexp"
	"strings"
	"sync"
)

// mixesStatus tells whether a Choice on a route decides by a text or a list in which the status is one part.
func (r *reading) mixesStatus(way route) bool {
	for i, h := range way.hops {
		if h.state.Choice == nil {
			continue
		}
		for n := range h.state.Choice.Rules {
			rule := &h.state.Choice.Rules[n]
			text := ""
			if rule.Expression != nil && rule.Expression.Expression != nil {
				whole := rule.Expression.Expression.Part()
				text = scope{state: h.state}.expression(&whole, nil).text
			}
			for _, o := range operandsOfRule(rule) {
				if t := traceBack(way.hops[:i], o).text; strings.Contains(t, "result of "+r.Poll.Name) && mixing().MatchString(text+" "+t) {
					return true
				}
			}
		}
	}
	return false
}

// mixing matches a formula that makes one text or list of several values.
var mixing = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b\d+ (&|join|append|reverse|sort|zip|split|replace|pad|substring\w*) |States\.(Format|Array)\(`)
})
