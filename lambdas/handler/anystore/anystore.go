// Package anystore lets the environment of a Lambda function choose the store of
// its start records. It is a package of its own so that a function with S3 alone
// does not link a DynamoDB client.
package anystore

import (
	"errors"
	"fmt"

	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/dynamostore/direct"
)

// Open keeps the start records in the DynamoDB table handler.EnvTable if that is set,
// else in the bucket handler.EnvBucket. It is a handler.StoreMaker.
func Open(e jobs.Environment) (startrecord.Store, error) {
	table := e.Getenv(handler.EnvTable)
	switch {
	case table == "" && e.Bucket == "":
		_, err := handler.S3Options(e)
		return nil, errors.Join(fmt.Errorf("environment variable %s or %s is required, but neither is set", handler.EnvBucket, handler.EnvTable), err)
	case table == "":
		return handler.S3Store(e)
	}
	store, err := direct.New(e.AWS, table, e.Prefix)
	if err != nil {
		return nil, fmt.Errorf("environment variables %s and %s: %w", handler.EnvTable, handler.EnvPrefix, err)
	}
	return store, nil
}
