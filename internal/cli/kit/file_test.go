package kit

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// endless is a file such as /dev/zero. It fails the test that reads all of it.
type endless struct {
	t    *testing.T
	left int
}

func (e *endless) Read(p []byte) (int, error) {
	e.left -= len(p)
	require.Positive(e.t, e.left, "the reader does not stop")
	return len(p), nil
}

// A file that never ends, such as /dev/zero as --schedule or --input, filled the memory.
func TestReadEndlessFile(t *testing.T) {
	t.Parallel()
	_, err := readLimited(Stdin, &endless{t, 4 << 20}, 1<<20)
	require.EqualError(t, err, "- has more than 1 MiB: pass a shorter file")
	text, err := readLimited(Stdin, io.LimitReader(strings.NewReader("text"), 4), 4)
	require.NoError(t, err)
	require.Equal(t, "text", string(text))

	name := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(name, []byte("text"), 0o600))
	text, err = readFile(name, nil)
	require.NoError(t, err)
	require.Equal(t, "text", string(text))
	require.NoError(t, os.Truncate(name, mostFileBytes+1))
	_, err = readFile(name, nil)
	require.ErrorContains(t, err, "has more than 512 MiB: pass a shorter file")
	_, err = readFile(t.TempDir(), nil)
	require.ErrorContains(t, err, "is a directory")
}

// A file keeps its mode, and its other names have the new text.
func TestReplaceFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	name, linked, symbolic := filepath.Join(folder, "a"), filepath.Join(folder, "b"), filepath.Join(folder, "c")
	require.NoError(t, os.WriteFile(name, []byte("old"), 0o640))
	require.NoError(t, os.Symlink("a", symbolic))
	for _, text := range []string{"new", "newer"} {
		require.NoError(t, ReplaceFile(symbolic, []byte(text)))
		for _, file := range []string{name, symbolic} {
			got, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, text, string(got))
		}
		info, err := os.Lstat(name)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o640), info.Mode())
		if text == "new" {
			require.NoError(t, os.Link(name, linked))
		}
	}
	got, err := os.ReadFile(linked)
	require.NoError(t, err)
	require.Equal(t, "newer", string(got))
	left, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, left, 3)
}
