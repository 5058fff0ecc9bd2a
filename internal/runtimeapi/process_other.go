//go:build !unix

package runtimeapi

import "syscall"

// processAttributes returns the defaults. A child that outlives this process
// ends when it next calls the Runtime API, which is gone.
func processAttributes() *syscall.SysProcAttr { return nil }
