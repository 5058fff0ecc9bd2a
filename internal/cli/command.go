// Package cli is the command jobpoller: a file for each of its subcommands.
package cli

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

// Main runs the command line of the process, and ends the process with its exit
// code.
func Main() {
	collectRarely()
	ctx, stop := signal.NotifyContext(context.Background(), endingSignals()...)
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	os.Exit(execute(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// endingSignals are those that end the program.
func endingSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// collectRarely lets the heap grow to five times what is live before it is
// collected: the command ends soon, and little of its memory lives. GOGC has the
// last word.
func collectRarely() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}
