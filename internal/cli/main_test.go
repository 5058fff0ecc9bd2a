package cli

import (
	"testing"

	"github.com/jobpoller/jobpoller/internal/cli/clitest"
)

// runCommand runs a command line, and returns the exit code.
var runCommand = clitest.NewRunner(newRootCommand)

func TestMain(m *testing.M) {
	clitest.RunTests(m, map[string]func(){"stranger": stranger}, newRootCommand)
}

// The command as people and scripts use it.
func TestScripts(t *testing.T) {
	t.Parallel()
	clitest.RunScripts(t, "../../tests/scripts")
}
