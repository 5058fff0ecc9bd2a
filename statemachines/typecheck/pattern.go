package typecheck

import (
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// isCovered tells whether one of some rules takes each text that a condition compares a variable
// with: *_FAILED takes what UPDATE_*_FAILED does. It is false for nil. The values of a text need not be known for that.
func isCovered(before []asl.ChoiceRule, c *asl.Condition) bool {
	if c == nil {
		return false
	}
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

// patternOf is the pattern, or the one text, that a condition compares a variable with; false if it does
// something else, where a pattern has a backslash or a ${Name} of a template, and where a text has a star.
func patternOf(c *asl.Condition) (variable, pattern string, ok bool) {
	pattern, ok = c.Value.(string)
	plain := c.Operator == asl.StringEquals && !strings.Contains(pattern, "*")
	if !ok || c.Operator != asl.StringMatches && !plain || c.Variable == nil || asl.IsPlaceholder(c.Variable) ||
		strings.Contains(pattern, `\`) || asl.HasPlaceholder(pattern) {
		return "", "", false
	}
	return c.Variable.String(), pattern, true
}
