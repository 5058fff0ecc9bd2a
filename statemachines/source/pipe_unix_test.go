//go:build unix

package source_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/source"
)

// A pipe that a template names is not opened: nobody may ever write to it.
func TestPipe(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	template := filepath.Join(folder, "t.yaml")
	require.NoError(t, os.WriteFile(template, []byte(machine("DefinitionUri: m.json")), 0o600))
	require.NoError(t, syscall.Mkfifo(filepath.Join(folder, "m.json"), 0o600))
	d, err := source.LoadOne(template, source.Options{})
	require.NoError(t, err)
	require.Contains(t, d.Problems.Brief(), "m.json is no regular file")
}
