package clitest

import (
	"bytes"
	"context"
	"strings"
	"syscall"
)

// FullDisk is an output that takes nothing.
type FullDisk struct{}

// Write implements io.Writer.
func (FullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// CancelOn ends a context when a text is written.
type CancelOn struct {
	bytes.Buffer
	Text   string
	Cancel context.CancelFunc
}

// Write implements io.Writer.
func (c *CancelOn) Write(p []byte) (int, error) {
	if strings.Contains(string(p), c.Text) {
		c.Cancel()
	}
	return c.Buffer.Write(p)
}
