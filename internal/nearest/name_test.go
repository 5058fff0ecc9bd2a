package nearest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/nearest"
)

// A call that reads is never a misspelling of one that changes.
func TestNamesDifferInMisspeltWordsAlone(t *testing.T) {
	t.Parallel()
	known := []string{"batchDeleteBuilds", "startBuild", "stopBuild", "batchGetBuilds", "getItem", "deleteItem", "putItem"}
	for name, want := range map[string]string{
		"batchGetBuild": "batchGetBuilds", "strtBuild": "startBuild", "getItm": "getItem", "getitem": "getItem",
	} {
		require.Equal(t, want, nearest.Word(name, nearest.Names(name, known)), name)
	}
	for name, others := range map[string][]string{
		"batchGetBuilds": {"batchDeleteBuilds"}, "getItem": {"deleteItem", "setItem"}, "startBuild": {"stopBuild"},
	} {
		require.Empty(t, nearest.Names(name, others), name)
	}
}
