package jobs

import (
	"context"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
)

// StopResult is what a Stop call comes to, for services that refuse to stop a
// job that has ended, each with an error of its own: nil if the call had none,
// or was refused and the driver's waiter says that the job has ended. Else it
// is the call's error. A driver that uses it needs the actions of Describe for
// [access.ForStop], too.
func StopResult(ctx context.Context, d Driver, ref Ref, stopErr error) error {
	if stopErr == nil || goerror.Classify(stopErr) != awserror.Refused {
		return stopErr
	}
	check, err := pollcore.Compile[Ref, any](d.Waiter())
	if err != nil {
		return stopErr
	}
	output, err := d.Describe(ctx, ref)
	if result := check.Check(ref, output, err); result.Acceptor == pollcore.NoAcceptor || result.Verdict == pollcore.Retry {
		return stopErr
	}
	return nil
}
