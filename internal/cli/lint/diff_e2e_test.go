//go:build e2e

package lint

import (
	"testing"

	"github.com/jobpoller/jobpoller/internal/cli/clitest"
)

// lint --diff in repositories of git.
func TestE2EDiffScripts(t *testing.T) {
	t.Parallel()
	clitest.RunScripts(t, "../../../tests/scripts/lintdiff")
}
