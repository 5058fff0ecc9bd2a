package poller

import (
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/s3store"
)

// The environment variables of the store in S3.
const (
	EnvBucket     = "JOBPOLLER_BUCKET"     // bucket of the start records
	EnvEncryption = "JOBPOLLER_ENCRYPTION" // of the records in S3: AES256, aws:kms or aws:kms:dsse; default the bucket's
	EnvKMSKey     = "JOBPOLLER_KMS_KEY_ID" // the KMS key for it; default the account's own for S3
	EnvBucketKey  = "JOBPOLLER_BUCKET_KEY" // true: the bucket's key derives from the KMS key, which spares calls of KMS
)

// StoreMaker opens the store of a Lambda function's start records: S3Store, or
// that of the package anystore, or one of your own.
type StoreMaker func(jobs.Environment) (startrecord.Store, error)

// S3Store keeps the start records in the bucket EnvBucket. A function that has
// no other store links no client of another. Behind an endpoint of one's own
// (AWS_ENDPOINT_URL_S3) the store is probed before its first use.
func S3Store(e jobs.Environment) (startrecord.Store, error) {
	if e.Bucket == "" {
		return nil, fmt.Errorf("environment variable %s is required, but not set", EnvBucket)
	}
	var options []s3store.Option
	encryption, key, bucketKey := e.Getenv(EnvEncryption), e.Getenv(EnvKMSKey), e.Getenv(EnvBucketKey)
	if encryption != "" {
		options = append(options, s3store.Encrypt(types.ServerSideEncryption(encryption), key))
	}
	if bucketKey == "true" {
		options = append(options, s3store.BucketKey())
	}
	store, err := s3store.New(e.S3, e.Bucket, e.Prefix, options...)
	if err != nil {
		err = fmt.Errorf("environment variables %s, %s, %s and %s: %w", EnvBucket, EnvPrefix, EnvEncryption, EnvKMSKey, err)
	}
	if encryption == "" && key != "" {
		err = errors.Join(err, fmt.Errorf("environment variable %s needs %s to be aws:kms or aws:kms:dsse", EnvKMSKey, EnvEncryption))
	}
	if bucketKey != "" && bucketKey != "true" && bucketKey != "false" {
		err = errors.Join(err, fmt.Errorf("environment variable %s must be true or false, is %q", EnvBucketKey, bucketKey))
	}
	if err != nil {
		return nil, err
	}
	if e.S3.Options().BaseEndpoint != nil {
		return startrecord.Probed(store), nil
	}
	return store, nil
}
