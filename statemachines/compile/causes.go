package compile

import "github.com/jobpoller/jobpoller/pollcore/catalog"

// causePatternsOf are the patterns that an operation's errors have where
// [Options].CausePatterns gives none, by the code.
func causePatternsOf(op *catalog.Operation) map[string]string {
	var patterns map[string]string
	for _, c := range op.Causes() {
		if patterns == nil {
			patterns = map[string]string{}
		}
		patterns[c.Code] = c.Pattern
	}
	return patterns
}
