// Package retry makes a call again until a policy accepts its result or gives up.
//
//	rows, err := retry.Do(ctx, retry.Strategy{MaxAttempts: 5}, retry.ByClass, load)
//
// A [Strategy] says how often and at what pace, a [Policy] judges each result by a
// [Directive], and a [Bucket] limits how much the callers of one service retry
// together. The design is that of smithy-kotlin. [ByClass] is the policy for calls
// of AWS services. SDK clients retry by themselves: this package is for what they
// do not try again, and for loops of a schedule of their own ([Strategy.Poll]).
package retry

import (
	"context"

	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
)

// Policy judges the result of one attempt: a value or an error; either
// may be a success. It is a pure function of its arguments. A policy may be asked
// about an attempt that was cut short by the end of the context; its directive is
// not followed then.
type Policy[T any] func(result T, err error) Directive

// ByClass is the policy for calls that may be made twice: without an error the
// call succeeded, and an error whose class passes is tried again. An error that
// means that the caller gave up is not.
func ByClass[T any](_ T, err error) Directive {
	class := goerror.Classify(err)
	switch {
	case err == nil:
		return Succeed()
	case class.Passes() && class != awserror.Ended:
		return Again(class)
	default:
		return Fail()
	}
}

// Do calls f until the policy ends it, as often as the strategy allows. It returns
// the result of the last attempt, and nil if the policy's last directive was
// [Succeed]. Else the error is an *[Error], or that of [Strategy.Validate].
//
// One attempt is made at a time. The context that f receives ends with ctx and with
// the strategy's MaxTime. No attempt is made in a ctx that has ended before.
func Do[T any](ctx context.Context, s Strategy, policy Policy[T], f func(context.Context) (T, error)) (T, error) {
	var last T
	err := s.run(ctx, func(ctx context.Context) attempt {
		result, err := f(ctx)
		last = result
		return attempt{directive: policy(result, err), result: result, err: err}
	})
	return last, err
}
