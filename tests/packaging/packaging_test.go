//go:build e2e

package packaging_test

import (
	"archive/zip"
	"crypto/sha256"
	"debug/buildinfo"
	"debug/elf"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/lambdabuild"
)

const root = "../.."

var machines = map[string]elf.Machine{"arm64": elf.EM_AARCH64, "amd64": elf.EM_X86_64}

// makeLambdas runs make lambdas in a folder and returns where the files are.
func makeLambdas(t *testing.T, folder string) string {
	t.Helper()
	dist := t.TempDir()
	command := exec.CommandContext(t.Context(), "make", "-j2", "lambdas", "DIST="+dist)
	command.Dir = folder
	// This test may itself be run by make. Go's default for version control is what
	// a machine may have changed.
	command.Env = append(os.Environ(), "MAKEFLAGS=", "GOFLAGS=-buildvcs=auto")
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s", output)
	return dist
}

// copyTree copies what functions are built from to another folder, without the
// history of changes.
func copyTree(t *testing.T) string {
	t.Helper()
	to := t.TempDir()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		name := entry.Name()
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && (strings.HasPrefix(name, ".") || slices.Contains([]string{"bin", "dist", "node_modules", "testdata"}, name)):
			return fs.SkipDir
		case !entry.Type().IsRegular() || strings.HasSuffix(name, "_test.go") || name == ".git": // which names the repository of a worktree
			return nil
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		copied := filepath.Join(to, relative)
		if err := os.MkdirAll(filepath.Dir(copied), 0o755); err != nil {
			return err
		}
		return os.WriteFile(copied, text, 0o600)
	})
	require.NoError(t, err)
	return to
}

// hashes returns the SHA-256 of each file below a folder.
func hashes(t *testing.T, folder string) map[string][sha256.Size]byte {
	t.Helper()
	found := map[string][sha256.Size]byte{}
	require.NoError(t, fs.WalkDir(os.DirFS(folder), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(folder, path))
		found[path] = sha256.Sum256(text)
		return err
	}))
	return found
}

// A build in this folder, which may have a history of changes, and one in
// another without it.
func TestE2ETwoBuildsAreEqual(t *testing.T) {
	t.Parallel()
	dist := makeLambdas(t, root)
	built := hashes(t, dist)
	require.Equal(t, []string{
		"checkstatus-amd64.zip", "checkstatus-arm64.zip", "checkstatus/amd64/bootstrap", "checkstatus/arm64/bootstrap",
		"collector-amd64.zip", "collector-arm64.zip", "collector/amd64/bootstrap", "collector/arm64/bootstrap",
		"runjob-amd64.zip", "runjob-arm64.zip", "runjob/amd64/bootstrap", "runjob/arm64/bootstrap",
	}, slices.Sorted(maps.Keys(built)))
	copied := copyTree(t)
	require.Equal(t, built, hashes(t, makeLambdas(t, copied)))
	requireBuiltAtSynth(t, copied, dist)

	for _, name := range []string{"runjob", "checkstatus"} {
		for architecture, machine := range machines {
			bootstrap := filepath.Join(dist, name, architecture, "bootstrap")
			requireExecutable(t, bootstrap, machine)
			requirePackage(t, filepath.Join(dist, name+"-"+architecture+".zip"), bootstrap)
		}
	}
}

// requireBuiltAtSynth asks that what cdkapp builds is what make lambdas gives, and
// that it writes nothing to the folder, which may be in the module cache.
func requireBuiltAtSynth(t *testing.T, folder, dist string) {
	t.Helper()
	before := hashes(t, folder)
	for _, name := range []string{"runjob", "checkstatus"} {
		for architecture := range machines {
			archive := filepath.Join(t.TempDir(), "package.zip")
			require.NoError(t, lambdabuild.Package(t.Context(), folder, "./lambdas/"+name, architecture, archive))
			want, err := os.ReadFile(filepath.Join(dist, name+"-"+architecture+".zip"))
			require.NoError(t, err)
			got, err := os.ReadFile(archive)
			require.NoError(t, err)
			require.Equal(t, sha256.Sum256(want), sha256.Sum256(got), "%s for %s", name, architecture)
		}
	}
	require.Equal(t, before, hashes(t, folder), "nothing is written there")
}

// requireExecutable asks for what the Lambda runtime provided.al2023 can run: an
// executable that needs no library, here without its symbols.
func requireExecutable(t *testing.T, path string, machine elf.Machine) {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o111), info.Mode()&0o111, "anyone can execute %s", path)
	file, err := elf.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, file.Close()) })
	require.Equal(t, machine, file.Machine)
	require.Equal(t, elf.ET_EXEC, file.Type)
	for _, section := range []string{".interp", ".dynamic", ".symtab", ".debug_info"} {
		require.Nil(t, file.Section(section), section)
	}
	build, err := buildinfo.ReadFile(path)
	require.NoError(t, err)
	settings := map[string]string{}
	for _, s := range build.Settings {
		settings[s.Key] = s.Value
	}
	require.Equal(t, "lambda.norpc", settings["-tags"])
	require.NotContains(t, settings, "vcs.revision")
}

// requirePackage asks for what Lambda unpacks: the executable, which may be
// executed, and nothing else.
func requirePackage(t *testing.T, path, executable string) {
	t.Helper()
	archive, err := zip.OpenReader(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, archive.Close()) })
	require.Len(t, archive.File, 1)
	require.Equal(t, "bootstrap", archive.File[0].Name)
	require.Equal(t, fs.FileMode(0o755), archive.File[0].Mode())
	entry, err := archive.File[0].Open()
	require.NoError(t, err)
	hash, want := sha256.New(), sha256.New()
	_, err = io.Copy(hash, entry)
	require.NoError(t, err)
	file, err := os.Open(executable)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, file.Close()) })
	_, err = io.Copy(want, file)
	require.NoError(t, err)
	require.Equal(t, want.Sum(nil), hash.Sum(nil))
}
