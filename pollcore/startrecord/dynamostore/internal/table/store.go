// Package table keeps start records in a DynamoDB table, through any client. What it
// promises is in the comment of package dynamostore.
package table

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/internal/folder"
)

// maxKey is the longest partition key in bytes.
const maxKey = 2048

// tableName covers the names of tables and their ARNs, but for the length of
// names: a count in the expression is compiled to as many copies at each start of
// a function.
var tableName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([a-zA-Z0-9_.-]+|arn:aws[a-z0-9-]*:dynamodb:[a-z0-9-]+:[0-9]{12}:table/[a-zA-Z0-9_.-]+)$`)
})

// store is a startrecord.Store in a DynamoDB table. A Load is one consistent
// GetItem; a Create or Replace is one eventually consistent GetItem, which
// tells the server's time, and one PutItem, unless the answer is unclear. A
// ReplaceIndexed has one TransactWriteItems instead of the PutItem.
type store struct {
	client Client
	table  string
	prefix string // empty, or ends with a slash
}

var _ startrecord.Indexed = (*store)(nil)

// New returns a store in the table, a name or an ARN, under keys that begin with the
// prefix. OwnEndpoint says that the client has an endpoint that its owner has set: the
// store is probed before its first write.
func New(client Client, table, prefix string, ownEndpoint bool) (startrecord.Store, error) {
	var problems []string
	name := table[strings.LastIndexByte(table, '/')+1:] // of an ARN too
	if !tableName().MatchString(table) || len(name) < 3 || len(name) > 255 {
		problems = append(problems, fmt.Sprintf("%q is not a table's name, which has 3 to 255 of a-z, A-Z, 0-9, dot, hyphen and underscore, nor its ARN", table))
	}
	before, ofPrefix := folder.Of(prefix, maxKey)
	if problems = append(problems, ofPrefix...); problems != nil {
		return nil, fmt.Errorf("%w: %s", startrecord.ErrConfiguration, strings.Join(problems, "; "))
	}
	s := &store{client: client, table: table, prefix: before}
	if ownEndpoint {
		return startrecord.ProbeFirst(s), nil
	}
	return s, nil
}

// Create implements startrecord.Store.
func (s *store) Create(ctx context.Context, key startrecord.Key, rec startrecord.Record) (startrecord.Stored, error) {
	return s.write(ctx, key, rec, "", PutItem{
		ConditionExpression:      "attribute_not_exists(#key)",
		ExpressionAttributeNames: map[string]string{"#key": attrKey},
	}, s.client.PutItem)
}

// Replace implements startrecord.Store. The version is the record's nonce.
func (s *store) Replace(ctx context.Context, key startrecord.Key, rec startrecord.Record, version string) (startrecord.Stored, error) {
	return s.replace(ctx, key, rec, version, s.client.PutItem)
}

// Load implements startrecord.Store.
func (s *store) Load(ctx context.Context, key startrecord.Key) (startrecord.Stored, error) {
	if err := key.Validate(); err != nil {
		return startrecord.Stored{}, err
	}
	given, now, err := s.get(ctx, key, GetItem{ConsistentRead: true})
	if err != nil {
		return startrecord.Stored{}, err
	}
	if given == nil {
		return startrecord.Stored{}, fmt.Errorf("%w: %s", startrecord.ErrNotFound, s.Location(key))
	}
	return s.decode(key, given, now)
}

// Location implements startrecord.Store.
func (s *store) Location(key startrecord.Key) string {
	return "dynamodb://" + s.table + "/" + s.prefix + key.Path()
}

// replace writes a record by send if the stored one is of the version.
func (s *store) replace(ctx context.Context, key startrecord.Key, rec startrecord.Record, version string, send send) (startrecord.Stored, error) {
	if version == "" {
		return startrecord.Stored{}, fmt.Errorf("%w: %q is not a version of %s; load it",
			startrecord.ErrChanged, version, s.Location(key))
	}
	return s.write(ctx, key, rec, version, PutItem{
		ConditionExpression:       "#version = :version",
		ExpressionAttributeNames:  map[string]string{"#version": attrVersion},
		ExpressionAttributeValues: Item{":version": text(version)},
	}, send)
}

// send is PutItem of a client, or what does more in one transaction.
type send func(context.Context, PutItem) (found Item, err error)

// write sends one record on the condition of put, which is that the stored one
// is of the given version or, without a version, that there is none.
func (s *store) write(
	ctx context.Context, key startrecord.Key, rec startrecord.Record, version string, put PutItem, send send,
) (startrecord.Stored, error) {
	w, err := startrecord.NewWrite(s.Location(key), key, rec, version)
	if err != nil {
		return startrecord.Stored{}, err
	}
	if err := s.fits(key, w); err != nil {
		return startrecord.Stored{}, err
	}
	now, err := s.now(ctx, key)
	if err != nil {
		return startrecord.Stored{}, err
	}
	put.TableName, put.Item = s.table, s.encode(key, w, now)
	put.ReturnValuesOnConditionCheckFailure = "ALL_OLD"
	found, err := send(ctx, put)
	if err == nil {
		return startrecord.Stored{Record: w.Record, Version: w.Record.Nonce}, nil
	}
	return w.Settle(ctx, s.failure(key, err), func(ctx context.Context) (startrecord.Stored, error) {
		// What the condition was held against is as good as a read.
		if found != nil {
			return s.decode(key, found, now)
		}
		return s.Load(ctx, key)
	})
}

// now returns DynamoDB's time, which a write keeps in its item since DynamoDB
// notes none.
//
// It is asked for anew by each write, and that makes leases sound: whoever
// writes has computed its lease before, so the time that the lease is counted
// from is not earlier, but for the fraction of a second that a Date header cuts
// off. No clock of this machine is involved. It may be wrong or virtual, and
// stands still while a function is frozen.
func (s *store) now(ctx context.Context, key startrecord.Key) (time.Time, error) {
	_, now, err := s.get(ctx, key, GetItem{
		ProjectionExpression:     "#key", // little to transfer
		ExpressionAttributeNames: map[string]string{"#key": attrKey},
	})
	return now, err
}

// get sends a GetItem for the item of key, and returns what is there and
// DynamoDB's time.
func (s *store) get(ctx context.Context, key startrecord.Key, in GetItem) (found Item, now time.Time, err error) {
	in.TableName, in.Key = s.table, s.keyOf(key)
	found, now, err = s.client.GetItem(ctx, in)
	if err != nil {
		return nil, time.Time{}, s.failure(key, err)
	}
	if now.IsZero() {
		return nil, time.Time{}, s.failUndated(key)
	}
	return found, now, nil
}
