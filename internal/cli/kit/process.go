package kit

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// RunProcess runs the command line of the process, and ends the process with its exit
// code.
func RunProcess(root *cobra.Command) {
	EndProcess(func(ctx context.Context) int { return Execute(ctx, root, os.Args[1:], os.Stdout, os.Stderr) })
}

// EndProcess ends the process with the exit code of what it runs, whose context ends with
// the first signal.
func EndProcess(run func(ctx context.Context) int) {
	collectRarely()
	ctx, stop := signal.NotifyContext(context.Background(), EndingSignals()...)
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	os.Exit(run(ctx))
}

// collectRarely lets the heap grow to five times what is live before it is
// collected: the command ends soon, and little of its memory lives. GOGC has the
// last word.
func collectRarely() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}
