package cli

import (
	"context"
	"io"
)

// runCommand runs a command line, and returns the exit code.
func runCommand(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return execute(ctx, newRootCommand(), args, stdout, stderr)
}
