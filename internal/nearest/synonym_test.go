package nearest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/nearest"
)

// A word of another service means the one status that this service has for it.
func TestSynonymIsTheOnlyStatusOfTheSameMeaning(t *testing.T) {
	t.Parallel()
	for word, c := range map[string]struct {
		candidates []string
		want       string
	}{
		"SUCCEEDED":   {[]string{"SUBMITTED", "IN_PROGRESS", "ERROR", "SUCCESSFUL", "FAILED"}, "SUCCESSFUL"},
		"RUNNING":     {[]string{"SUBMITTED", "IN_PROGRESS", "ERROR", "SUCCESSFUL", "FAILED"}, "IN_PROGRESS"},
		"FAILURE":     {[]string{"SUBMITTED", "ERROR", "FAILED"}, ""},
		"Succeeded":   {[]string{"Pending", "Done"}, "Done"},
		"COMPLETED":   {[]string{"SUCCEEDED", "FINISHED"}, ""},
		"TIMEOUT":     {[]string{"TIMED_OUT", "FAILED"}, "TIMED_OUT"},
		"ANYTHING":    {[]string{"SUCCEEDED", "FAILED"}, ""},
		"In Progress": {[]string{"RUNNING", "FAILED"}, "RUNNING"},
	} {
		require.Equal(t, c.want, nearest.Synonym(word, c.candidates), word)
	}
}
