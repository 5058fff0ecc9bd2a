//go:build unix

// Package hardlink tells of files that have several names.
package hardlink

import (
	"io/fs"
	"syscall"
)

// Has tells whether a file has another name, by a hard link; false where the system does not say.
func Has(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Nlink > 1
}
