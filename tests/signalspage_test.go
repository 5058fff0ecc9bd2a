package tests_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// The table of the page is what the tests of package scale measured.
func TestSignalsPageTable(t *testing.T) {
	t.Parallel()
	measured, err := os.ReadFile("scale/testdata/table.md")
	require.NoError(t, err)
	requireSection(t, book+"/guide/signals.md", "signals", "\n"+string(measured)+"\n")
}
