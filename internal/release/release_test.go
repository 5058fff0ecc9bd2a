//go:build e2e

package release_test

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/lambdabuild"
	"github.com/jobpoller/jobpoller/internal/release"
)

// small is a module with a command of the name, and a function. The command links a
// module on Windows that it does not link elsewhere.
func small(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	required, err := os.ReadFile(filepath.Join(root, "go.mod"))
	require.NoError(t, err)
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	require.NoError(t, err)
	for name, text := range map[string]string{
		"go.mod": string(required), "go.sum": string(sums),
		"cmd/jobpoller/main.go": "package main\n\nimport \"github.com/spf13/cobra\"\n\nfunc main() { _ = (&cobra.Command{}).Execute() }\n",
		"lambdas/f/main.go":     "package main\n\nimport _ \"go.yaml.in/yaml/v3\"\n\nfunc main() {}\n",
		"LICENSE":               "licence", "NOTICE": "notice", "README.md": "# readme\n",
	} {
		path := filepath.Join(folder, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return folder
}

const root = "../.."

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

// Two releases of equal sources are equal, wherever they lie.
func TestE2EReleasesAreEqual(t *testing.T) {
	t.Parallel()
	var releases []map[string]string
	for range 2 {
		out := filepath.Join(t.TempDir(), "release")
		r := release.Release{Module: small(t), Version: "v1.2.3", Time: time.Unix(1_800_000_000, 0), Functions: []string{"./lambdas/f"}}
		require.NoError(t, r.Build(t.Context(), out, release.Machines()...))
		releases = append(releases, filesOf(t, out))
	}
	require.Equal(t, releases[0], releases[1])

	var names []string
	var want strings.Builder
	for _, name := range slices.Sorted(maps.Keys(releases[0])) {
		if name == release.Checksums {
			continue
		}
		names = append(names, name)
		fmt.Fprintf(&want, "%x  %s\n", sha256.Sum256([]byte(releases[0][name])), name)
	}
	require.Equal(t, want.String(), releases[0][release.Checksums])
	require.Equal(t, []string{
		"THIRD_PARTY_NOTICES.txt",
		"jobpoller-1.2.3-py3-none-macosx_12_0_arm64.whl", "jobpoller-1.2.3-py3-none-macosx_12_0_x86_64.whl",
		"jobpoller-1.2.3-py3-none-manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64.whl",
		"jobpoller-1.2.3-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64.whl",
		"jobpoller-1.2.3-py3-none-win_amd64.whl", "jobpoller-1.2.3-py3-none-win_arm64.whl",
		"jobpoller-1.2.3.tgz", "jobpoller-darwin-arm64-1.2.3.tgz", "jobpoller-darwin-x64-1.2.3.tgz", "jobpoller-linux-arm64-1.2.3.tgz",
		"jobpoller-linux-x64-1.2.3.tgz", "jobpoller-win32-arm64-1.2.3.tgz", "jobpoller-win32-x64-1.2.3.tgz",
		"jobpoller_v1.2.3_darwin_amd64.tar.gz", "jobpoller_v1.2.3_darwin_arm64.tar.gz", "jobpoller_v1.2.3_f_amd64.zip", "jobpoller_v1.2.3_f_arm64.zip",
		"jobpoller_v1.2.3_image.tar", "jobpoller_v1.2.3_linux_amd64.tar.gz", "jobpoller_v1.2.3_linux_arm64.tar.gz", "jobpoller_v1.2.3_sbom.cdx.json",
		"jobpoller_v1.2.3_windows_amd64.zip", "jobpoller_v1.2.3_windows_arm64.zip",
	}, names)
	require.Equal(t, []string{"LICENSE", "NOTICE", "README.md", "THIRD_PARTY_NOTICES.txt", "jobpoller.exe"},
		slices.Sorted(maps.Keys(unzip(t, releases[0]["jobpoller_v1.2.3_windows_arm64.zip"]))))
	requireModules(t, releases[0])
}

// requireModules asks that the bill of materials and the notices have what the programs
// in the release say of themselves.
func requireModules(t *testing.T, files map[string]string) {
	t.Helper()
	var bill struct {
		Components []struct {
			Ref    string `json:"bom-ref"`
			Hashes []struct {
				Content string `json:"content"`
			} `json:"hashes"`
		} `json:"components"`
		Dependencies []struct {
			Ref       string   `json:"ref"`
			DependsOn []string `json:"dependsOn"`
		} `json:"dependencies"`
	}
	require.NoError(t, json.Unmarshal([]byte(files["jobpoller_v1.2.3_sbom.cdx.json"]), &bill))
	parts, sums := map[string][]string{}, map[string]string{}
	for _, d := range bill.Dependencies {
		parts[d.Ref] = d.DependsOn
	}
	for _, c := range bill.Components {
		if len(c.Hashes) > 0 {
			sums[c.Ref] = c.Hashes[0].Content
		}
	}
	programs := map[string]string{
		"jobpoller_windows_arm64": unzip(t, files["jobpoller_v1.2.3_windows_arm64.zip"])["jobpoller.exe"],
		"f_linux_arm64":           unzip(t, files["jobpoller_v1.2.3_f_arm64.zip"])["bootstrap"],
	}
	for name, program := range programs {
		info, err := buildinfo.Read(strings.NewReader(program))
		require.NoError(t, err)
		want := []string{"pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go")}
		for _, d := range info.Deps {
			want = append(want, "pkg:golang/"+d.Path+"@"+d.Version)
			require.Contains(t, files[release.Notices], d.Path+" "+d.Version+", LICENSE")
		}
		require.ElementsMatch(t, want, parts[name], name)
		require.Equal(t, fmt.Sprintf("%x", sha256.Sum256([]byte(program))), sums[name])
	}
	require.Len(t, parts["jobpoller_windows_arm64"], 4, "cobra, pflag, mousetrap, the standard library")
	require.Len(t, parts["jobpoller_linux_arm64"], 3)
	require.Len(t, parts["jobpoller@v1.2.3"], len(release.Machines())+2)
	require.Contains(t, files[release.Notices], "Copyright 2022 Alan Shreve", "of mousetrap")
	require.Contains(t, files[release.Notices], "Copyright 2009 The Go Authors.")
}

func unzip(t *testing.T, packed string) map[string]string {
	t.Helper()
	r, err := zip.NewReader(strings.NewReader(packed), int64(len(packed)))
	require.NoError(t, err)
	files := map[string]string{}
	for _, f := range r.File {
		text, err := fs.ReadFile(r, f.Name)
		require.NoError(t, err)
		files[f.Name] = string(text)
	}
	return files
}

// sha256sum accepts the checksums, and the command in the archive says its version.
func TestE2EReleasedCommandKnowsItsVersion(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	r := release.Release{Module: root, Version: "v1.2.3", Time: time.Unix(1_800_000_000, 0)}
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

	// Nobody else has a fork on this disk.
	fork := t.TempDir()
	source := strings.TrimSpace(goCommand(t, small(t), "list", "-m", "-f", "{{.Dir}}", "github.com/spf13/pflag"))
	require.NoError(t, os.CopyFS(fork, os.DirFS(source)))
	r.Module = small(t)
	goCommand(t, r.Module, "mod", "edit", "-replace", "github.com/spf13/pflag="+fork)
	require.ErrorContains(t, r.Build(t.Context(), t.TempDir(), lambdabuild.Host()), "github.com/spf13/pflag is replaced by the folder "+fork)
}

func goCommand(t *testing.T, folder string, arguments ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", arguments...)
	command.Dir = folder
	text, err := command.Output()
	require.NoError(t, err)
	return string(text)
}
