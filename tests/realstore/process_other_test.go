//go:build !linux

package realstore_test

import "syscall"

// processAttributes returns the defaults.
func processAttributes() *syscall.SysProcAttr { return nil }
