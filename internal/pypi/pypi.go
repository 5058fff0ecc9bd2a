// Package pypi gets Python packages for tests, from a file of requirements with hashes.
package pypi

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Python is the interpreter, 3.11 or later: the one that the environment names in
// PYTHON, or python3.
func Python() string { return cmp.Or(os.Getenv("PYTHON"), "python3") }

// Install returns a folder with the packages that a file names. PYTHONPATH leads to
// it.
func Install(ctx context.Context, requirements string) (folder string, err error) {
	return get(ctx, requirements, "install", "--no-compile", "--target")
}

// Download returns a folder with the packages that a file names, as they come.
func Download(ctx context.Context, requirements string) (folder string, err error) {
	return get(ctx, requirements, "download", "--dest")
}

// get makes a folder once for each version of the file and of Python, and user:
// processes that do it at the same time each make a folder, and one of them stays.
func get(ctx context.Context, requirements string, command ...string) (folder string, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s %s: %w", command[0], requirements, err)
		}
	}()
	text, err := os.ReadFile(requirements) //nolint:gosec // the test's own file
	if err != nil {
		return "", err
	}
	const which = "import sys, sysconfig; print(sys.implementation.cache_tag, sysconfig.get_platform())"
	tag, err := exec.CommandContext(ctx, Python(), "-c", which).Output() //nolint:gosec // the user's interpreter
	if err != nil {
		return "", fmt.Errorf("%w: install Python 3.11 or later", err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	root := filepath.Join(cache, "jobpoller")
	sum := sha256.Sum256(append(text, tag...))
	folder = filepath.Join(root, fmt.Sprintf("%s-%x", strings.TrimSuffix(filepath.Base(requirements), ".txt"), sum[:8]))
	if _, err := os.Stat(folder); err == nil { //nolint:gosec // the test names the file
		return folder, nil
	}
	if err := os.MkdirAll(root, 0o750); err != nil {
		return "", err
	}
	fresh, err := os.MkdirTemp(root, "installing-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(fresh) //nolint:errcheck // what stays of an installation that failed does no harm
	arguments := []string{
		"-m", "pip", command[0], "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:",
		"--require-hashes", "--requirement", requirements,
	}
	pip := exec.CommandContext(ctx, Python(), append(append(arguments, command[1:]...), fresh)...) //nolint:gosec // as above
	pip.Env = append(os.Environ(), "PIP_ROOT_USER_ACTION=ignore")
	if text, err := pip.CombinedOutput(); err != nil {
		return "", fmt.Errorf("pip: %w\n%s", err, text)
	}
	if err := os.Rename(fresh, folder); err != nil { //nolint:gosec // as above
		if _, another := os.Stat(folder); another == nil { //nolint:gosec // as above
			return folder, nil
		}
		return "", err
	}
	return folder, nil
}
