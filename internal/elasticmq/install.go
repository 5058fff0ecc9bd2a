package elasticmq

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

var (
	//go:embed pom.xml
	project []byte
	//go:embed sha256sums.txt
	sums string
)

// install returns a folder with the server's archives. Maven copies them once for each
// version of the project and user; of processes that do it at the same time, one leaves
// its folder.
func install(ctx context.Context) (folder string, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	root := filepath.Join(cache, "jobpoller")
	version := sha256.Sum256(append(project, sums...))
	folder = filepath.Join(root, "elasticmq-"+hex.EncodeToString(version[:8]))
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
	maven := exec.CommandContext(ctx, "mvn", arguments...) //nolint:gosec // our own project
	switch text, err := maven.CombinedOutput(); {
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("%w: install Java 17 and Maven", err)
	case err != nil:
		return "", fmt.Errorf("mvn: %w\n%s", err, text)
	}
	if err := check(archives); err != nil {
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
func check(folder string) error {
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
			return fmt.Errorf("%s is not the file that sha256sums.txt has", archive.Name())
		}
		delete(want, archive.Name())
	}
	if len(want) > 0 {
		return fmt.Errorf("mvn: %d archives of sha256sums.txt were not copied", len(want))
	}
	return nil
}
