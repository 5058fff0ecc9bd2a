package typecheck

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/jobpoller/jobpoller/internal/nearest"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// RequireArguments says what else than CheckArguments the service would refuse in the
// arguments of a call: those that it requires and that are missing, and values that
// the model does not list. Numbers are json.Number.
func (a *API) RequireArguments(resource string, arguments any) []string {
	v := Literal(arguments)
	if a.spelling == nil || v.kinds() != objects {
		return nil
	}
	var problems []string
	c := callCheck{api: a, operation: operationOf(resource), report: func(m misfit, _ spot) {
		if m.rule == MissingArgument || m.rule == EnumValue && !m.limit {
			problems = append(problems, m.message+nearest.Question(m.suggestion))
		}
	}}
	c.arguments(v, spot{fixed: true})
	return problems[:min(len(problems), maxProblems)]
}

// CheckAnswer says what of a result the API cannot give: members that it does not
// have, values of another type, and those that the model does not list. Members that
// it requires may be missing: mocks say what matters. Numbers are json.Number.
func (a *API) CheckAnswer(result any) []string {
	members, ok := result.(map[string]any)
	if a.Output == nil || a.spelling == nil || result == nil {
		return nil
	}
	if !ok {
		return []string{"expected an object, found " + Literal(result).String()}
	}
	c := answerCheck{spelling: a.spelling}
	if !a.spelling.sdk {
		members = maps.Clone(members)
		delete(members, httpMetadata)
		delete(members, responseMetadata)
	}
	c.members("$", members, a.Output)
	return c.problems[:min(len(c.problems), maxProblems)]
}

type answerCheck struct {
	spelling *spelling
	problems []string
}

func (c *answerCheck) add(at, format string, args ...any) {
	c.problems = append(c.problems, at+": "+fmt.Sprintf(format, args...))
}

func (c *answerCheck) members(at string, given map[string]any, s *catalog.Shape) {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		m := c.spelling.member(s, name)
		switch {
		case m == nil:
			var names []string
			for i := range s.Members {
				names = append(names, c.spelling.name(&s.Members[i]))
			}
			c.add(at, "%s has no member %q%s", s.Name, name, nearest.DidYouMean(name, names))
		case !slices.Contains(c.spelling.parsed, name):
			c.value(at+"."+name, given[name], m.Shape)
		}
	}
}

func (c *answerCheck) value(at string, value any, s *catalog.Shape) {
	expected := c.spelling.value(s)
	if value == nil || expected.IsUnknown() {
		return
	}
	if !expected.may(literalKinds(value)) {
		c.add(at, "expected %s (%s), found %s", expected.without(null), s.Name, Literal(value))
		return
	}
	switch v := value.(type) {
	case string:
		if len(s.Enum) > 0 && !slices.Contains(s.Enum, v) {
			c.add(at, "%s is never %q%s", s.Name, v, nearest.DidYouMean(v, s.Enum))
		}
	case []any:
		for i, item := range v {
			if s.Type == catalog.List {
				c.value(at+"["+strconv.Itoa(i)+"]", item, s.Element.Shape)
			}
		}
	case map[string]any:
		switch s.Type {
		case catalog.Structure, catalog.Union:
			c.members(at, v, s)
		case catalog.Map:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				c.value(at+"["+strconv.Quote(name)+"]", v[name], s.Element.Shape)
			}
		default: // has no parts
		}
	}
}
