package table

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// The attributes of an item of the index, besides its key and its expiry: the parts of
// the record's key.
const (
	attrExecution = "executionArn"
	attrPoller    = "poller"
	attrScope     = "scope"
)

// jobFolder is where the items of the index are. The path of a record begins with an ARN
// or with "~".
const jobFolder = "jobs/"

// jobKey is the primary key of a job's item. A job's ID may be of any length.
func (s *store) jobKey(jobID string) Item {
	sum := sha256.Sum256([]byte(jobID))
	return Item{attrKey: text(s.prefix + jobFolder + hex.EncodeToString(sum[:]))}
}

// ReplaceIndexed implements startrecord.Indexed.
func (s *store) ReplaceIndexed(ctx context.Context, key startrecord.Key, rec startrecord.Record, version string) (startrecord.Stored, error) {
	ids := startrecord.ListJobIDs(rec)
	if len(ids) == 0 {
		return s.Replace(ctx, key, rec, version)
	}
	return s.replace(ctx, key, rec, version, func(ctx context.Context, put PutItem) (Item, error) {
		put.ReturnValuesOnConditionCheckFailure = "" // Settle loads what is there
		transaction := TransactWriteItems{
			TransactItems:      []TransactItem{{put}},
			ClientRequestToken: *put.Item[attrVersion].S, // fresh on every write
		}
		for _, id := range ids {
			entry := s.jobKey(id)
			entry[attrExecution], entry[attrPoller], entry[attrScope] = text(key.ExecutionARN), text(key.Poller), text(key.Scope)
			if expiry, expires := put.Item[attrExpiresAt]; expires {
				entry[attrExpiresAt] = expiry
			}
			transaction.TransactItems = append(transaction.TransactItems, TransactItem{PutItem{TableName: s.table, Item: entry}})
		}
		return nil, s.client.TransactWriteItems(ctx, transaction)
	})
}

// Find implements startrecord.Indexed.
func (s *store) Find(ctx context.Context, jobID string) (startrecord.Key, error) {
	location := fmt.Sprintf("dynamodb://%s/%s%s", s.table, s.prefix, jobFolder)
	found, _, err := s.client.GetItem(ctx, GetItem{TableName: s.table, Key: s.jobKey(jobID), ConsistentRead: true})
	if err != nil {
		return startrecord.Key{}, s.explain(location, err)
	}
	if found == nil {
		return startrecord.Key{}, fmt.Errorf("%w: %s has none of the job %q", startrecord.ErrNotFound, location, jobID)
	}
	execution, poller, scope := found[attrExecution].S, found[attrPoller].S, found[attrScope].S
	if execution == nil || poller == nil || scope == nil {
		return startrecord.Key{}, fmt.Errorf("%w: %s: the item of the job %q needs the attributes %q, %q and %q (strings)",
			startrecord.ErrMalformed, location, jobID, attrExecution, attrPoller, attrScope)
	}
	return startrecord.Key{ExecutionARN: *execution, Poller: *poller, Scope: *scope}, nil
}
