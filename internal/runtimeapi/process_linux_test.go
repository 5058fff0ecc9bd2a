package runtimeapi_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSandboxesDieWithTheirParent(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	binary, err := os.Executable()
	require.NoError(t, err)
	parent := exec.CommandContext(t.Context(), binary)
	parent.Env = []string{roleVariable + "=invokes call", "RUNTIMEAPI_TEST_EVENT=" + g.event}
	require.NoError(t, parent.Start())
	pid := <-g.arrived
	require.NotEqual(t, parent.Process.Pid, pid)
	require.NoError(t, parent.Process.Kill())
	require.Equal(t, pid, <-g.left)
	require.Error(t, parent.Wait())
}
