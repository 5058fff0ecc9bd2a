package fix

import (
	"bytes"

	"github.com/rogpeppe/go-internal/diff"
)

// Diff writes what differs between two texts as a unified diff, with three lines
// around each difference; empty if nothing does. The names stand in its head.
func Diff(oldName, newName string, before, after []byte) string {
	_, text, _ := bytes.Cut(diff.Diff(oldName, before, newName, after), []byte("\n")) // the command's own line
	return string(text)
}
