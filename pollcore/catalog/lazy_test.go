package catalog_test

import (
	"io/fs"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// recorder notes which files of a folder are opened.
type recorder struct {
	fs.FS

	mu     sync.Mutex
	opened []string
}

// Open implements fs.FS.
func (r *recorder) Open(name string) (fs.File, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.opened = append(r.opened, name)
	return r.FS.Open(name)
}

// A catalogue reads the files that it is asked about, each once.
func TestLazy(t *testing.T) {
	t.Parallel()
	files := &recorder{FS: os.DirFS("data")}
	c := catalog.Open(files)
	require.Empty(t, files.opened, "opening reads nothing")

	tests := []struct {
		name string
		do   func() error
		want []string // in all
	}{
		{"listing", func() error { _, err := c.List(); return err }, []string{"index.json.gz"}},
		{"searching", func() error { _, err := c.Search("export"); return err }, []string{"index.json.gz"}},
		{"finding", func() error { _, err := c.Find("EC2"); return err }, []string{"index.json.gz"}},
		{"a waiter", func() error { _, err := c.Lookup("dynamodb", "ExportCompleted"); return err }, []string{"index.json.gz", "dynamodb.json.gz"}},
		{"another of the service", func() error { _, err := c.Lookup("DynamoDB", "TableExists"); return err }, []string{"index.json.gz", "dynamodb.json.gz"}},
		{"a job", func() error { _, err := c.Lookup("athena", "StartQueryExecution"); return err }, []string{"index.json.gz", "dynamodb.json.gz", "athena.json.gz"}},
	}
	for _, tt := range tests {
		require.NoError(t, tt.do(), tt.name)
		require.Equal(t, tt.want, files.opened, tt.name)
	}
	_, err := c.Lookup("dynamodb", "ExportComplete")
	require.ErrorIs(t, err, catalog.ErrNotFound)
	require.Len(t, files.opened, 3, "a name that is not there")
}
