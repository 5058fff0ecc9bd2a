package deploy_test

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// python is the interpreter, 3.11 or later.
func python() string { return cmp.Or(os.Getenv("PYTHON"), "python3") }

var installing sync.Mutex

// pip returns a folder with the packages that a file names with their hashes:
// installed ("install", "--target") or as they come ("download", "--dest"). It is
// made once for each version of the file and of Python, and user.
func pip(t *testing.T, requirements, command, into string) string {
	t.Helper()
	installing.Lock()
	defer installing.Unlock()
	text, err := os.ReadFile(requirements)
	require.NoError(t, err)
	tag, err := exec.CommandContext(t.Context(), python(), "-c", "import sys, sysconfig; print(sys.implementation.cache_tag, sysconfig.get_platform())").Output()
	require.NoError(t, err, "install Python 3.11 or later")
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	root := filepath.Join(cache, "jobpoller")
	sum := sha256.Sum256(append(text, tag...))
	folder := filepath.Join(root, fmt.Sprintf("%s-%x", strings.TrimSuffix(requirements, ".txt"), sum[:8]))
	if _, err := os.Stat(folder); err == nil {
		return folder
	}
	require.NoError(t, os.MkdirAll(root, 0o750))
	fresh, err := os.MkdirTemp(root, "installing-") //nolint:usetesting // it is renamed, so it must be beside the folder
	require.NoError(t, err)
	defer os.RemoveAll(fresh) // what stays of an installation that failed does no harm
	arguments := []string{"-m", "pip", command, "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:", "--require-hashes", "--requirement", requirements, into, fresh}
	if command == "install" {
		arguments = append(arguments, "--no-compile")
	}
	install := exec.CommandContext(t.Context(), python(), arguments...)
	install.Env = append(os.Environ(), "PIP_ROOT_USER_ACTION=ignore")
	out, err := install.CombinedOutput()
	require.NoError(t, err, "%s", out)
	if err := os.Rename(fresh, folder); err != nil {
		require.DirExists(t, folder, "neither this process nor another has made it: %v", err)
	}
	return folder
}
