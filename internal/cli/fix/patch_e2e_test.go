//go:build e2e

package fix

import (
	"testing"

	"github.com/jobpoller/jobpoller/internal/cli/clitest"
)

// What fix prints is a patch for git apply and patch -p1.
func TestE2EPatchScripts(t *testing.T) {
	t.Parallel()
	clitest.RunScripts(t, "../../../tests/scripts/fixpatch")
}
