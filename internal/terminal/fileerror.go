package terminal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// fileProblem says in words for people why a file cannot be used; false for errors that
// are of no file.
func fileProblem(err error) (said string, ok bool) {
	var name string
	var reason error
	switch err := err.(type) { //nolint:errorlint // it is asked for each error of a tree
	case *fs.PathError:
		name, reason = err.Path, err.Err
	case *os.LinkError:
		name, reason = err.New, err.Err
	default:
		return "", false
	}
	shown := Quote(name)
	switch {
	case errors.Is(reason, fs.ErrNotExist):
		return missing(name), true
	case errors.Is(reason, fs.ErrExist):
		return shown + " exists already", true
	case errors.Is(reason, fs.ErrPermission):
		return "you may not use " + shown + ": its permissions do not allow it", true
	case errors.Is(reason, syscall.EISDIR):
		return shown + " is a folder, expected a file", true
	case errors.Is(reason, syscall.ENOTDIR):
		return "a part of " + shown + " is a file, expected a folder", true
	case errors.Is(reason, syscall.ENOSPC):
		return "the disk has no space left for " + shown, true
	case errors.Is(reason, syscall.EROFS):
		return shown + " is on a disk that can only be read", true
	case errors.Is(reason, syscall.ENAMETOOLONG):
		return "the name is too long: " + shown, true
	default:
		return shown + ": " + Quote(reason.Error()), true
	}
}

// missing names the file that is not there, or the folder that lacks above it.
func missing(name string) string {
	folder := filepath.Dir(name)
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		return "there is no folder " + Quote(folder)
	}
	return "there is no file " + Quote(name)
}
