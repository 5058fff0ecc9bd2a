package kit

import (
	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/terminal"
)

// Moved is a command under its old name, which works for one more release: help does not
// list it, and it says what to use instead.
func Moved(c *cobra.Command, instead string) *cobra.Command {
	c.Hidden = true
	run := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		terminal.Fprintf(c.ErrOrStderr(), "warning: %s is removed in the next release. Use jobpoller %s\n", c.CommandPath(), instead)
		return run(c, args)
	}
	return c
}
