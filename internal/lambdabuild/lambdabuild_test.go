package lambdabuild_test

import (
	"archive/zip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/lambdabuild"
)

func write(t *testing.T, folder, name, text string) string {
	t.Helper()
	path := filepath.Join(folder, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// An equal executable gives an equal package, whatever its mode and age.
func TestZip(t *testing.T) {
	t.Parallel()
	first, second := t.TempDir(), t.TempDir()
	executable := write(t, second, "bootstrap", "text")
	require.NoError(t, os.Chmod(executable, 0o400))
	require.NoError(t, lambdabuild.Zip(filepath.Join(first, "a.zip"), write(t, first, "bootstrap", "text")))
	require.NoError(t, lambdabuild.Zip(filepath.Join(second, "b.zip"), executable))
	a, err := os.ReadFile(filepath.Join(first, "a.zip"))
	require.NoError(t, err)
	b, err := os.ReadFile(filepath.Join(second, "b.zip"))
	require.NoError(t, err)
	require.Equal(t, a, b)

	packed, err := zip.OpenReader(filepath.Join(first, "a.zip"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, packed.Close()) })
	require.Len(t, packed.File, 1)
	require.Equal(t, "bootstrap", packed.File[0].Name)
	require.Equal(t, os.FileMode(0o755), packed.File[0].Mode())
	content, err := packed.File[0].Open()
	require.NoError(t, err)
	text, err := io.ReadAll(content)
	require.NoError(t, err)
	require.Equal(t, "text", string(text))

	require.ErrorIs(t, lambdabuild.Zip(filepath.Join(first, "c.zip"), filepath.Join(first, "missing")), os.ErrNotExist)
}

// The module is where the working folder's module has it, even with packages
// vendored.
func TestFolder(t *testing.T) {
	here, err := filepath.Abs("../..")
	require.NoError(t, err)
	folder, err := lambdabuild.Folder(t.Context())
	require.NoError(t, err)
	require.Equal(t, here, folder)

	replaced := t.TempDir()
	write(t, replaced, "go.mod", "module "+lambdabuild.Module+"\n\ngo 1.26\n")
	user := t.TempDir()
	const required = "module example.com/user\n\ngo 1.26\n\nrequire " + lambdabuild.Module + " v0.0.0\n"
	write(t, user, "go.mod", required+"replace "+lambdabuild.Module+" => "+replaced+"\n")
	write(t, user, "vendor/modules.txt", "# "+lambdabuild.Module+" v0.0.0 => "+replaced+"\n## explicit; go 1.26\n")
	t.Chdir(user)
	folder, err = lambdabuild.Folder(t.Context())
	require.NoError(t, err)
	require.Equal(t, replaced, folder)

	stranger := t.TempDir()
	write(t, stranger, "go.mod", "module example.com/stranger\n\ngo 1.26\n")
	t.Chdir(stranger)
	_, err = lambdabuild.Folder(t.Context())
	require.ErrorContains(t, err, "go list -m "+lambdabuild.Module+": exit status 1")
	require.ErrorContains(t, err, "not a known dependency")

	t.Setenv("PATH", "")
	_, err = lambdabuild.Folder(t.Context())
	require.ErrorIs(t, err, exec.ErrNotFound)
}
