package runtimeapi

import "syscall"

// processAttributes makes the child die with this process, even if this
// process is killed, and keeps the terminal's interrupt from it: the owner of
// the function decides when a sandbox ends.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
