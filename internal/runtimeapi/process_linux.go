package runtimeapi

import (
	"errors"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// processAttributes makes the child die with this process, even if this
// process is killed, and keeps the terminal's interrupt from it: the owner of
// the function decides when a sandbox ends.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// awaitEnd waits for the end of a process and does not reap it, so that its number
// remains that of its group.
func awaitEnd(cmd *exec.Cmd) {
	for errors.Is(unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil), unix.EINTR) {
		continue // a signal came first
	}
}
