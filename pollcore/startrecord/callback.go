package startrecord

import "time"

// Callback is the wait of a Task that somebody else ends: the collector, with the Task's
// token. The collector polls when it receives a message from a queue. The record names
// the message that is valid, so that a doubled or an old one has no effect.
type Callback struct {
	// TaskToken ends the Task. It is empty once the Task has been answered.
	TaskToken string `json:"taskToken,omitempty"`
	// RedriveCount and RedriveTime are the execution's, EnteredAt and RetryCount the
	// state's, from when the Task got its token: see NewerThan.
	RedriveCount int       `json:"redriveCount,omitempty"`
	RedriveTime  time.Time `json:"redriveTime,omitzero"`
	EnteredAt    time.Time `json:"enteredAt,omitzero"`
	RetryCount   int       `json:"retryCount,omitempty"`
	// Wait counts the Tasks that have had the callback. A message has that of its record,
	// so a record with a smaller one was read late.
	Wait int `json:"wait,omitempty"`
	// Number is that of the newest message that the record knows of, from 1; 0 until there
	// is one. MessageID tells it from another message of the same number. Both are written
	// after the message has been sent, so one that is newer than its record is valid.
	Number    int    `json:"number,omitempty"`
	MessageID string `json:"messageId,omitempty"`
	// Attempt counts the polls. DueAt is when the next one is due.
	Attempt int       `json:"attempt,omitempty"`
	DueAt   time.Time `json:"dueAt,omitzero"`
	// JobIDs are what Indexed.Find finds the record by: the names that events have for
	// the job, or for its parts.
	JobIDs []string `json:"jobIds,omitempty"`
}

// NewerThan reports whether the Task got its token after that of other.
func (c Callback) NewerThan(other Callback) bool {
	switch {
	case c.RedriveCount != other.RedriveCount:
		return c.RedriveCount > other.RedriveCount
	case !c.EnteredAt.Equal(other.EnteredAt):
		return c.EnteredAt.After(other.EnteredAt)
	default:
		return c.RetryCount > other.RetryCount
	}
}

// callback reads the member "callback". Its problems have the place of the member.
func (d *decoder) callback() (c Callback) {
	raw := d.members.find("callback")
	if raw == nil {
		return c
	}
	if raw[0] != '{' {
		d.problem("callback", "expected an object")
		return c
	}
	inner := decoder{text: raw, members: splitObject(raw)}
	inner.optional("taskToken", "a string", &c.TaskToken)
	inner.integer("redriveCount", false, &c.RedriveCount)
	inner.optional("redriveTime", "an RFC 3339 time", &c.RedriveTime)
	inner.optional("enteredAt", "an RFC 3339 time", &c.EnteredAt)
	inner.integer("retryCount", false, &c.RetryCount)
	inner.integer("wait", false, &c.Wait)
	inner.integer("number", false, &c.Number)
	inner.optional("messageId", "a string", &c.MessageID)
	inner.integer("attempt", false, &c.Attempt)
	inner.optional("dueAt", "an RFC 3339 time", &c.DueAt)
	inner.optional("jobIds", "an array of strings", &c.JobIDs)
	for _, f := range inner.found {
		d.problem("callback", "%s: %s", f.member, f.message)
	}
	return c
}
