package awscall

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// timely tries a call again only if the context lasts until then. The error is else
// that of the last try: the SDK would wait for the end, and forget it.
type timely struct {
	aws.Retryer

	ctx context.Context //nolint:containedctx // of one call, which owns this value
}

// RetryDelay implements aws.Retryer.
func (t *timely) RetryDelay(attempt int, err error) (time.Duration, error) {
	delay, failed := t.Retryer.RetryDelay(attempt, err)
	if end, ok := t.ctx.Deadline(); ok && failed == nil && time.Until(end) <= delay {
		return 0, err
	}
	return delay, failed
}

// GetAttemptToken implements aws.RetryerV2, whether the retryer does so or not.
func (t *timely) GetAttemptToken(ctx context.Context) (func(error) error, error) {
	if v2, ok := t.Retryer.(aws.RetryerV2); ok {
		return v2.GetAttemptToken(ctx)
	}
	return t.GetInitialToken(), nil
}
