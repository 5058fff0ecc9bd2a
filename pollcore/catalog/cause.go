package catalog

import (
	_ "embed"
	"encoding/json"
	"sync"
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
		panic("catalog: causes.json: " + err.Error()) // which is embedded
	}
	return all
})

// Causes returns those of the operation's errors.
func (o *Operation) Causes() []KnownCause {
	if o == nil || o.Service == nil {
		return nil
	}
	var own []KnownCause
	for _, c := range knownCauses() {
		if c.Service == o.Service.Key && (c.Operation == "" || c.Operation == o.Name) {
			own = append(own, c)
		}
	}
	return own
}
