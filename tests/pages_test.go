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

// requireSection requires what stands between two marks of a page, or writes it there.
func requireSection(t *testing.T, page, name, want string) {
	t.Helper()
	begin, end := "<!-- begin "+name+" -->\n", "<!-- end "+name+" -->"
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	before, rest, begins := strings.Cut(string(text), begin)
	found, after, ends := strings.Cut(rest, end)
	require.True(t, begins && ends, "%s has no section %s", page, name)
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(before+begin+want+end+after), 0o600))
		return
	}
	require.Equal(t, want, found, "go test -tags e2e ./tests -run %s -update writes it anew", t.Name())
}
