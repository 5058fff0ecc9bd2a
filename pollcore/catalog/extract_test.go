package catalog_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// Of every entry, Extract gives what Resolve does, with less of its service.
func TestExtract(t *testing.T) {
	t.Parallel()
	list, err := catalog.AWS().List()
	require.NoError(t, err)
	for _, service := range list {
		for _, entry := range service.Entries {
			name := service.Key + ":" + entry.Name
			want, err := catalog.AWS().Resolve(name)
			require.NoError(t, err)
			got, err := catalog.AWS().Extract(name)
			require.NoError(t, err)
			require.Equal(t, want.FullName, got.FullName)
			require.Equal(t, want.Starts, got.Starts)
			require.Equal(t, want.Kind, got.Kind)
			require.Equal(t, want.Waiter, got.Waiter)
			require.Equal(t, want.TotalWait, got.TotalWait)
			require.Equal(t, want.Job, got.Job)
			require.Equal(t, want.Operation.Name, got.Operation.Name)
			require.Equal(t, want.Service.Endpoint, got.Service.Endpoint)
			require.LessOrEqual(t, len(got.Service.Operations), 4, name)
			require.Less(t, len(got.Service.Waiters)+len(got.Service.Jobs), 2, name)
			for name, o := range got.Service.Operations {
				require.JSONEq(t, textOf(t, want.Service.Operations[name]), textOf(t, o))
				require.Equal(t, o.InputShape != "", o.Input != nil)
				require.Equal(t, o.OutputShape != "", o.Output != nil)
			}
			for name, shape := range got.Service.Shapes {
				require.Equal(t, textOf(t, want.Service.Shapes[name]), textOf(t, shape))
			}
		}
	}
}

func textOf(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}

// Extract reads the one file that it needs, and leaves other names to Resolve.
func TestExtractReadsOneFile(t *testing.T) {
	t.Parallel()
	files := &recorder{FS: os.DirFS("data")}
	c := catalog.Open(files)
	_, err := c.Extract("athena:StartQueryExecution")
	require.NoError(t, err)
	require.Equal(t, []string{"athena.json.gz"}, files.opened)

	for _, name := range []string{"athena:QueryExecutionSucceeded", "states:StartExecution"} {
		want, err := catalog.AWS().Resolve(name)
		require.NoError(t, err)
		got, err := catalog.AWS().Extract(name)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, name := range []string{"athena", "athena:QueryExecutionSuceeded", "index:x", "../data/athena:StartQueryExecution", ":", "Athena:StartQueryExecution"} {
		_, want := catalog.AWS().Resolve(name)
		require.Error(t, want)
		_, err := catalog.AWS().Extract(name)
		require.Equal(t, want, err)
	}
}
