//go:build e2e

package release_test

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/lambdabuild"
	"github.com/jobpoller/jobpoller/internal/release"
)

// small is a module with a command of the name.
func small(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":                "module " + lambdabuild.Module + "\n\ngo 1.26\n",
		"cmd/jobpoller/main.go": "package main\n\nfunc main() {}\n",
		"LICENSE":               "licence", "NOTICE": "notice", "README.md": "readme",
	} {
		path := filepath.Join(folder, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return folder
}

// filesOf are the contents of the files in a folder, by name.
func filesOf(t *testing.T, folder string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	files := map[string]string{}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		require.NoError(t, err)
		files[e.Name()] = string(text)
	}
	return files
}

// Two builds of equal sources are equal, wherever they lie.
func TestE2EReleasesAreEqual(t *testing.T) {
	t.Parallel()
	var releases []map[string]string
	for range 2 {
		out := filepath.Join(t.TempDir(), "release")
		r := release.Release{Module: small(t), Version: "v1.2.3", Time: time.Unix(1_800_000_000, 0)}
		require.NoError(t, r.Build(t.Context(), out, release.Machines()...))
		releases = append(releases, filesOf(t, out))
	}
	require.Equal(t, releases[0], releases[1])

	names := []string{
		"jobpoller_v1.2.3_darwin_amd64.tar.gz", "jobpoller_v1.2.3_darwin_arm64.tar.gz", "jobpoller_v1.2.3_linux_amd64.tar.gz",
		"jobpoller_v1.2.3_linux_arm64.tar.gz", "jobpoller_v1.2.3_windows_amd64.zip", "jobpoller_v1.2.3_windows_arm64.zip",
	}
	var want strings.Builder
	for _, name := range names {
		sum := sha256.Sum256([]byte(releases[0][name]))
		want.WriteString(hex.EncodeToString(sum[:]) + "  " + name + "\n")
	}
	require.Equal(t, want.String(), releases[0][release.Checksums])
	require.Len(t, releases[0], len(names)+1)

	packed, err := zip.NewReader(strings.NewReader(releases[0][names[5]]), int64(len(releases[0][names[5]])))
	require.NoError(t, err)
	var inZip []string
	for _, f := range packed.File {
		inZip = append(inZip, f.Name)
	}
	require.Equal(t, []string{"LICENSE", "NOTICE", "README.md", "jobpoller.exe"}, inZip)
}

// sha256sum accepts the checksums, and the command in the archive says its version.
func TestE2EReleasedCommandKnowsItsVersion(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	r := release.Release{Module: "../..", Version: "v1.2.3", Time: time.Unix(1_800_000_000, 0)}
	require.NoError(t, r.Build(t.Context(), out, lambdabuild.Host()))
	if checker, err := exec.LookPath("sha256sum"); err == nil {
		check := exec.CommandContext(t.Context(), checker, "-c", release.Checksums)
		check.Dir = out
		said, err := check.CombinedOutput()
		require.NoError(t, err, "%s", said)
	}
	file, err := os.Open(filepath.Join(out, "jobpoller_v1.2.3_"+lambdabuild.Host().System+"_"+lambdabuild.Host().Architecture+".tar.gz"))
	require.NoError(t, err)
	defer file.Close()
	text, err := gzip.NewReader(file)
	require.NoError(t, err)
	command := filepath.Join(t.TempDir(), "jobpoller")
	for r := tar.NewReader(text); ; {
		header, err := r.Next()
		require.NoError(t, err)
		if header.Name != "jobpoller" {
			continue
		}
		content, err := io.ReadAll(r)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(command, content, header.FileInfo().Mode()))
		break
	}
	said, err := exec.CommandContext(t.Context(), command, "--version").CombinedOutput()
	require.NoError(t, err)
	require.Equal(t, "jobpoller version v1.2.3\n", string(said))
}

func TestE2EReleaseRefuses(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"", "../v1", "v1 2", "-v", "'v1'"} {
		r := release.Release{Module: small(t), Version: version}
		require.ErrorContains(t, r.Build(t.Context(), t.TempDir(), lambdabuild.Host()), "expected letters, digits and . + ~ -")
	}
	r := release.Release{Module: t.TempDir(), Version: "v1"}
	require.ErrorContains(t, r.Build(t.Context(), t.TempDir(), lambdabuild.Host()), "go build ./cmd/jobpoller")
}
