// Command jobpoller runs job pollers on this machine.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	code := execute(ctx, os.Args[1:], os.Stdout, os.Stderr)
	os.Exit(code)
}
