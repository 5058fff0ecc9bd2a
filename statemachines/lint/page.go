package lint

import (
	"regexp"
	"slices"
	"sync"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// turnsPage tells whether a Choice takes a way because of the token of a next page: by a rule
// that looks at one, or by its Default where all rules do.
func turnsPage(s *asl.State, way asl.Transition) bool {
	if s.Choice == nil {
		return false
	}
	asks := func(rule *asl.ChoiceRule) bool { return readRule(rule).needsToken() }
	switch way.Kind {
	case asl.TransitionRule:
		return asks(&s.Choice.Rules[way.Rule])
	case asl.TransitionDefault:
		return !slices.ContainsFunc(s.Choice.Rules, func(rule asl.ChoiceRule) bool { return !asks(&rule) })
	default:
		return false
	}
}

// needsToken tells whether a test holds only if it holds for the token of a next page.
func (t *test) needsToken() bool {
	switch {
	case len(t.all) > 0:
		return slices.ContainsFunc(t.all, (*test).needsToken)
	case len(t.any) > 0:
		return !slices.ContainsFunc(t.any, func(part *test) bool { return !part.needsToken() })
	default:
		return slices.ContainsFunc(t.names, pageToken().MatchString)
	}
}

// pageToken is what services, and people, call the token of a next page.
var pageToken = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)token$|marker$|cursor$`) })
