//go:build e2e

package cli

import "testing"

// The scripts that build the functions.
func TestE2EScripts(t *testing.T) {
	t.Parallel()
	runScripts(t, "../../tests/scripts/e2e")
}

// A job behind HTTP on this machine, with the functions as processes.
func TestE2EHTTPJob(t *testing.T) { runHTTPJob(t, "--processes") } //nolint:paralleltest // it sets variables
