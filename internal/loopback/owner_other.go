//go:build !unix

package loopback

import "io/fs"

// isOwn trusts the folder of the user's own, whose list of access says who may use it.
func isOwn(fs.FileInfo) bool { return true }
