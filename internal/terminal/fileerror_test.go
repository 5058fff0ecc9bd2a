package terminal_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/terminal"
)

// What the operating system says is told in words for people, wherever it stands in an error.
func TestErrorTextOfFiles(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	open := func(name string) error {
		_, err := os.Open(filepath.Join(folder, name))
		return err
	}
	require.NoError(t, os.WriteFile(filepath.Join(folder, "file"), nil, 0o600))
	_, isFolder := os.ReadFile(folder)
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"file":            {open("x.json"), "there is no file DIR/x.json"},
		"name with lines": {open("x\nSUCCEEDED"), `there is no file DIR/x\nSUCCEEDED`},
		"folder":          {open("no/x.json"), "there is no folder DIR/no"},
		"is a folder":     {isFolder, "DIR is a folder, expected a file"},
		"below a file":    {open("file/x"), "a part of DIR/file/x is a file, expected a folder"},
		"wrapped":         {fmt.Errorf("--input: %w", open("x")), "--input: there is no file DIR/x"},
		"several":         {errors.Join(open("x"), open("y")), "there is no file DIR/x\nthere is no file DIR/y"},
		"no permission": {
			&fs.PathError{Op: "open", Path: "x", Err: syscall.EACCES},
			"you may not use x: its permissions do not allow it",
		},
		"full disk": {&fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, "the disk has no space left for x"},
		"link":      {&os.LinkError{Op: "rename", Old: "a", New: "b", Err: syscall.EROFS}, "b is on a disk that can only be read"},
		"other":     {&fs.PathError{Op: "read", Path: "x", Err: syscall.EIO}, "x: input/output error"},
	} {
		require.EqualValues(t, strings.ReplaceAll(c.want, "DIR", folder), terminal.ErrorText(c.err), name)
	}
}
