// Package maven installs archives of Java for tests. It needs Maven and, the first time,
// a Maven repository.
package maven

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Install returns a folder with the archives that a project needs. Maven copies them once
// for each version of the project and user; of processes that do it at the same time, one
// leaves its folder. Sums has a line for each archive: its SHA-256, two blanks, its name.
func Install(ctx context.Context, name string, project []byte, sums string) (folder string, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	root := filepath.Join(cache, "jobpoller")
	version := sha256.Sum256(append(project, sums...))
	folder = filepath.Join(root, name+"-"+hex.EncodeToString(version[:8]))
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
	file, archives := filepath.Join(fresh, "pom.xml"), filepath.Join(fresh, "archives")
	if err := os.WriteFile(file, project, 0o600); err != nil {
		return "", err
	}
	arguments := []string{"--quiet", "--batch-mode", "--file", file, "dependency:copy-dependencies", "-DoutputDirectory=" + archives}
	command := exec.CommandContext(ctx, "mvn", arguments...) //nolint:gosec // a project of a test
	switch text, err := command.CombinedOutput(); {
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("%w: install Java 17 and Maven", err)
	case err != nil:
		return "", fmt.Errorf("mvn: %w\n%s", err, text)
	}
	if err := check(archives, sums); err != nil {
		return "", err
	}
	if err := os.Rename(archives, folder); err != nil {
		if _, another := os.Stat(folder); another != nil {
			return "", err
		}
	}
	return folder, nil
}

// check compares the archives with their sums.
func check(folder, sums string) error {
	want := map[string]string{}
	for line := range strings.Lines(sums) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		want[name] = sum
	}
	archives, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, archive := range archives {
		text, err := os.ReadFile(filepath.Join(folder, archive.Name())) //nolint:gosec // what Maven has copied
		if err != nil {
			return err
		}
		if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != want[archive.Name()] {
			return fmt.Errorf("%s is not the file that the sums name", archive.Name())
		}
		delete(want, archive.Name())
	}
	if len(want) > 0 {
		return fmt.Errorf("mvn: %d archives of the sums were not copied", len(want))
	}
	return nil
}
