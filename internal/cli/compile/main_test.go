package compile

import (
	"testing"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/cli/clitest"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
)

func newRoot() *cobra.Command { return kit.NewRoot(New()) }

// runCommand runs a command line, and returns the exit code.
var runCommand = clitest.NewRunner(newRoot)

func TestMain(m *testing.M) { clitest.RunTests(m, nil, newRoot) }

// The command as people and scripts use it.
func TestScripts(t *testing.T) {
	t.Parallel()
	clitest.RunScripts(t, "../../../tests/scripts/compile")
}
