package eventpost

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
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

// StatusChange is the event of an execution of a Standard workflow whose status has
// changed. The description is the answer of DescribeExecution.
// https://docs.aws.amazon.com/step-functions/latest/dg/eventbridge-integration.html
func StatusChange(at time.Time, account, region string, description []byte) (Event, error) {
	var detail map[string]json.RawMessage
	if err := json.Unmarshal(description, &detail); err != nil {
		return Event{}, err
	}
	var arn string
	if err := json.Unmarshal(detail["executionArn"], &arn); err != nil {
		return Event{}, fmt.Errorf("executionArn: %w", err)
	}
	for _, member := range []string{
		"input", "inputDetails", "output", "outputDetails", "error", "cause", "startDate", "stopDate", "redriveDate", "redriveStatusReason",
		"stateMachineVersionArn", "stateMachineAliasArn",
	} {
		if detail[member] == nil {
			detail[member] = json.RawMessage("null")
		}
	}
	for _, member := range []string{"startDate", "stopDate", "redriveDate"} {
		if err := toMilliseconds(detail, member); err != nil {
			return Event{}, fmt.Errorf("%s: %w", member, err)
		}
	}
	for _, member := range []string{"traceHeader", "mapRunArn"} {
		delete(detail, member)
	}
	text, err := json.Marshal(detail)
	return Event{
		Version: "0", ID: newID(), DetailType: "Step Functions Execution Status Change", Source: "aws.states",
		Account: account, Time: at.UTC().Truncate(time.Second), Region: region, Resources: []string{arn}, Detail: text,
	}, err
}

// toMilliseconds makes milliseconds of the seconds of a time.
func toMilliseconds(detail map[string]json.RawMessage, member string) error {
	var seconds *float64
	if err := json.Unmarshal(detail[member], &seconds); err != nil || seconds == nil {
		return err
	}
	text, err := json.Marshal(int64(*seconds*1000 + 0.5)) //nolint:mnd // milliseconds, rounded
	detail[member] = text
	return err
}

// newID is a random UUID of version 4.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
