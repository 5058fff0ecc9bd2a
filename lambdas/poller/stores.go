package poller

import (
	"fmt"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/s3store"
)

// StoreMaker opens the store of a Lambda function's start records.
type StoreMaker func(jobs.Environment) (startrecord.Store, error)

// S3Store keeps the start records in the bucket EnvBucket.
func S3Store(e jobs.Environment) (startrecord.Store, error) {
	if e.Bucket == "" {
		return nil, fmt.Errorf("environment variable %s is required, but not set", EnvBucket)
	}
	store, err := s3store.New(e.S3, e.Bucket, e.Prefix)
	if err != nil {
		return nil, fmt.Errorf("environment variables %s and %s: %w", EnvBucket, EnvPrefix, err)
	}
	return store, nil
}
