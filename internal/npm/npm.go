// Package npm installs npm packages for tests, from a lock file.
package npm

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// Files are those of a folder, by name: package.json, package-lock.json, and the
// programs that node runs.
type Files map[string][]byte

// Install returns a folder with the files and the packages that they lock. They
// are installed once for each version of the files and user, without running
// scripts of theirs: processes that do it at the same time each make a folder,
// and one of them stays. The error is an [exec.ErrNotFound] if there is no npm.
func Install(ctx context.Context, name string, files Files) (folder string, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("install %s: %w", name, err)
		}
	}()
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	sum := sha256.New()
	for _, file := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(sum, "%s %d\n%s", file, len(files[file]), files[file])
	}
	root := filepath.Join(cache, "jobpoller")
	folder = filepath.Join(root, fmt.Sprintf("%s-%x", name, sum.Sum(nil)[:8]))
	if _, err := os.Stat(folder); err == nil {
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
	for file, content := range files {
		if err := os.WriteFile(filepath.Join(fresh, file), content, 0o600); err != nil {
			return "", err
		}
	}
	npm := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
	npm.Dir = fresh
	switch text, err := npm.CombinedOutput(); {
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("%w: install Node.js 20 or later, which brings npm", err)
	case err != nil:
		return "", fmt.Errorf("npm ci: %w\n%s", err, text)
	}
	if err := os.Rename(fresh, folder); err != nil {
		if _, another := os.Stat(folder); another == nil {
			return folder, nil
		}
		return "", err
	}
	return folder, nil
}
