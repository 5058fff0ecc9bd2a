package tests_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// blocks returns the fenced code blocks of a Markdown file by language.
func blocks(t *testing.T, file, language string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var found []string
	for part := range strings.SplitSeq(string(text), "\n```"+language+"\n") {
		code, _, closed := strings.Cut(part, "\n```")
		require.True(t, closed || len(found) == 0)
		found = append(found, code+"\n")
	}
	return found[1:]
}
