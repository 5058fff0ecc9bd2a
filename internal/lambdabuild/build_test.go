//go:build e2e

package lambdabuild_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/lambdabuild"
)

// What the builder's environment says does not change what is built.
func TestE2EBuild(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "go.mod", "module "+lambdabuild.Module+"\n\ngo 1.26\n")
	write(t, folder, "lambdas/hello/main.go", "// Command hello says so.\npackage main\n\nfunc main() { println(\"hello\") }\n")
	write(t, folder, "lambdas/broken/main.go", "package main\n\nfunc main() { none() }\n")
	build := func(name string) []byte {
		t.Helper()
		archive := filepath.Join(t.TempDir(), name)
		require.NoError(t, lambdabuild.Package(t.Context(), folder, "./lambdas/hello", "arm64", archive))
		left, err := os.ReadDir(filepath.Dir(archive))
		require.NoError(t, err)
		require.Len(t, left, 1, "the package alone")
		text, err := os.ReadFile(archive)
		require.NoError(t, err)
		return text
	}
	plain := build("plain.zip")
	t.Setenv("CGO_ENABLED", "1")
	t.Setenv("GOARM64", "v9.0")
	t.Setenv("GOEXPERIMENT", "arenas")
	t.Setenv("GOFIPS140", "latest")
	t.Setenv("GOFLAGS", "-race")
	t.Setenv("GOWORK", "/nowhere/go.work")
	require.Equal(t, plain, build("other.zip"))

	err := lambdabuild.Package(t.Context(), folder, "./lambdas/broken", "arm64", filepath.Join(t.TempDir(), "broken.zip"))
	require.ErrorContains(t, err, "go build ./lambdas/broken in "+folder+": exit status 1\n")
	require.ErrorContains(t, err, "undefined: none")
	write(t, folder, "lambdas/driver/driver.go", "package driver\n")
	err = lambdabuild.Package(t.Context(), folder, "./lambdas/driver", "arm64", filepath.Join(t.TempDir(), "driver.zip"))
	require.EqualError(t, err, "./lambdas/driver is package driver, which cannot run: name a package main, such as one that calls handler.Main")
	err = lambdabuild.Package(t.Context(), folder, "./lambdas/hello", "arm64", filepath.Join(folder, "missing", "hello.zip"))
	require.ErrorIs(t, err, os.ErrNotExist)
}
