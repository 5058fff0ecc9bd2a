package eventpost

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"time"
)

// Event is an event as EventBridge has it.
type Event struct {
	Version    string          `json:"version"`
	ID         string          `json:"id"`
	DetailType string          `json:"detail-type"`
	Source     string          `json:"source"`
	Account    string          `json:"account"`
	Time       time.Time       `json:"time"`
	Region     string          `json:"region"`
	Resources  []string        `json:"resources"`
	Detail     json.RawMessage `json:"detail"`
}

// StatusChange is the event of an execution of a Standard workflow that has got a
// status. The description is the answer of DescribeExecution, which may tell of a later
// status already.
// https://docs.aws.amazon.com/step-functions/latest/dg/eventbridge-integration.html
func StatusChange(at time.Time, status string, description map[string]any) (Event, error) {
	detail := maps.Clone(description)
	arn, ok := detail["executionArn"].(string)
	if !ok {
		return Event{}, errors.New("the description has no executionArn")
	}
	detail["status"] = status
	hidden := []string{"traceHeader", "mapRunArn"}
	if status == "RUNNING" {
		hidden = append(hidden, "stopDate", "output", "outputDetails", "error", "cause")
	}
	for _, member := range hidden {
		delete(detail, member)
	}
	for _, member := range []string{
		"input", "inputDetails", "output", "outputDetails", "error", "cause", "startDate", "stopDate", "redriveDate", "redriveStatusReason",
		"stateMachineVersionArn", "stateMachineAliasArn",
	} {
		if _, ok := detail[member]; !ok {
			detail[member] = nil
		}
	}
	for _, member := range []string{"startDate", "stopDate", "redriveDate"} {
		if seconds, ok := detail[member].(float64); ok {
			detail[member] = int64(math.Round(seconds * 1000)) //nolint:mnd // milliseconds
		}
	}
	text, err := json.Marshal(detail)
	return Event{
		Version: "0", ID: newID(), DetailType: "Step Functions Execution Status Change", Source: "aws.states",
		Time: at.UTC().Truncate(time.Second), Resources: []string{arn}, Detail: text,
	}, err
}

// newLostEvent is an event of jobpoller's own, which AWS does not send: so many were lost
// before it.
func newLostEvent(n int, near Event) Event {
	return Event{
		Version: "0", ID: newID(), DetailType: "Execution Status Changes Lost", Source: "jobpoller",
		Account: near.Account, Time: near.Time, Region: near.Region, Resources: []string{}, Detail: fmt.Appendf(nil, `{"events":%d}`, n),
	}
}

// newID is a random UUID of version 4.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
