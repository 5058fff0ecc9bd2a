package serve

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/terminal"
)

// signalCode is what a shell adds to the number of the signal that ended a command.
const signalCode = 128

// runClient runs a command with an environment until it ends. It gets the signals that
// this process gets, and what it ends with is the error's exit code.
func runClient(arguments, env []string, in io.Reader, out, errs io.Writer) error {
	// It outlives the context of the signals: the command decides what they mean.
	c := exec.CommandContext(context.Background(), arguments[0], arguments[1:]...) //nolint:gosec // the user's own
	c.Env, c.Stdin, c.Stdout, c.Stderr = env, in, out, errs
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, kit.EndingSignals()...)
	defer signal.Stop(signals)
	if err := c.Start(); err != nil {
		return kit.Usage("cannot run the command: %w", err)
	}
	ended := make(chan struct{})
	passed := make(chan struct{})
	go func() {
		defer close(passed)
		for {
			select {
			case s := <-signals:
				// A terminal sends its interrupt to the command, too.
				if s != os.Interrupt || !terminal.IsTerminal(os.Stdin) {
					_ = c.Process.Signal(s) // it may just have ended
				}
			case <-ended:
				return
			}
		}
	}()
	err := c.Wait()
	close(ended)
	<-passed
	failure, failed := errors.AsType[*exec.ExitError](err)
	switch {
	case failed && failure.ExitCode() >= 0:
		return &kit.ExitError{Code: failure.ExitCode()}
	case failed:
		if status, ok := failure.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			return &kit.ExitError{Code: signalCode + int(status.Signal())}
		}
		return &kit.ExitError{Code: kit.ExitFailed}
	case err != nil:
		return kit.WithCode(kit.ExitFailed, err)
	}
	return nil
}
