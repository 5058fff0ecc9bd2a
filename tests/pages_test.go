package tests_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	readme = "../README.md"
	book   = "../docs"

	compilePage = book + "/guide/compile.md"
)

// pages are README.md and the pages of docs.
func pages(t *testing.T) []string {
	t.Helper()
	found := []string{readme}
	require.NoError(t, filepath.WalkDir(book, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".md") {
			found = append(found, path)
		}
		return err
	}))
	return found
}

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
