package compile

import (
	_ "embed"
	"encoding/json"
	"sync"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

//go:embed causes.json
var causesText []byte

// A KnownCause is what Step Functions says of an error whose code the service's
// model does not declare: the message, but not the code.
type KnownCause struct {
	Service   string `json:"service"`
	Operation string `json:"operation"` // empty for all of the service
	Code      string `json:"code"`
	// Pattern is a text that the Cause has; * stands for any text. It says nothing of
	// the end of the Cause, where Step Functions writes more and more.
	Pattern string `json:"pattern"`
	// Message is one that was seen, and Source where.
	Message string `json:"message"`
	Source  string `json:"source"`
}

var knownCauses = sync.OnceValue(func() []KnownCause {
	var all []KnownCause
	if err := json.Unmarshal(causesText, &all); err != nil {
		panic(err) // a test reads it
	}
	return all
})

// CausesOf returns those of an operation's errors.
func CausesOf(op *catalog.Operation) []KnownCause {
	if op == nil || op.Service == nil {
		return nil
	}
	var own []KnownCause
	for _, c := range knownCauses() {
		if c.Service == op.Service.Key && (c.Operation == "" || c.Operation == op.Name) {
			own = append(own, c)
		}
	}
	return own
}

// causePatternsOf are the patterns that an operation's errors have where
// [Options].CausePatterns gives none, by the code.
func causePatternsOf(op *catalog.Operation) map[string]string {
	var patterns map[string]string
	for _, c := range CausesOf(op) {
		if patterns == nil {
			patterns = map[string]string{}
		}
		patterns[c.Code] = c.Pattern
	}
	return patterns
}
