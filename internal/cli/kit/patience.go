package kit

import (
	"context"
	"errors"
	"time"
)

// noAnswerError is the error of a call that took too long.
type noAnswerError struct{ patience time.Duration }

func (e *noAnswerError) Error() string {
	return "no answer within " + ShortDuration(e.patience.Round(time.Second))
}

// Unwrap lets the error count for one that passes.
func (e *noAnswerError) Unwrap() error { return context.DeadlineExceeded }

// AnswerWithin makes a call that may take so long. If it takes longer, the error is a
// *noAnswerError.
func AnswerWithin[T any](ctx context.Context, patience time.Duration, call func(context.Context) (T, error)) (T, error) {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	answer, err := call(limited)
	if ctx.Err() == nil && limited.Err() != nil && errors.Is(err, context.DeadlineExceeded) {
		err = &noAnswerError{patience}
	}
	return answer, err
}
