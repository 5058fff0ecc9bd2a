package catalog

import (
	_ "embed"
	"encoding/json"
	"sync"
)

//go:embed sources/causes.json
var causesText []byte

// A Cause is what Step Functions says of an error whose code the service's model
// does not declare: the message, but not the code.
type Cause struct {
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

var causes = sync.OnceValue(func() []Cause {
	var all []Cause
	if err := json.Unmarshal(causesText, &all); err != nil {
		panic(err) // a test reads it
	}
	return all
})

// Causes are the known ones of an operation's errors.
func (op *Operation) Causes() []Cause {
	if op == nil || op.Service == nil {
		return nil
	}
	var own []Cause
	for _, c := range causes() {
		if c.Service == op.Service.Key && (c.Operation == "" || c.Operation == op.Name) {
			own = append(own, c)
		}
	}
	return own
}
