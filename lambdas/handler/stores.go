package handler

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/s3store"
)

// EnvTable is the environment variable of the DynamoDB table of the start records,
// for the store of package anystore.
const EnvTable = "JOBPOLLER_TABLE"

// The environment variables of the store that the functions had before, whose
// records they still read. Without a bucket and a table it is the store of today,
// with another prefix. Keep it until its records have expired (EnvRetentionDays).
const (
	EnvPreviousBucket = "JOBPOLLER_PREVIOUS_BUCKET"
	EnvPreviousTable  = "JOBPOLLER_PREVIOUS_TABLE"
	EnvPreviousPrefix = "JOBPOLLER_PREVIOUS_PREFIX" // default: that of today
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
// no other store links no client of another.
func S3Store(e jobs.Environment) (startrecord.Store, error) {
	options, err := S3Options(e)
	if e.Bucket == "" {
		return nil, errors.Join(fmt.Errorf("environment variable %s is required, but not set", EnvBucket), err)
	}
	if err := errors.Join(s3Problem(EnvBucket, e.Bucket, ""), err); err != nil {
		return nil, err
	}
	store, err := s3store.New(e.S3, e.Bucket, e.Prefix, options...)
	if err != nil {
		return nil, fmt.Errorf("environment variables %s and %s: %w", EnvBucket, EnvPrefix, err)
	}
	return store, nil
}

// S3Options returns what EnvEncryption, EnvKMSKey and EnvBucketKey say. Its
// error lists everything that is wrong with them and with the prefix.
func S3Options(e jobs.Environment) ([]s3store.Option, error) {
	algorithm, key, bucketKey := types.ServerSideEncryption(e.Getenv(EnvEncryption)), e.Getenv(EnvKMSKey), e.Getenv(EnvBucketKey)
	var options []s3store.Option
	problems := []error{s3Problem(EnvPrefix, anyBucket, e.Prefix)}
	if algorithm != "" {
		options = append(options, s3store.Encrypt(algorithm, ""))
		problems = append(problems, s3Problem(EnvEncryption, anyBucket, "", options...))
	}
	if key != "" {
		withKey := s3store.Encrypt(algorithm, key)
		if algorithm == "" {
			problems = append(problems, fmt.Errorf("environment variable %s needs %s to be aws:kms or aws:kms:dsse", EnvKMSKey, EnvEncryption))
		} else if errors.Join(problems...) == nil {
			problems = append(problems, s3Problem(EnvKMSKey, anyBucket, "", withKey))
		}
		options = []s3store.Option{withKey}
	}
	switch bucketKey {
	case "", "false":
	case "true":
		options = append(options, s3store.BucketKey())
		if errors.Join(problems...) == nil {
			problems = append(problems, s3Problem(EnvBucketKey, anyBucket, "", options...))
		}
	default:
		problems = append(problems, fmt.Errorf("environment variable %s must be true or false, is %q", EnvBucketKey, bucketKey))
	}
	return options, errors.Join(problems...)
}

// anyBucket is a good name, for a store in which something else is checked.
const anyBucket = "bucket"

// s3Problem blames the variable for what a store says of the names and options.
func s3Problem(variable, bucket, prefix string, options ...s3store.Option) error {
	if _, err := s3store.New(nil, bucket, prefix, options...); err != nil {
		return fmt.Errorf("environment variable %s: %w", variable, err)
	}
	return nil
}

// movingStore is the store of today, with the one of before if the environment names it.
func (e *environment) movingStore(today startrecord.Store, of jobs.Environment, open StoreMaker) startrecord.Store {
	bucket, table, prefix := e.get(EnvPreviousBucket), e.get(EnvPreviousTable), e.get(EnvPreviousPrefix)
	if bucket == "" && table == "" && prefix == "" {
		return today
	}
	of.Prefix = cmp.Or(prefix, of.Prefix)
	if bucket != "" || table != "" {
		of.Bucket = bucket
		of.Getenv = func(name string) string {
			if name == EnvTable {
				return table
			}
			return e.get(name)
		}
	}
	before, err := open(of)
	if err != nil {
		e.report("the previous store (%s, %s, %s): %w", EnvPreviousBucket, EnvPreviousTable, EnvPreviousPrefix, err)
		return today
	}
	if key := (startrecord.Key{ExecutionARN: "any", Poller: DefaultPoller}); before.Location(key) == today.Location(key) {
		e.report("the previous store (%s, %s, %s) is also the current store: remove these variables, or name the previous store",
			EnvPreviousBucket, EnvPreviousTable, EnvPreviousPrefix)
		return today
	}
	return startrecord.Migrate(today, before)
}
