package tests_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The table of the page is what the tests of package scale measured.
func TestSignalsPageTable(t *testing.T) {
	t.Parallel()
	const file, begin, end = book + "/guide/signals.md", "<!-- begin signals -->\n\n", "\n<!-- end signals -->"
	measured, err := os.ReadFile("scale/testdata/table.md")
	require.NoError(t, err)
	page, err := os.ReadFile(file)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(page), begin)
	require.True(t, ok)
	table, after, ok := strings.Cut(rest, end)
	require.True(t, ok)
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(before+begin+string(measured)+end+after), 0o600))
		return
	}
	require.Equal(t, string(measured), table, "go test ./tests -run %s -update writes it anew", t.Name())
}
