// Package startrecord keeps the record that run-job writes before it starts a job.
// With it a job starts at most once for each execution, poller and scope, although
// Lambda and Step Functions retry, two invocations may race, and either may die at
// any line.
//
// A Store writes a record only if there is none, or only if it is unchanged
// since it was read. The rules that remote stores share, above all how an
// unclear answer is settled, are in Write.
package startrecord

import (
	"encoding/json"
	"slices"
	"time"
)

// Version is the version of the JSON form that this package reads and writes.
const Version = 1

// Status is how far a job is, as its record knows it.
type Status string

// The statuses of a record.
const (
	// StatusStarting: somebody holds the lease and is about to start the job,
	// or died over it.
	StatusStarting Status = "STARTING"
	// StatusStarted: the job has started and JobRef names it.
	StatusStarted Status = "STARTED"
	// StatusSucceeded: the job has ended well; Result holds its result.
	StatusSucceeded Status = "SUCCEEDED"
	// StatusFailed: the job has failed, or was refused before it began.
	StatusFailed Status = "FAILED"
	// StatusTimedOut: the job did not end within the wait that was asked for.
	StatusTimedOut Status = "TIMED_OUT"
	// StatusUnknown: the job may or may not have been started, and starting it
	// again is not safe. A person must decide.
	StatusUnknown Status = "UNKNOWN"
)

var statuses = []Status{
	StatusStarting, StatusStarted, StatusSucceeded, StatusFailed, StatusTimedOut, StatusUnknown,
}

// Terminal reports whether the job has ended: SUCCEEDED, FAILED or TIMED_OUT.
func (s Status) Terminal() bool {
	return s == StatusSucceeded || s == StatusFailed || s == StatusTimedOut
}

func (s Status) isKnown() bool { return slices.Contains(statuses, s) }

// Record is what is known of one start of a job.
type Record struct {
	// Version is the version of the JSON form. A store sets it.
	Version int `json:"version"`
	// ExecutionARN, Poller and Scope are the parts of the record's Key. A store
	// sets them from the key.
	ExecutionARN string `json:"executionArn"`
	// ExecutionStartTime is $$.Execution.StartTime. An execution's name, and
	// with it the ARN, may be used again 90 days after the execution closed.
	ExecutionStartTime time.Time `json:"executionStartTime"`
	// RedriveCount is $$.Execution.RedriveCount when the record was written.
	RedriveCount int    `json:"redriveCount"`
	Poller       string `json:"poller"`
	Scope        string `json:"scope,omitempty"`
	Status       Status `json:"status"`
	// Generation counts the owners of the record: a takeover and a new try
	// after a refusal add one.
	Generation int `json:"generation"`
	// Nonce is fresh on every write. It tells an own write from another's when
	// the answer to the write was lost, and makes every version distinct. A
	// store sets it.
	Nonce string `json:"nonce"`
	// StartedAt is fixed before the job starts; a takeover does not move it.
	StartedAt time.Time `json:"startedAt"`
	// StopRequestedAt is when a check was about to stop the job because its
	// time was up; zero if none was.
	StopRequestedAt time.Time `json:"stopRequestedAt,omitzero"`
	// LeaseSeconds is how long after the last write the owner of a STARTING
	// record may still act.
	LeaseSeconds int `json:"leaseSeconds"`
	// Token is the idempotency token given to the service that runs the job.
	Token string `json:"token,omitempty"`
	// RequestHash tells whether a later call asks for the same job.
	RequestHash string `json:"requestHash,omitempty"`
	// Request is the normalised request, JobRef what the driver needs to
	// describe and stop the job, Result what the caller is given when it has
	// ended. Each is JSON; white space between its tokens is not kept.
	Request json.RawMessage `json:"request,omitempty"`
	JobRef  json.RawMessage `json:"jobRef,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	// Callback is how the Task that waits for the job is answered; the zero value where
	// nobody but the state machine polls.
	Callback Callback `json:"callback,omitzero"`
	// ExpiresAt is when the record may be deleted.
	ExpiresAt time.Time `json:"expiresAt,omitzero"`
	// MovedTo is set in the claim that Moved leaves in the store of before: the
	// place of the record itself.
	MovedTo string `json:"movedTo,omitempty"`
}
