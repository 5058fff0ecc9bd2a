//go:build e2e

package dynalite_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/dynalite"
)

func TestE2EServer(t *testing.T) {
	t.Parallel()
	s, err := dynalite.Start(t.Context())
	require.NoError(t, err)
	require.NoError(t, s.CreateTable(t.Context(), "records", "key"))

	now := time.Date(2026, 11, 20, 9, 30, 14, 0, time.UTC)
	client := s.Client(dynalite.ClientOptions{Now: func() time.Time { return now }})
	item := map[string]types.AttributeValue{"key": &types.AttributeValueMemberS{Value: "a"}}
	put := &dynamodb.PutItemInput{TableName: aws.String("records"), Item: item, ConditionExpression: aws.String("attribute_not_exists(#k)"), ExpressionAttributeNames: map[string]string{"#k": "key"}}
	out, err := client.PutItem(t.Context(), put)
	require.NoError(t, err)
	date, ok := middleware.GetServerTime(out.ResultMetadata)
	require.True(t, ok)
	require.Equal(t, now, date)
	_, err = client.PutItem(t.Context(), put)
	var failed *types.ConditionalCheckFailedException
	require.ErrorAs(t, err, &failed)

	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	_, err = client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("records"), Key: item}, func(o *dynamodb.Options) { o.RetryMaxAttempts = 1 })
	require.Error(t, err, "nothing is left of a closed server")
}

// Without Node.js tests fail, and say what they need.
func TestE2ENoNode(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	start := func() error {
		_, err := dynalite.Start(t.Context())
		return err
	}
	require.ErrorContains(t, start(), "install Node.js 20 or later", "if it was there once, to install the packages")
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "LocalAppData"} {
		t.Setenv(name, t.TempDir())
	}
	require.ErrorContains(t, start(), "install Node.js 20 or later, which brings npm")
}
