package shipped

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The store of the run wins over one that the shell names.
func TestStoreOfTheRunWins(t *testing.T) {
	t.Parallel()
	for table, o := range map[string]Store{"flag": {Table: "flag"}, "": {Bucket: "flag"}} {
		env, err := (&Functions{options: Options{Records: o}, bucket: o.Bucket}).AddStore(t.Context(), []string{"JOBPOLLER_TABLE=mine"})
		require.NoError(t, err)
		last := map[string]string{}
		for _, variable := range env {
			name, value, _ := strings.Cut(variable, "=")
			last[name] = value
		}
		require.Equal(t, table, last["JOBPOLLER_TABLE"])
		require.Equal(t, o.Bucket, last["JOBPOLLER_BUCKET"])
	}
}
