package kit

import (
	"encoding/json"
	"time"

	"github.com/jobpoller/jobpoller/internal/jsontree"
)

// IsRequest tells whether a text looks like the request of a job.
func IsRequest(text []byte) bool {
	var members map[string]json.RawMessage
	if json.Unmarshal(text, &members) != nil {
		return false
	}
	return members["job"] != nil && members["States"] == nil
}

// WaitLimit is the request's maxWaitSeconds, for the progress line; 0 if the
// input has none.
func WaitLimit(input []byte) time.Duration {
	var request struct {
		MaxWaitSeconds int `json:"maxWaitSeconds"`
	}
	if json.Unmarshal(jsontree.DigitsOnly(input), &request) != nil {
		return 0
	}
	return time.Duration(request.MaxWaitSeconds) * time.Second
}
