package dynamostore_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/dynamostore"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/dynamostore/direct"
)

// maker makes a store of a configuration.
type maker func(cfg aws.Config, table, prefix string) (startrecord.Store, error)

var makers = map[string]maker{
	"dynamostore": func(cfg aws.Config, table, prefix string) (startrecord.Store, error) {
		return dynamostore.New(dynamodb.NewFromConfig(cfg), table, prefix)
	},
	"direct": direct.New,
}

// forEachMaker runs a test with the store of a client of the SDK, and with that without.
func forEachMaker(t *testing.T, test func(t *testing.T, makes maker)) {
	t.Helper()
	for name, makes := range makers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, makes)
		})
	}
}
