package cli

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// runProcess runs the command line of the process, and ends the process with its exit
// code.
func runProcess(root *cobra.Command) {
	collectRarely()
	ctx, stop := signal.NotifyContext(context.Background(), endingSignals()...)
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	os.Exit(execute(ctx, root, os.Args[1:], os.Stdout, os.Stderr))
}

// collectRarely lets the heap grow to five times what is live before it is
// collected: the command ends soon, and little of its memory lives. GOGC has the
// last word.
func collectRarely() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}
