package cli

import (
	"context"
	"io"
	"testing"

	"github.com/jobpoller/jobpoller/internal/cli/clitest"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
)

// runCommand runs a command line, and returns the exit code.
func runCommand(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return kit.Execute(ctx, newRootCommand(), args, stdout, stderr) //nolint:contextcheck // a command carries its context
}

func TestMain(m *testing.M) {
	clitest.RunTests(m, map[string]func(){"stranger": stranger}, newRootCommand)
}

// The command as people and scripts use it.
func TestScripts(t *testing.T) {
	t.Parallel()
	clitest.RunScripts(t, "../../tests/scripts")
}
