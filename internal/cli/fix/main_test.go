package fix

import (
	"testing"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/cli/clitest"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
)

func newRoot() *cobra.Command { return kit.NewRoot(New()) }

func TestMain(m *testing.M) { clitest.RunTests(m, nil, newRoot) }

// The command as people and scripts use it.
func TestScripts(t *testing.T) {
	t.Parallel()
	clitest.RunScripts(t, "../../../tests/scripts/fix")
}
