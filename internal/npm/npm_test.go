//go:build e2e

package npm_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/npm"
)

// Files that lock no packages need no registry.
func files(program string) npm.Files {
	return npm.Files{
		"package.json":      []byte(`{"name": "none", "private": true}`),
		"package-lock.json": []byte(`{"name": "none", "lockfileVersion": 3, "requires": true, "packages": {"": {"name": "none"}}}`),
		"program.js":        []byte(program),
	}
}

func TestE2EInstall(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("npm_config_cache", t.TempDir())
	first, err := npm.Install(t.Context(), "none", files("1"))
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(first, "program.js"))
	require.NoError(t, err)
	require.Equal(t, "1", string(text))

	again, err := npm.Install(t.Context(), "none", files("1"))
	require.NoError(t, err)
	require.Equal(t, first, again)
	other, err := npm.Install(t.Context(), "none", files("2"))
	require.NoError(t, err)
	require.NotEqual(t, first, other)
}

func TestE2EInstallRefuses(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("npm_config_cache", t.TempDir())
	_, err := npm.Install(t.Context(), "none", npm.Files{"package.json": []byte(`{}`)})
	require.ErrorContains(t, err, "install none: npm ci: ")

	t.Setenv("PATH", "")
	_, err = npm.Install(t.Context(), "none", files("3"))
	require.ErrorIs(t, err, exec.ErrNotFound)
	require.ErrorContains(t, err, "install Node.js 20 or later")
}
