package nearest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/nearest"
)

func TestSpelling(t *testing.T) {
	t.Parallel()
	known := []string{"available", "storage-full", "IN_PROGRESS", "up", "deleted"}
	for word, want := range map[string]string{
		"Available": "available", "storage_full": "storage-full", "StorageFull": "storage-full", "in progress": "IN_PROGRESS",
		"availabel": "available", "availablee": "available", "delete": "deleted", "InProgres": "IN_PROGRESS",
		"available": "", "unavailable": "", "deleting": "", "us": "", "": "", "-": "", "UP": "up",
	} {
		require.Equal(t, want, nearest.Spelling(word, known), word)
	}
	require.Equal(t, "deletes", nearest.Spelling("DELETES", []string{"deleted", "deletes"}), "letters count before one more or less")
}
