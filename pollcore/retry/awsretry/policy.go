// Package awsretry judges the errors of AWS SDK calls for package retry.
//
//	out, err := retry.Do(ctx, strategy, awsretry.StandardPolicy, func(ctx context.Context) (*dynamodb.DescribeExportOutput, error) {
//		return client.DescribeExport(ctx, in)
//	})
//
// SDK clients retry by themselves; a policy around a call is for what they
// gave up on. A client whose retries would multiply these gets
// aws.NopRetryer.
package awsretry

import (
	"github.com/jobpoller/jobpoller/pollcore/retry"
)

// Classifier judges errors that [StandardPolicy] has no opinion on. It returns
// false for an error that it has no opinion on either.
type Classifier func(error) (d retry.Directive, ok bool)

// StandardPolicy succeeds with any response and judges errors as [Classify]
// does.
func StandardPolicy[T any](_ T, err error) retry.Directive { return evaluate(err, nil) }

// PolicyWith is [StandardPolicy] with classifiers of the caller's, which are
// asked in order about the errors that StandardPolicy has no opinion on; the
// first opinion counts. An error that nobody has an opinion on fails.
func PolicyWith[T any](classifiers ...Classifier) retry.Policy[T] {
	return func(_ T, err error) retry.Directive { return evaluate(err, classifiers) }
}

// Transient tells whether Classify would have the call tried again. It fits
// the Transient option of pollcore.Wait.
func Transient(err error) bool {
	d, _ := Classify(err)
	_, again := d.Reason()
	return again
}

func evaluate(err error, classifiers []Classifier) retry.Directive {
	if err == nil {
		return retry.TerminateAndSucceed
	}
	if d, ok := Classify(err); ok {
		return d
	}
	for _, classify := range classifiers {
		if d, ok := classify(err); ok {
			return d
		}
	}
	return retry.TerminateAndFail
}
