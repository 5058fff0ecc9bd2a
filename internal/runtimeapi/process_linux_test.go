package runtimeapi_test

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

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

// What a function has started ends with it, and not later than the run.
func TestSandboxesEndWithTheirChildren(t *testing.T) {
	t.Parallel()
	t.Run("at the time limit", func(t *testing.T) {
		t.Parallel()
		g := newGate(t)
		f := start(t, "hangs with child", limit(time.Second))
		_, err := f.Invoke(t.Context(), []byte(g.event))
		requireFunctionError(t, err, "Sandbox.Timedout", requestID+" Error: Task timed out after 1.00 seconds")
		require.Equal(t, <-g.arrived, <-g.left)
	})
	t.Run("when the function is killed", func(t *testing.T) {
		t.Parallel()
		g := newGate(t)
		f := start(t, "hangs with child")
		results := invokeInBackground(t.Context(), f, g.event)
		child := <-g.arrived
		require.NoError(t, syscall.Kill(parentOf(t, child), syscall.SIGKILL))
		require.Equal(t, child, <-g.left)
		requireFunctionError(t, (<-results).err, "Runtime.ExitError", requestID+" Error: Runtime exited with error: signal: killed")
	})
	t.Run("when the run ends", func(t *testing.T) {
		t.Parallel()
		g := newGate(t)
		f := start(t, "starts a child")
		_, err := f.Invoke(t.Context(), []byte(g.event))
		require.NoError(t, err)
		child := <-g.arrived
		require.NoError(t, f.Close())
		require.Equal(t, child, <-g.left)
	})
}

// parentOf is the process that started another.
func parentOf(t *testing.T, pid int) int {
	t.Helper()
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	require.NoError(t, err)
	_, fields, _ := strings.Cut(string(stat), ") ")
	parent, err := strconv.Atoi(strings.Fields(fields)[1])
	require.NoError(t, err)
	return parent
}
