// Package anystore lets the environment of a Lambda function choose the store of
// its start records. It is a package of its own so that a function with S3 alone
// does not link a DynamoDB client.
package anystore

import (
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/poller"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/dynamostore"
)

// Open keeps the start records in the DynamoDB table poller.EnvTable if that is set,
// else in the bucket poller.EnvBucket. It is a poller.StoreMaker.
func Open(e jobs.Environment) (startrecord.Store, error) {
	table := e.Getenv(poller.EnvTable)
	switch {
	case table == "" && e.Bucket == "":
		_, err := poller.S3Options(e)
		return nil, errors.Join(fmt.Errorf("environment variable %s or %s is required, but neither is set", poller.EnvBucket, poller.EnvTable), err)
	case table == "":
		return poller.S3Store(e)
	}
	store, err := dynamostore.New(dynamodb.NewFromConfig(e.AWS), table, e.Prefix)
	if err != nil {
		return nil, fmt.Errorf("environment variables %s and %s: %w", poller.EnvTable, poller.EnvPrefix, err)
	}
	return store, nil
}
