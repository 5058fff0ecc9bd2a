package fix

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/statemachines/trial"
)

// matchedPattern is a text that a Choice compares with a pattern.
var matchedPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`StringMatches["']?:\s*["']?([^"'\n,}]+)`) })

// namePatterns names answers with a text that was made up to fit a pattern by the pattern. A text that
// is no status of the job, and changes as any other text does, says nothing of its own.
func namePatterns(changes []Change, text string, isStatus func(value string) bool) []Change {
	patterns := map[string]string{}
	for _, m := range matchedPattern().FindAllStringSubmatch(text, -1) {
		if strings.Contains(m[1], "*") {
			patterns[strings.NewReplacer(`\*`, "*", "*", "x").Replace(m[1])] = m[1]
		}
	}
	var named []Change
	for _, c := range changes {
		asOther := slices.ContainsFunc(changes, func(o Change) bool {
			return o.Kind.Value == trial.UnknownValue && o.Kind.Sort == c.Kind.Sort && o.Before == c.Before && o.After == c.After
		})
		value := c.Kind.Value
		if pattern := patterns[value]; pattern != "" && !strings.Contains(text, strconv.Quote(value)) {
			c.Kind.Value = "others like " + pattern
		}
		if !asOther || value == "" || value == trial.UnknownValue || isStatus(value) {
			named = append(named, c)
		}
	}
	return named
}
