//go:build unix && !linux

package runtimeapi

import (
	"os/exec"
	"syscall"
)

// processAttributes keeps the terminal's interrupt from the child: the owner
// of the function decides when a sandbox ends. A child that outlives this
// process ends when it next calls the Runtime API, which is gone.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// awaitEnd waits for the end of a process.
func awaitEnd(cmd *exec.Cmd) { _ = cmd.Wait() }
