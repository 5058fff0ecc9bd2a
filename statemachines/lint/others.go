package lint

import (
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// textsLike are texts that a condition may find a part of: those that fit its patterns and regular
// expressions, and those around a literal that an expression of the states passes to a function.
func textsLike(states []*asl.State) []string {
	var all, expressions []string
	for _, s := range states {
		for _, t := range templatesOf(s) {
			expressions = appendExpressions(expressions, t)
		}
		if s.Choice == nil {
			continue
		}
		for i := range s.Choice.Rules {
			rule := &s.Choice.Rules[i]
			switch {
			case rule.Expression == nil:
				all = appendMatches(all, &rule.Condition)
			case rule.Expression.Expression != nil:
				expressions = append(expressions, rule.Expression.Expression.String())
			}
		}
	}
	for _, e := range expressions {
		all = append(all, textsMatched(e)...)
		if strings.Contains(e, "(") {
			for _, text := range quoted().FindAllString(e, -1) {
				all = append(all, around(text[1:len(text)-1])...)
			}
		}
	}
	return all
}

// appendExpressions appends the expressions of a template.
func appendExpressions(all []string, t *asl.Template) []string {
	if t.Expression != nil {
		all = append(all, t.Expression.String())
	}
	for _, m := range t.Object {
		all = appendExpressions(all, m.Value)
	}
	for _, item := range t.Array {
		all = appendExpressions(all, item)
	}
	return all
}

// appendComputed appends the texts of what a state computes: of expressions, paths and calls of intrinsic functions, but
// for what it calls with.
func appendComputed(all []string, s *asl.State) []string {
	for _, t := range []*asl.Template{s.ResultSelector, s.Assign, s.Output} {
		if t != nil {
			all = appendTexts(all, t)
		}
	}
	if s.Task == nil && s.Parameters != nil {
		all = appendTexts(all, s.Parameters)
	}
	return all
}

// namesMapped are the texts that states name which compute what the Choices compare, and the keys of the objects by which
// they may map a status.
func (r *reading) namesMapped() map[string]bool {
	named, computed := map[string]bool{}, map[*asl.State]bool{}
	for _, found := range r.routes {
		for _, way := range found {
			for _, h := range way.hops {
				if computed[h.state] {
					continue
				}
				computed[h.state] = true
				nameQuoted(appendComputed(nil, h.state), named)
			}
		}
	}
	for _, s := range r.Flow.States {
		for _, t := range templatesOf(s) {
			nameKeys(t, named)
		}
	}
	return named
}

// nameKeys adds the names of the members of the objects that a template has.
func nameKeys(t *asl.Template, named map[string]bool) {
	if t == nil {
		return
	}
	nameKeysOf(t.Literal, named)
	for _, m := range t.Object {
		named[m.Name] = true
		nameKeys(m.Value, named)
	}
	for _, item := range t.Array {
		nameKeys(item, named)
	}
}

func nameKeysOf(literal any, named map[string]bool) {
	switch v := literal.(type) {
	case map[string]any:
		for name, member := range v {
			named[name] = true
			nameKeysOf(member, named)
		}
	case []any:
		for _, item := range v {
			nameKeysOf(item, named)
		}
	}
}

// appendTexts appends the texts that a template computes.
func appendTexts(all []string, t *asl.Template) []string {
	switch {
	case t.Expression != nil:
		all = append(all, t.Expression.String())
	case t.Path != nil:
		all = append(all, t.Path.String())
	case t.Intrinsic != nil:
		all = append(all, t.Intrinsic.String())
	}
	for _, m := range t.Object {
		all = appendTexts(all, m.Value)
	}
	for _, item := range t.Array {
		all = appendTexts(all, item)
	}
	return all
}

// appendMatches appends texts that fit the patterns of a condition.
func appendMatches(all []string, c *asl.Condition) []string {
	if pattern, ok := c.Value.(string); ok && c.Operator == asl.StringMatches {
		all = append(all, strings.NewReplacer(`\*`, "*", "*", "x").Replace(pattern))
	}
	if c.Not != nil {
		all = appendMatches(all, c.Not)
	}
	for _, part := range slices.Concat(c.And, c.Or) {
		all = appendMatches(all, part)
	}
	return all
}
