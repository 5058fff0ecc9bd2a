package startrecord

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
)

// Write is one conditional write of a record. Stores make one for each Create
// and Replace, so that all of them keep the same rules.
type Write struct {
	// Record is the record to write: with the key's parts, the version of the
	// JSON form and a fresh nonce, and otherwise as Decode will return it.
	Record Record
	// Body is the JSON form of Record.
	Body []byte

	location string
	replaces string
}

// NewWrite prepares the write of rec under key. Location names the place of the
// record for messages; replaces is the version that a Replace expects and empty
// for a Create. Its error is ErrInvalidKey, or says which field of rec cannot
// be written.
func NewWrite(location string, key Key, rec Record, replaces string) (Write, error) {
	if err := key.Validate(); err != nil {
		return Write{}, err
	}
	rec.Version = Version
	rec.ExecutionARN, rec.Poller, rec.Scope = key.ExecutionARN, key.Poller, key.Scope
	rec.Nonce = rand.Text()
	body, err := encode(rec)
	if err == nil {
		rec, err = decodeObject(key, body)
	}
	if err != nil {
		return Write{}, fmt.Errorf("start record for %s cannot be written: %w", location, err)
	}
	return Write{Record: rec, Body: body, location: location, replaces: replaces}, nil
}

// Settle decides a write that the server answered with an error. The answer
// alone cannot: a client that retries a write whose first reply was lost is told
// that the condition does not hold although it won. So every error except
// ErrConfiguration is followed by one load, within the same ctx:
//
//   - the record has the nonce of this write: it won, whatever the answer said;
//   - another's record: ErrExists, or ErrChanged for a Replace;
//   - no record after a Replace: ErrChanged;
//   - no record after a Create, or the old version after a Replace: the write
//     was not made so far, ErrUnavailable with the cause;
//   - no answer: ErrUnavailable with both errors.
func (w Write) Settle(ctx context.Context, cause error, load func(context.Context) (Stored, error)) (Stored, error) {
	if errors.Is(cause, ErrConfiguration) {
		return Stored{}, cause
	}
	unavailable := cause
	if !errors.Is(cause, ErrUnavailable) {
		unavailable = fmt.Errorf("%w: %s: %w", ErrUnavailable, w.location, cause)
	}
	if err := ctx.Err(); err != nil {
		return Stored{}, fmt.Errorf("%w; the record was perhaps written: %w", unavailable, err)
	}
	stored, err := load(ctx)
	found, gone := err == nil, errors.Is(err, ErrNotFound)
	switch {
	case found && stored.Record.Nonce == w.Record.Nonce:
		return stored, nil
	case found && w.replaces == "":
		return Stored{}, fmt.Errorf("%w: %s has status %s, generation %d; load it",
			ErrExists, w.location, stored.Record.Status, stored.Record.Generation)
	case found && stored.Version != w.replaces:
		return Stored{}, fmt.Errorf("%w: %s has status %s, generation %d by now; load it",
			ErrChanged, w.location, stored.Record.Status, stored.Record.Generation)
	case gone && w.replaces != "":
		return Stored{}, fmt.Errorf("%w: %s is gone", ErrChanged, w.location)
	case found, gone:
		return Stored{}, fmt.Errorf("%w; the record has not been written", unavailable)
	case errors.Is(err, ErrConfiguration), errors.Is(err, ErrVersion), errors.Is(err, ErrMalformed):
		// Only the second error is matchable: trying again does not help.
		return Stored{}, fmt.Errorf("the record was perhaps written: %s; reading it back: %w", cause.Error(), err)
	default:
		return Stored{}, fmt.Errorf("%w; the record was perhaps written, reading it back: %w", unavailable, err)
	}
}
