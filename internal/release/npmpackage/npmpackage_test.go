package npmpackage_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/archive"
	"github.com/jobpoller/jobpoller/internal/lambdabuild"
	"github.com/jobpoller/jobpoller/internal/release/npmpackage"
)

// untar returns the files by name, and the names of those that can be run.
func untar(t *testing.T, packed []byte) (files map[string]string, executables []string) {
	t.Helper()
	text, err := gzip.NewReader(bytes.NewReader(packed))
	require.NoError(t, err)
	files = map[string]string{}
	for r := tar.NewReader(text); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files, executables
		}
		require.NoError(t, err)
		content, err := io.ReadAll(r)
		require.NoError(t, err)
		files[header.Name] = string(content)
		if header.Mode&0o111 != 0 {
			executables = append(executables, header.Name)
		}
	}
}

func TestPackages(t *testing.T) {
	t.Parallel()
	r := npmpackage.Release{Version: "0.1.0", Time: time.Unix(1_800_000_000, 0), Texts: []archive.File{{Name: "LICENSE", Content: []byte("licence")}}}
	linux, windows := lambdabuild.Machine{System: "linux", Architecture: "amd64"}, lambdabuild.Machine{System: "windows", Architecture: "arm64"}
	file, packed, err := r.Platform(windows, []byte("program"))
	require.NoError(t, err)
	require.Equal(t, "jobpoller-win32-arm64-0.1.0.tgz", file)
	files, executables := untar(t, packed)
	require.Equal(t, []string{"package/bin/jobpoller.exe"}, executables)
	require.Equal(t, map[string]string{
		"package/LICENSE": "licence", "package/bin/jobpoller.exe": "program", "package/package.json": `{
  "name": "@jobpoller/win32-arm64",
  "version": "0.1.0",
  "description": "Check, test and build Step Functions poll loops: the program for win32 on arm64",
  "license": "Apache-2.0",
  "os": [
    "win32"
  ],
  "cpu": [
    "arm64"
  ],
  "preferUnplugged": true
}
`,
	}, files)

	file, packed, err = r.Main(linux, windows)
	require.NoError(t, err)
	require.Equal(t, "jobpoller-0.1.0.tgz", file)
	files, executables = untar(t, packed)
	require.Equal(t, []string{"package/bin/jobpoller"}, executables)
	require.JSONEq(t, `{
		"name": "jobpoller", "version": "0.1.0", "description": "Check, test and build Step Functions poll loops", "license": "Apache-2.0",
		"bin": {"jobpoller": "bin/jobpoller"}, "engines": {"node": ">=20"},
		"optionalDependencies": {"@jobpoller/linux-x64": "0.1.0", "@jobpoller/win32-arm64": "0.1.0"}
	}`, files["package/package.json"])

	_, _, err = r.Platform(lambdabuild.Machine{System: "plan9", Architecture: "amd64"}, nil)
	require.EqualError(t, err, "there is no name of npm for plan9/amd64")
}
