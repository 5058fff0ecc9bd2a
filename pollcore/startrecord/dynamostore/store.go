// Package dynamostore keeps start records as items of a DynamoDB table, with
// conditional writes.
//
// The table has a partition key "key", a string, and no sort key. Its time to
// live, if it is switched on, is the attribute "expiresAt". A role that uses it
// needs dynamodb:GetItem and dynamodb:PutItem on the table. Records are never
// deleted.
package dynamostore

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	smithymiddleware "github.com/aws/smithy-go/middleware"

	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/internal/awserror"
)

// The attributes of an item.
const (
	attrKey       = "key"       // the partition key: prefix and path of the record
	attrRecord    = "record"    // the record in its JSON form
	attrVersion   = "version"   // the record's nonce
	attrWrittenAt = "writtenAt" // epoch milliseconds by DynamoDB's clock
	attrExpiresAt = "expiresAt" // epoch seconds, for the table's time to live
)

// API is what the store needs of a DynamoDB client. *dynamodb.Client implements
// it.
type API interface {
	GetItem(ctx context.Context, in *dynamodb.GetItemInput, optFns ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	PutItem(ctx context.Context, in *dynamodb.PutItemInput, optFns ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
}

// Store is a startrecord.Store in a DynamoDB table. A Load is one consistent
// GetItem, a Replace one PutItem, a Create both, unless the answer is unclear.
type Store struct {
	client API
	table  string
	prefix string // empty, or ends with a slash

	// clock is DynamoDB's time as of its last answer.
	clock atomic.Pointer[reading]
}

// reading is what the server's clock showed when this machine's showed local.
type reading struct{ server, local time.Time }

var _ startrecord.Store = (*Store)(nil)

// tableName covers the names of tables and their ARNs.
var tableName = regexp.MustCompile(`^([a-zA-Z0-9_.-]{3,255}|arn:aws[a-z0-9-]*:dynamodb:[a-z0-9-]+:[0-9]{12}:table/[a-zA-Z0-9_.-]{3,255})$`)

// New returns a store that keeps its records in the table, under keys that begin
// with the prefix, which may be empty and may end with a slash. Its error
// matches startrecord.ErrConfiguration. Nothing is sent to DynamoDB yet.
func New(client API, table, prefix string) (*Store, error) {
	if !tableName.MatchString(table) {
		return nil, fmt.Errorf("%w: %q is not a table's name, which has 3 to 255 of a-z, A-Z, 0-9, dot, hyphen and underscore, nor its ARN",
			startrecord.ErrConfiguration, table)
	}
	if prefix = strings.TrimSuffix(prefix, "/"); prefix != "" {
		prefix += "/"
	}
	// A partition key has at most 2048 bytes.
	if limit := 2048 - startrecord.MaxPath; len(prefix) > limit {
		return nil, fmt.Errorf("%w: the prefix has %d bytes; at most %d leave room for a record's own path",
			startrecord.ErrConfiguration, len(prefix)-1, limit-1)
	}
	return &Store{client: client, table: table, prefix: prefix}, nil
}

// Create implements startrecord.Store.
func (s *Store) Create(ctx context.Context, key startrecord.Key, rec startrecord.Record) (startrecord.Stored, error) {
	w, err := startrecord.NewWrite(s.Location(key), key, rec, "")
	if err != nil {
		return startrecord.Stored{}, err
	}
	// Reads the server's clock, and spares a write that cannot succeed.
	switch stored, err := s.Load(ctx, key); {
	case err == nil:
		return startrecord.Stored{}, fmt.Errorf("%w: %s has status %s, generation %d; load it",
			startrecord.ErrExists, s.Location(key), stored.Record.Status, stored.Record.Generation)
	case !errors.Is(err, startrecord.ErrNotFound):
		return startrecord.Stored{}, err
	}
	return s.write(ctx, key, w, &dynamodb.PutItemInput{
		ConditionExpression:      aws.String("attribute_not_exists(#key)"),
		ExpressionAttributeNames: map[string]string{"#key": attrKey},
	})
}

// Replace implements startrecord.Store. The version is the record's nonce.
func (s *Store) Replace(ctx context.Context, key startrecord.Key, rec startrecord.Record, version string) (startrecord.Stored, error) {
	if version == "" {
		return startrecord.Stored{}, fmt.Errorf("%w: %q is not a version of %s; load it", startrecord.ErrChanged, version, s.Location(key))
	}
	w, err := startrecord.NewWrite(s.Location(key), key, rec, version)
	if err != nil {
		return startrecord.Stored{}, err
	}
	if s.clock.Load() == nil { // the version is of another Store
		if _, err := s.Load(ctx, key); err != nil && !errors.Is(err, startrecord.ErrNotFound) {
			return startrecord.Stored{}, err
		}
	}
	return s.write(ctx, key, w, &dynamodb.PutItemInput{
		ConditionExpression:       aws.String("#version = :version"),
		ExpressionAttributeNames:  map[string]string{"#version": attrVersion},
		ExpressionAttributeValues: map[string]types.AttributeValue{":version": &types.AttributeValueMemberS{Value: version}},
	})
}

// Load implements startrecord.Store.
func (s *Store) Load(ctx context.Context, key startrecord.Key) (startrecord.Stored, error) {
	if err := key.Validate(); err != nil {
		return startrecord.Stored{}, err
	}
	out, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &s.table, Key: s.key(key), ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return startrecord.Stored{}, s.failure(key, err)
	}
	date, dated := s.read(out.ResultMetadata)
	switch {
	case !dated:
		return startrecord.Stored{}, fmt.Errorf("%w: %s: the answer lacks a Date header; without it leases cannot be told, so use an endpoint that sends it",
			startrecord.ErrConfiguration, s.Location(key))
	case out.Item == nil:
		return startrecord.Stored{}, fmt.Errorf("%w: %s", startrecord.ErrNotFound, s.Location(key))
	}
	stored, writtenAt, err := s.decode(key, out.Item)
	if err != nil {
		return startrecord.Stored{}, err
	}
	stored.Age = max(0, date.Sub(writtenAt))
	return stored, nil
}

// Location implements startrecord.Store.
func (s *Store) Location(key startrecord.Key) string {
	return "dynamodb://" + s.table + "/" + s.prefix + key.Path()
}

func (s *Store) key(key startrecord.Key) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{attrKey: &types.AttributeValueMemberS{Value: s.prefix + key.Path()}}
}

// write sends one record on the condition that put holds.
func (s *Store) write(ctx context.Context, key startrecord.Key, w startrecord.Write, put *dynamodb.PutItemInput) (startrecord.Stored, error) {
	item := s.key(key)
	item[attrRecord] = &types.AttributeValueMemberS{Value: string(w.Body)}
	item[attrVersion] = &types.AttributeValueMemberS{Value: w.Record.Nonce}
	item[attrWrittenAt] = number(s.now().UnixMilli())
	if !w.Record.ExpiresAt.IsZero() {
		item[attrExpiresAt] = number(w.Record.ExpiresAt.Unix())
	}
	put.TableName, put.Item = &s.table, item
	put.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	out, err := s.client.PutItem(ctx, put)
	if err == nil {
		s.read(out.ResultMetadata)
		return startrecord.Stored{Record: w.Record, Version: w.Record.Nonce}, nil
	}
	return w.Settle(ctx, s.failure(key, err), func(ctx context.Context) (startrecord.Stored, error) {
		if failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok && failed.Item != nil {
			stored, _, err := s.decode(key, failed.Item) // DynamoDB sends the item along
			return stored, err
		}
		return s.Load(ctx, key)
	})
}

// decode reads an item and when it was written.
func (s *Store) decode(key startrecord.Key, item map[string]types.AttributeValue) (startrecord.Stored, time.Time, error) {
	body, hasBody := item[attrRecord].(*types.AttributeValueMemberS)
	version, hasVersion := item[attrVersion].(*types.AttributeValueMemberS)
	writtenAt, hasTime := item[attrWrittenAt].(*types.AttributeValueMemberN)
	if !hasBody || !hasVersion || !hasTime {
		return startrecord.Stored{}, time.Time{}, fmt.Errorf("%w: %s: expected the attributes %q and %q (strings) and %q (a number)",
			startrecord.ErrMalformed, s.Location(key), attrRecord, attrVersion, attrWrittenAt)
	}
	millis, err := strconv.ParseInt(writtenAt.Value, 10, 64)
	if err != nil {
		return startrecord.Stored{}, time.Time{}, fmt.Errorf("%w: %s: expected epoch milliseconds in %q, found %s",
			startrecord.ErrMalformed, s.Location(key), attrWrittenAt, writtenAt.Value)
	}
	rec, err := startrecord.Decode(key, []byte(body.Value))
	if err != nil {
		return startrecord.Stored{}, time.Time{}, fmt.Errorf("%s: %w", s.Location(key), err)
	}
	return startrecord.Stored{Record: rec, Version: version.Value}, time.UnixMilli(millis), nil
}

// read notes and returns the server's time of an answer.
func (s *Store) read(metadata smithymiddleware.Metadata) (date time.Time, ok bool) {
	if date, ok = middleware.GetServerTime(metadata); ok {
		s.clock.Store(&reading{date, time.Now()})
	}
	return date, ok
}

// now is the server's time: that of its last answer, and what has passed on this
// machine's monotonic clock since. DynamoDB keeps no time of its own with an
// item. The answer must be of the same invocation, for a function that is frozen
// between two has no clock; so a Create loads first, and a Replace follows a
// Load or a Create.
func (s *Store) now() time.Time {
	last := s.clock.Load()
	return last.server.Add(time.Since(last.local))
}

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// failure says of an error of the client whether trying again can help.
func (s *Store) failure(key startrecord.Key, err error) error {
	return awserror.Mark(err, s.Location(key), s.refused)
}

func (s *Store) refused(code string, _ int) string {
	switch code {
	case "ConditionalCheckFailedException", "TransactionConflictException",
		"ProvisionedThroughputExceededException", "RequestLimitExceeded", "ThrottlingException", "LimitExceededException":
		return ""
	case "ResourceNotFoundException":
		return fmt.Sprintf("table %q does not exist in this region; create it, with the partition key %q (a string), or configure another", s.table, attrKey)
	case "AccessDeniedException":
		return fmt.Sprintf("access denied; grant dynamodb:GetItem and dynamodb:PutItem on table %q", s.table)
	case "ValidationException":
		return fmt.Sprintf("table %q does not have the form of start records: its partition key must be %q, a string, and it must have no sort key", s.table, attrKey)
	default:
		return "the request was refused; check the table and the endpoint"
	}
}
