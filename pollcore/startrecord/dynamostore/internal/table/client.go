package table

import (
	"context"
	"time"
)

// Client calls the two operations of DynamoDB that the store needs. Its errors are
// those of the SDK: an answer that refuses is a smithy.APIError within a
// ResponseError.
type Client interface {
	// GetItem returns the item, nil for none, and DynamoDB's time, zero if the answer
	// does not say it.
	GetItem(ctx context.Context, in GetItem) (found Item, now time.Time, err error)
	// PutItem writes an item. With an error it returns the item that the condition
	// was held against, nil if the answer does not have it.
	PutItem(ctx context.Context, in PutItem) (found Item, err error)
	// TransactWriteItems writes several items or none.
	TransactWriteItems(ctx context.Context, in TransactWriteItems) error
}

// Item is what DynamoDB is given and gives: attributes by their names.
type Item map[string]Value

// Value is a string or a number. In an answer it may be neither: an attribute of
// another type, which start records do not have.
type Value struct {
	S *string `json:"S,omitempty"`
	N *string `json:"N,omitempty"` // its digits
}

// GetItem is an input of the operation GetItem, in DynamoDB's JSON.
type GetItem struct {
	TableName                string            `json:"TableName"`
	Key                      Item              `json:"Key"`
	ConsistentRead           bool              `json:"ConsistentRead,omitempty"`
	ProjectionExpression     string            `json:"ProjectionExpression,omitempty"`
	ExpressionAttributeNames map[string]string `json:"ExpressionAttributeNames,omitempty"`
}

// PutItem is an input of the operation PutItem, in DynamoDB's JSON.
type PutItem struct {
	TableName                           string            `json:"TableName"`
	Item                                Item              `json:"Item"`
	ConditionExpression                 string            `json:"ConditionExpression,omitempty"`
	ExpressionAttributeNames            map[string]string `json:"ExpressionAttributeNames,omitempty"`
	ExpressionAttributeValues           Item              `json:"ExpressionAttributeValues,omitempty"`
	ReturnValuesOnConditionCheckFailure string            `json:"ReturnValuesOnConditionCheckFailure,omitempty"`
}

// TransactWriteItems is an input of the operation TransactWriteItems, in DynamoDB's JSON.
type TransactWriteItems struct {
	TransactItems []TransactItem `json:"TransactItems"`
	// ClientRequestToken lets a request that is sent twice have its effect once.
	ClientRequestToken string `json:"ClientRequestToken"`
}

// TransactItem is one write of a transaction.
type TransactItem struct {
	Put PutItem `json:"Put"`
}
