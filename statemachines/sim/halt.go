package sim

import (
	"context"
	"errors"
)

// Halt lets all executions stand still, for ever, and cancels their handlers. They can
// be read; what else is asked of the World fails with the error. A World whose journal
// fails halts itself.
func (w *World) Halt(err error) { w.cancel(err) }

// Done returns a channel that is closed when the World is halted or closed.
func (w *World) Done() <-chan struct{} { return w.ctx.Done() }

// Err is why the World is halted, or ErrWorldClosed; nil while executions go on.
func (w *World) Err() error { return context.Cause(w.ctx) }

// failure is why the World was halted, unless it was closed. What was done then may not
// have been kept.
func (w *World) failure() error {
	if w == nil || errors.Is(w.Err(), ErrWorldClosed) {
		return nil
	}
	return w.Err()
}
