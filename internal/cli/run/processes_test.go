//go:build e2e

package run

import (
	"testing"

	"github.com/jobpoller/jobpoller/internal/cli/clitest"
)

// The scripts that build the functions.
func TestE2EScripts(t *testing.T) {
	t.Parallel()
	clitest.RunScripts(t, "../../../tests/scripts/run/e2e")
}

// A job behind HTTP on this machine, with the functions as processes.
func TestE2EHTTPJob(t *testing.T) { runHTTPJob(t, "--processes") } //nolint:paralleltest // it sets variables
