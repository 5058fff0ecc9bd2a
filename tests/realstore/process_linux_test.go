package realstore_test

import "syscall"

// processAttributes makes the server die with the test, even if that is killed.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
