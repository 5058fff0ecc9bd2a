//go:build unix

package loopback

import (
	"io/fs"
	"os"
	"syscall"
)

// isOwn tells whether a file is this user's.
func isOwn(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
