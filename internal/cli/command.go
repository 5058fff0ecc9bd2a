// Package cli is the command jobpoller: a file for each of its subcommands.
package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Main runs the command line of the process, and ends the process with its exit
// code.
func Main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	os.Exit(execute(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
