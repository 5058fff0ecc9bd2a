package kit

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/jobpoller/jobpoller/internal/terminal"
)

// interruptible is the standard input until the command is interrupted: whoever
// writes to it may never end.
type interruptible struct {
	ctx context.Context //nolint:containedctx // of the command, which reads it
	in  io.Reader
}

// Read implements io.Reader.
func (r *interruptible) Read(p []byte) (int, error) {
	type chunk struct {
		n   int
		err error
	}
	read, buffer := make(chan chunk, 1), make([]byte, len(p))
	go func() { // ends with the process if nothing comes
		n, err := r.in.Read(buffer)
		read <- chunk{n, err}
	}()
	select {
	case <-r.ctx.Done():
		return 0, r.ctx.Err()
	case c := <-read:
		return copy(p, buffer[:c.n]), c.err
	}
}

// IsTerminal tells whether somebody types the input.
func (r *interruptible) IsTerminal() bool { return terminal.IsTerminal(r.in) }

// EndingSignals are those that end the program.
func EndingSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}
