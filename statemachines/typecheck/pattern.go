package typecheck

import (
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// isCovered tells whether one of some rules takes each text that fits the pattern of a condition:
// *_FAILED takes what UPDATE_*_FAILED does. The values of a text need not be known for that.
func isCovered(before []asl.ChoiceRule, c *asl.Condition) bool {
	variable, pattern, ok := patternOf(c)
	return ok && slices.ContainsFunc(before, func(r asl.ChoiceRule) bool {
		return takesPattern(&r.Condition, variable, pattern)
	})
}

// takesPattern tells whether a condition holds for each text that fits a pattern.
func takesPattern(c *asl.Condition, variable, pattern string) bool {
	if len(c.Or) > 0 {
		return slices.ContainsFunc(c.Or, func(part *asl.Condition) bool { return takesPattern(part, variable, pattern) })
	}
	of, wider, ok := patternOf(c)
	// A star of the narrower pattern stands for any text, and only a star takes that.
	return ok && of == variable && asl.MatchString(strings.ReplaceAll(pattern, "*", "\x00"), wider)
}

// patternOf is the pattern that a condition compares a variable with; false if it does something
// else, and where the pattern has a backslash or a ${Name} of a template.
func patternOf(c *asl.Condition) (variable, pattern string, ok bool) {
	pattern, ok = c.Value.(string)
	if !ok || c.Operator != asl.StringMatches || c.Variable == nil || asl.IsPlaceholder(c.Variable) ||
		strings.Contains(pattern, `\`) || asl.HasPlaceholder(pattern) {
		return "", "", false
	}
	return c.Variable.String(), pattern, true
}
