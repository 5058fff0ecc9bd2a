package cli

import (
	"bytes"
	"context"
	"strings"
	"syscall"
)

// fullDisk is an output that takes nothing.
type fullDisk struct{}

// Write implements io.Writer.
func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// cancelOn ends a context when a text is written.
type cancelOn struct {
	bytes.Buffer
	text   string
	cancel context.CancelFunc
}

// Write implements io.Writer.
func (c *cancelOn) Write(p []byte) (int, error) {
	if strings.Contains(string(p), c.text) {
		c.cancel()
	}
	return c.Buffer.Write(p)
}
