//go:build !unix

package runtimeapi

import (
	"os/exec"
	"syscall"
)

// processAttributes returns the defaults. A child that outlives this process
// ends when it next calls the Runtime API, which is gone.
func processAttributes() *syscall.SysProcAttr { return nil }

// awaitEnd waits for the end of a process.
func awaitEnd(cmd *exec.Cmd) { _ = cmd.Wait() }

// killGroup kills a process. Those that it has started live on.
func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
