package poller

import (
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/dynamostore"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/s3store"
)

// The environment variables of the stores.
const (
	EnvBucket     = "JOBPOLLER_BUCKET"     // bucket of the start records
	EnvEncryption = "JOBPOLLER_ENCRYPTION" // of the records in S3: AES256, aws:kms or aws:kms:dsse; default the bucket's
	EnvKMSKey     = "JOBPOLLER_KMS_KEY_ID" // the KMS key for it; default the account's own for S3
	EnvTable      = "JOBPOLLER_TABLE"      // DynamoDB table of the start records, instead of the bucket
)

// StoreMaker opens the store of a Lambda function's start records.
type StoreMaker func(jobs.Environment) (startrecord.Store, error)

// S3Store keeps the start records in the bucket EnvBucket. A function that has
// no other store links no client of another. Behind an endpoint of one's own
// (AWS_ENDPOINT_URL_S3) the store is probed before its first use.
func S3Store(e jobs.Environment) (startrecord.Store, error) {
	if e.Bucket == "" {
		return nil, fmt.Errorf("environment variable %s is required, but not set", EnvBucket)
	}
	var options []s3store.Option
	encryption, key := e.Getenv(EnvEncryption), e.Getenv(EnvKMSKey)
	if encryption != "" {
		options = append(options, s3store.Encrypt(types.ServerSideEncryption(encryption), key))
	}
	store, err := s3store.New(e.S3, e.Bucket, e.Prefix, options...)
	if err != nil {
		err = fmt.Errorf("environment variables %s, %s, %s and %s: %w", EnvBucket, EnvPrefix, EnvEncryption, EnvKMSKey, err)
	}
	if encryption == "" && key != "" {
		err = errors.Join(err, fmt.Errorf("environment variable %s needs %s to be aws:kms or aws:kms:dsse", EnvKMSKey, EnvEncryption))
	}
	if err != nil {
		return nil, err
	}
	if e.S3.Options().BaseEndpoint != nil {
		return startrecord.Probed(store), nil
	}
	return store, nil
}

// AnyStore keeps the start records in the DynamoDB table EnvTable if that is
// set, else in the bucket EnvBucket.
func AnyStore(e jobs.Environment) (startrecord.Store, error) {
	table := e.Getenv(EnvTable)
	switch {
	case table == "" && e.Bucket == "":
		return nil, fmt.Errorf("environment variable %s or %s is required, but neither is set", EnvBucket, EnvTable)
	case table == "":
		return S3Store(e)
	}
	client := dynamodb.NewFromConfig(e.AWS)
	store, err := dynamostore.New(client, table, e.Prefix)
	if err != nil {
		return nil, fmt.Errorf("environment variables %s and %s: %w", EnvTable, EnvPrefix, err)
	}
	if client.Options().BaseEndpoint != nil {
		return startrecord.Probed(store), nil
	}
	return store, nil
}
