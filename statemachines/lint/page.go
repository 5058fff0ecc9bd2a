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
	asks := func(rule *asl.ChoiceRule) bool {
		return readRule(rule).has(func(t *test) bool { return slices.ContainsFunc(t.names, pageToken().MatchString) })
	}
	switch way.Kind {
	case asl.TransitionRule:
		return asks(&s.Choice.Rules[way.Rule])
	case asl.TransitionDefault:
		return !slices.ContainsFunc(s.Choice.Rules, func(rule asl.ChoiceRule) bool { return !asks(&rule) })
	default:
		return false
	}
}

// pageToken is what services, and people, call the token of a next page.
var pageToken = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)token$|marker$|cursor$`) })
