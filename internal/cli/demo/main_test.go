package demo

import (
	"context"
	"io"
	"testing"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/cli/clitest"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
)

func newRoot() *cobra.Command { return kit.NewRoot(New()) }

// runCommand runs a command line, and returns the exit code.
func runCommand(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return kit.Execute(ctx, newRoot(), args, stdout, stderr) //nolint:contextcheck // a command carries its context
}

func TestMain(m *testing.M) { clitest.RunTests(m, nil, newRoot) }

// The command as people and scripts use it.
func TestScripts(t *testing.T) {
	t.Parallel()
	clitest.RunScripts(t, "../../../tests/scripts/demo")
}
