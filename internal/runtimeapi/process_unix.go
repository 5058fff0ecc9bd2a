//go:build unix

package runtimeapi

import (
	"os/exec"
	"syscall"
)

// killGroup kills a process that leads a group, and what it has started in it.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
