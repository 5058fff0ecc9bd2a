//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

// Package filelock keeps two processes from writing one file.
package filelock

import (
	"errors"
	"os"
	"syscall"
)

// Take locks an open file, unless another process or another opening of it has the lock. The
// system ends the lock when the file is closed, or with the process.
func Take(file *os.File) (taken bool, err error) {
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
