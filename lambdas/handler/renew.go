package handler

import (
	"context"
	"time"

	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// renewal is how old a record may get in a wait before a call writes it anew.
const renewal = 24 * time.Hour

// renew returns the record that was found, written anew if it gets old: with the
// same content, so that nothing but its expiry moves. No call answers for a record
// that could expire before the next one: the longest silence of an execution is a
// whole wait, for it may begin with one delay, and then the 14 days in which it can
// be redriven. It returns startrecord.ErrChanged if another was faster.
//
// A record without a job must not be renewed while it is STARTING, for its age is
// that of its lease; whoever finds it writes it anyway.
func (p *Handler) renew(ctx context.Context, key startrecord.Key, stored startrecord.Stored, request *Request) (startrecord.Stored, error) {
	rec := stored.Record
	age := stored.Age
	if !rec.ExpiresAt.IsZero() { // it may be of a function with another retention
		age = max(age, p.Retention-rec.ExpiresAt.Sub(p.Now()))
	}
	silence := redriveWindow + time.Duration(request.MaxWaitSeconds)*time.Second
	if age < min(renewal, (p.Retention-silence)/2) {
		return stored, nil
	}
	return p.replace(ctx, key, rec, stored.Version)
}
