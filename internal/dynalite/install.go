package dynalite

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// What npm installs, and what node runs.
var (
	//go:embed package.json
	manifest []byte
	//go:embed package-lock.json
	lock []byte
	//go:embed server.js
	program []byte
)

// install returns the folder with the program and its packages. They are
// installed once for each version of these files and user: processes that do
// it at the same time each make a folder, of which one stays.
func install(ctx context.Context) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	sum := sha256.Sum256(slices.Concat(manifest, lock, program))
	root := filepath.Join(cache, "jobpoller")
	folder := filepath.Join(root, fmt.Sprintf("dynalite-%x", sum[:8]))
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
	for name, content := range map[string][]byte{"package.json": manifest, "package-lock.json": lock, "server.js": program} {
		if err := os.WriteFile(filepath.Join(fresh, name), content, 0o600); err != nil {
			return "", err
		}
	}
	npm := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
	npm.Dir = fresh
	switch text, err := npm.CombinedOutput(); {
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("install dynalite: %w: install Node.js 20 or later, which brings npm", err)
	case err != nil:
		return "", fmt.Errorf("install dynalite: npm ci: %w\n%s", err, text)
	}
	if err := os.Rename(fresh, folder); err != nil {
		if _, another := os.Stat(folder); another == nil {
			return folder, nil
		}
		return "", err
	}
	return folder, nil
}
