//go:build e2e

package tests_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// binaries is the folder of what tests build together. TestMain removes it.
var binaries string

func TestMain(m *testing.M) {
	var err error
	if binaries, err = os.MkdirTemp("", "jobpoller"); err != nil {
		panic(err)
	}
	code := m.Run()
	if err := os.RemoveAll(binaries); err != nil {
		panic(err)
	}
	os.Exit(code)
}

var buildCommand = sync.OnceValues(func() (string, error) {
	file := filepath.Join(binaries, "jobpoller")
	out, err := exec.CommandContext(context.Background(), "go", "build", "-o", file, "../cmd/jobpoller").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return file, nil
})

// commandFile is the file of jobpoller, which is built once for all tests.
func commandFile(t *testing.T) string {
	t.Helper()
	file, err := buildCommand()
	require.NoError(t, err)
	return file
}
