//go:build e2e

package demo

import (
	"testing"

	"github.com/jobpoller/jobpoller/internal/cli/clitest"
)

// The scripts that build the functions.
func TestE2EScripts(t *testing.T) {
	t.Parallel()
	clitest.RunScripts(t, "../../../tests/scripts/demo/e2e")
}
