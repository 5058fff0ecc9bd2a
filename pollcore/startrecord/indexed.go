package startrecord

import (
	"context"
	"slices"
)

// MaxJobIDs is how many job IDs one record is found by: a transaction of DynamoDB has
// 100 items.
const MaxJobIDs = 99

// Indexed is a Store that also finds a record by its job, for events that name the job
// alone. It passes startrecordtest.RunIndexed.
type Indexed interface {
	Store

	// ReplaceIndexed is Replace. In the same transaction it lets Find return the key for
	// the job IDs of the record's Callback, MaxJobIDs at most. A record without job IDs is
	// replaced only.
	ReplaceIndexed(ctx context.Context, key Key, rec Record, version string) (Stored, error)
	// Find returns the key that was written last with the job ID, or ErrNotFound.
	Find(ctx context.Context, jobID string) (Key, error)
}

// ListJobIDs returns the job IDs that ReplaceIndexed writes, each once.
func ListJobIDs(rec Record) []string {
	ids := slices.Compact(slices.Sorted(slices.Values(rec.Callback.JobIDs)))
	return ids[:min(len(ids), MaxJobIDs)]
}
