package startrecord

import (
	"context"
	"errors"
	"time"
)

// Errors of a Store and of Decode, for errors.Is.
var (
	// ErrExists: Create found a record under the key.
	ErrExists = errors.New("start record exists")
	// ErrNotFound: Load found no record under the key.
	ErrNotFound = errors.New("start record not found")
	// ErrChanged: Replace found another version, or none.
	ErrChanged = errors.New("start record changed")
	// ErrUnavailable: the store did not answer, or refused for a reason that
	// passes. A write with this error may still have been made, or be made
	// later: do not conclude that there is no record.
	ErrUnavailable = errors.New("start record store unavailable")
	// ErrConfiguration: the store cannot be used as it is set up, such as a
	// missing bucket, a denied access or bad credentials. Trying again does
	// not help.
	ErrConfiguration = errors.New("start record store misconfigured")
	// ErrVersion: the record has a version of the JSON form that this program
	// does not know.
	ErrVersion = errors.New("unknown start record version")
	// ErrMalformed: what is stored is not a start record, or is not the one of
	// its key.
	ErrMalformed = errors.New("malformed start record")
	// ErrInvalidKey: see Key.Validate.
	ErrInvalidKey = errors.New("invalid start record key")
)

// Stored is a record as it is in a store.
type Stored struct {
	Record Record
	// Version is what Replace needs, such as an ETag. It is opaque, and no two
	// writes of a key have the same one.
	Version string
	// Age is the time since the last write when the record was read, judged on
	// the server's clock and to a second; 0 right after a write. It is counted
	// from no earlier than the call that wrote, for leases are judged by it.
	Age time.Duration
}

// Store keeps start records. An implementation is safe for concurrent use, also
// by several processes, and passes startrecordtest.RunWithClock. NewWrite and Decode
// hold what all of them share.
//
// Every method returns ErrInvalidKey for a key that Key.Validate refuses, and
// an error that matches the context's once the context has ended.
type Store interface {
	// Create writes rec if the key has no record, else returns ErrExists. The
	// record returned is the one written, with its fresh nonce. An unclear
	// answer of the server is settled by reading back.
	Create(ctx context.Context, key Key, rec Record) (Stored, error)
	// Load returns the record of key, or ErrNotFound.
	Load(ctx context.Context, key Key) (Stored, error)
	// Replace writes rec if the stored one is still of the given version, else
	// returns ErrChanged, also if it is gone. An unclear answer of the server
	// is settled by reading back.
	Replace(ctx context.Context, key Key, rec Record, version string) (Stored, error)
	// Location names where the record of key is, for people, such as
	// "s3://bucket/prefix/...".
	Location(key Key) string
}
