// Package retry runs a block of code until a policy is content with its result
// or gives up. It follows the smithy-kotlin retry design: a [Strategy] runs
// the loop, a [Policy] judges each result with a [Directive], a [TokenBucket]
// limits how much a whole process retries, and a [BackoffDelayer] spreads the
// retries over time.
//
// [Do] is the front for typed code. [StandardStrategy] is the strategy for
// calls that fail now and then; package awsretry has the policy for calls of
// AWS services. [Polling] lets a loop with a schedule of its own, such as a
// waiter, run on any strategy.
package retry

import "context"

// Strategy runs a block of code at least once, and again for as long as its
// directives ask and its limits allow.
//
// Retry calls try, one call at a time, and returns nil once a try's directive
// is [TerminateAndSucceed]. Else it returns an error that carries the last
// result and the last error; those of [StandardStrategy] are an *[Error]. How
// many tries are made, and how they are spaced, is the strategy's affair, but
// for a directive that names its own delay. The context that try receives ends
// with ctx and with the strategy's time limit. No try is made in a ctx that
// has ended before the first one.
type Strategy interface {
	Retry(ctx context.Context, try func(context.Context) Attempt) error
}

// Attempt is what one try gave, and what its policy makes of it.
type Attempt struct {
	Directive Directive
	Result    any
	Err       error
}

// Policy judges the result of one try: a value or an error, either of which
// may be a success. It is a pure function of its arguments; what it needs of
// the call's input it closes over. A policy may be asked about a try that was
// cut short by the end of the context; its directive is not followed then.
type Policy[T any] func(result T, err error) Directive

// Do runs f on the strategy until the policy ends it. It returns the result of
// the last try, and an error unless the policy's last directive was
// [TerminateAndSucceed].
func Do[T any](ctx context.Context, s Strategy, p Policy[T], f func(context.Context) (T, error)) (T, error) {
	var last T
	err := s.Retry(ctx, func(ctx context.Context) Attempt {
		result, err := f(ctx)
		last = result
		return Attempt{Directive: p(result, err), Result: result, Err: err}
	})
	return last, err
}
