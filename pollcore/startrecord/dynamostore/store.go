// Package dynamostore keeps start records as items of a DynamoDB table, with the
// conditional writes of PutItem.
//
// The table has the partition key "key", a string, and no sort key. Records are
// never deleted: let the table's time to live be the attribute "expiresAt". An
// item that has expired counts until DynamoDB deletes it. A role that uses the
// table needs dynamodb:GetItem and dynamodb:PutItem on it.
//
// The store is Indexed: a record and its job's item are written in one transaction,
// which needs no more permissions.
//
// A global table must be written in one Region alone, unless it has
// multi-Region strong consistency: else conditions hold in each Region by
// itself, and two functions could start one job.
//
// The store takes a client of the SDK. The package direct below has the same store
// without one, for programs whose start counts.
package dynamostore

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/dynamostore/internal/table"
)

// API is what the store needs of a DynamoDB client. *dynamodb.Client implements
// it.
type API interface {
	GetItem(ctx context.Context, in *dynamodb.GetItemInput, optFns ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	PutItem(ctx context.Context, in *dynamodb.PutItemInput, optFns ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, optFns ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
}

// New returns a store that keeps its records in the table, a name or an ARN,
// under keys that begin with the prefix, which may be empty and may end with a
// slash. Its error matches startrecord.ErrConfiguration and lists everything
// that is wrong with the two. Nothing is sent to DynamoDB yet.
//
// If the client has an endpoint of your own (BaseEndpoint, as
// AWS_ENDPOINT_URL_DYNAMODB sets it), the store is probed before its first write:
// see startrecord.ProbeFirst.
func New(client API, tableName, prefix string) (startrecord.Store, error) {
	c, ok := client.(interface{ Options() dynamodb.Options })
	return table.New(sdk{client}, tableName, prefix, ok && c.Options().BaseEndpoint != nil)
}

// sdk is a client of the SDK as the store wants it.
type sdk struct{ client API }

// GetItem implements table.Client.
func (s sdk) GetItem(ctx context.Context, in table.GetItem) (found table.Item, now time.Time, err error) {
	out, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &in.TableName, Key: toSDK(in.Key), ConsistentRead: optional(in.ConsistentRead),
		ProjectionExpression: optional(in.ProjectionExpression), ExpressionAttributeNames: in.ExpressionAttributeNames,
	})
	if err != nil {
		return nil, time.Time{}, err
	}
	now, _ = middleware.GetServerTime(out.ResultMetadata)
	return fromSDK(out.Item), now, nil
}

// PutItem implements table.Client.
func (s sdk) PutItem(ctx context.Context, in table.PutItem) (found table.Item, err error) {
	_, err = s.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &in.TableName, Item: toSDK(in.Item), ConditionExpression: &in.ConditionExpression,
		ExpressionAttributeNames: in.ExpressionAttributeNames, ExpressionAttributeValues: toSDK(in.ExpressionAttributeValues),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailure(in.ReturnValuesOnConditionCheckFailure),
	})
	if failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		return fromSDK(failed.Item), err
	}
	return nil, err
}

// TransactWriteItems implements table.Client.
func (s sdk) TransactWriteItems(ctx context.Context, in table.TransactWriteItems) error {
	writes := make([]types.TransactWriteItem, len(in.TransactItems))
	for i, item := range in.TransactItems {
		put := item.Put
		writes[i].Put = &types.Put{
			TableName: &put.TableName, Item: toSDK(put.Item), ConditionExpression: optional(put.ConditionExpression),
			ExpressionAttributeNames: put.ExpressionAttributeNames, ExpressionAttributeValues: toSDK(put.ExpressionAttributeValues),
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailure(put.ReturnValuesOnConditionCheckFailure),
		}
	}
	_, err := s.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
		TransactItems: writes, ClientRequestToken: &in.ClientRequestToken,
	})
	return err
}

// optional returns nil for the zero value, which is not sent.
func optional[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}

func toSDK(item table.Item) map[string]types.AttributeValue {
	if item == nil {
		return nil
	}
	all := make(map[string]types.AttributeValue, len(item))
	for name, value := range item {
		switch {
		case value.S != nil:
			all[name] = &types.AttributeValueMemberS{Value: *value.S}
		case value.N != nil:
			all[name] = &types.AttributeValueMemberN{Value: *value.N}
		}
	}
	return all
}

func fromSDK(item map[string]types.AttributeValue) table.Item {
	if item == nil {
		return nil
	}
	all := make(table.Item, len(item))
	for name, value := range item {
		switch v := value.(type) {
		case *types.AttributeValueMemberS:
			all[name] = table.Value{S: &v.Value}
		case *types.AttributeValueMemberN:
			all[name] = table.Value{N: &v.Value}
		default:
			all[name] = table.Value{}
		}
	}
	return all
}
