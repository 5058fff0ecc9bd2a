package startrecord

import "context"

// Indexed is a Store that also finds a record by its job, for events that name the job
// alone. It passes startrecordtest.RunIndexed.
type Indexed interface {
	Store

	// ReplaceIndexed is Replace. In the same transaction it lets Find return the key for
	// the job ID of the record's Callback. A record without a job ID is replaced only.
	ReplaceIndexed(ctx context.Context, key Key, rec Record, version string) (Stored, error)
	// Find returns the key that was written last with the job ID, or ErrNotFound.
	Find(ctx context.Context, jobID string) (Key, error)
}
