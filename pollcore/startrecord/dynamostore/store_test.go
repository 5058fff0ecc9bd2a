//go:build e2e

package dynamostore_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/dynalite"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/startrecordtest"
)

// server is shared: every store has a prefix of its own.
var server *dynalite.Server

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if server, err = dynalite.Start(context.Background()); err == nil {
			defer server.Close()
			err = server.CreateTable(context.Background(), table, "key")
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}())
}

func TestE2EConformance(t *testing.T) {
	t.Parallel()
	forEachMaker(t, testConformance)
}

func testConformance(t *testing.T, makes maker) {
	t.Helper()
	startrecordtest.RunWithClock(t, func(t *testing.T, now func() time.Time) startrecord.Store {
		t.Helper()
		return makes.open(t, server.Config(dynalite.ClientOptions{Now: now}))
	})
}

func TestE2EIndex(t *testing.T) {
	t.Parallel()
	forEachMaker(t, func(t *testing.T, makes maker) {
		t.Helper()
		startrecordtest.RunIndexed(t, func(t *testing.T) startrecord.Indexed { return indexOf(t, makes.openOn(t, &wire{})) })
	})
}

func indexOf(t *testing.T, store startrecord.Store) startrecord.Indexed {
	t.Helper()
	index, ok := store.(startrecord.Indexed)
	require.True(t, ok)
	return index
}

// The answer to a transaction may be lost or refuse what has been written; an item that
// is none of the index is not taken for one.
func TestE2EIndexFaults(t *testing.T) {
	t.Parallel()
	forEachMaker(t, testIndexFaults)
}

func testIndexFaults(t *testing.T, makes maker) {
	t.Helper()
	withJob := record(2)
	withJob.Callback.JobIDs = []string{"job-1"}
	for _, tt := range []struct {
		name     string
		faults   []fault
		want     error // nil: the write was made
		requests string
	}{
		{"well", nil, nil, "GetItem TransactWriteItems"},
		{"500 and then well", []fault{refuse(500, "InternalServerError")}, nil, "GetItem TransactWriteItems TransactWriteItems"},
		{"reset to the end", times(3, reset), startrecord.ErrUnavailable, "GetItem TransactWriteItems TransactWriteItems TransactWriteItems GetItem"},
		{"made, then reset", []fault{commit(reset)}, nil, "GetItem TransactWriteItems TransactWriteItems GetItem"},
		{"canceled by another transaction", []fault{refuse(400, "TransactionCanceledException")}, startrecord.ErrUnavailable, "GetItem TransactWriteItems GetItem"},
		{"denied", []fault{refuse(400, "AccessDeniedException")}, startrecord.ErrConfiguration, "GetItem TransactWriteItems"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := &wire{}
			store := indexOf(t, makes.openOn(t, w))
			created, err := store.Create(t.Context(), key, record(1))
			require.NoError(t, err)
			w.take()
			w.fail(tt.faults...)
			_, err = store.ReplaceIndexed(t.Context(), key, withJob, created.Version)
			require.ErrorIs(t, err, tt.want)
			require.Equal(t, tt.requests, w.operations())
			found, err := store.Find(t.Context(), "job-1")
			if tt.want != nil {
				require.ErrorIs(t, err, startrecord.ErrNotFound)
				return
			}
			require.NoError(t, err)
			require.Equal(t, key, found)
			w.failGets(answer(200, `{"Item": {"executionArn": {"S": "x"}, "poller": {"N": "1"}}}`))
			_, err = store.Find(t.Context(), "job-1")
			require.ErrorIs(t, err, startrecord.ErrMalformed)
			require.ErrorContains(t, err, `needs the attributes "executionArn", "poller" and "scope" (strings)`)
		})
	}
}

// What is sent is what the docs promise: a Load is one GetItem, a write one
// GetItem and one PutItem.
func TestE2ERequests(t *testing.T) {
	t.Parallel()
	forEachMaker(t, testRequests)
}

func testRequests(t *testing.T, makes maker) {
	t.Helper()
	w := &wire{}
	store := makes.openOn(t, w)
	path := pathOf(store)
	attribute := func(kind, value string) map[string]any { return map[string]any{kind: value} }
	load := request{"GetItem", map[string]any{
		"TableName": table, "Key": map[string]any{"key": attribute("S", path)}, "ConsistentRead": true,
	}}
	clock := request{"GetItem", map[string]any{
		"TableName": table, "Key": map[string]any{"key": attribute("S", path)},
		"ProjectionExpression": "#key", "ExpressionAttributeNames": map[string]any{"#key": "key"},
	}}
	// put is the write of what was stored under a condition.
	put := func(stored startrecord.Stored, rest map[string]any) request {
		body, err := json.Marshal(stored.Record)
		require.NoError(t, err)
		item := map[string]any{
			"key": attribute("S", path), "record": attribute("S", string(body)),
			"version": attribute("S", stored.Version), "writtenAt": attribute("N", "<seconds>"),
		}
		if !stored.Record.ExpiresAt.IsZero() {
			item["expiresAt"] = attribute("N", fmt.Sprint(stored.Record.ExpiresAt.Unix()))
		}
		rest["TableName"], rest["Item"], rest["ReturnValuesOnConditionCheckFailure"] = table, item, "ALL_OLD"
		return request{"PutItem", rest}
	}
	taken := func() []request {
		requests := w.take()
		for _, r := range requests {
			if item, ok := r.input["Item"].(map[string]any); ok {
				require.Regexp(t, `^\d{10}$`, item["writtenAt"].(map[string]any)["N"])
				item["writtenAt"] = attribute("N", "<seconds>")
			}
		}
		return requests
	}

	created, err := store.Create(t.Context(), key, record(1))
	require.NoError(t, err)
	require.Equal(t, created.Record.Nonce, created.Version)
	creation := put(created, map[string]any{
		"ConditionExpression": "attribute_not_exists(#key)", "ExpressionAttributeNames": map[string]any{"#key": "key"},
	})
	require.Equal(t, []request{clock, creation}, taken())

	_, err = store.Load(t.Context(), key)
	require.NoError(t, err)
	require.Equal(t, []request{load}, taken())

	lasting := record(2)
	lasting.ExpiresAt = time.Time{}
	replaced, err := store.Replace(t.Context(), key, lasting, created.Version)
	require.NoError(t, err)
	require.Equal(t, []request{clock, put(replaced, map[string]any{
		"ConditionExpression": "#version = :version", "ExpressionAttributeNames": map[string]any{"#version": "version"},
		"ExpressionAttributeValues": map[string]any{":version": attribute("S", created.Version)},
	})}, taken())

	_, err = store.Create(t.Context(), key, record(3))
	require.ErrorIs(t, err, startrecord.ErrExists)
	require.Equal(t, "GetItem PutItem GetItem", w.operations(), "dynalite does not send the item along")
	w.fail(returningItem(anothers))
	_, err = store.Create(t.Context(), key, record(3))
	require.ErrorIs(t, err, startrecord.ErrExists)
	require.Equal(t, "GetItem PutItem", w.operations(), "DynamoDB does")
}

// Until DynamoDB deletes it, which takes days, a record that has expired counts.
func TestE2EExpired(t *testing.T) {
	t.Parallel()
	forEachMaker(t, testExpired)
}

func testExpired(t *testing.T, makes maker) {
	t.Helper()
	store := makes.openOn(t, &wire{})
	rec := record(1)
	rec.ExpiresAt = time.Now().Add(-time.Hour)
	created, err := store.Create(t.Context(), key, rec)
	require.NoError(t, err)
	_, err = store.Create(t.Context(), key, rec)
	require.ErrorIs(t, err, startrecord.ErrExists)
	loaded, err := store.Load(t.Context(), key)
	require.NoError(t, err)
	require.Equal(t, created.Record, loaded.Record)
	_, err = store.Replace(t.Context(), key, rec, created.Version)
	require.NoError(t, err)
}

// The largest item that DynamoDB takes is written, and with one more byte it is
// refused before anything is sent.
func TestE2EItemSize(t *testing.T) {
	t.Parallel()
	forEachMaker(t, testItemSize)
}

func testItemSize(t *testing.T, makes maker) {
	t.Helper()
	const limit = 400 << 10
	w := &wire{}
	store := makes.openOn(t, w)
	sized := func(n int) startrecord.Record {
		rec := record(1)
		rec.Result = json.RawMessage(`"` + strings.Repeat("x", n) + `"`)
		return rec
	}
	refused := func(n int) (size int) {
		_, err := store.Create(t.Context(), key, sized(n))
		require.Error(t, err)
		_, of, _ := strings.Cut(err.Error(), store.Location(key))
		_, scanErr := fmt.Sscanf(of, " cannot be written: its item would have %d bytes, and DynamoDB takes at most 409600", &size)
		require.NoError(t, scanErr, "%v", err)
		require.Empty(t, w.take())
		return size
	}
	fits := 2*limit - refused(limit)
	require.Equal(t, limit+1, refused(fits+1))
	created, err := store.Create(t.Context(), key, sized(fits))
	require.NoError(t, err)
	_, err = store.Replace(t.Context(), key, sized(fits), created.Version)
	require.NoError(t, err)
}

// What somebody else put there is no record, and is not written over.
func TestE2EForeignItem(t *testing.T) {
	t.Parallel()
	forEachMaker(t, testForeignItem)
}

func testForeignItem(t *testing.T, makes maker) {
	t.Helper()
	client := server.Client(dynalite.ClientOptions{})
	store := makes.open(t, server.Config(dynalite.ClientOptions{}))
	s := func(value string) types.AttributeValue { return &types.AttributeValueMemberS{Value: value} }
	n := func(value string) types.AttributeValue { return &types.AttributeValueMemberN{Value: value} }
	w, err := startrecord.NewWrite("", key, record(1), "")
	require.NoError(t, err)
	nonce, body := s(w.Record.Nonce), s(string(w.Body))
	put := func(attributes map[string]types.AttributeValue) {
		t.Helper()
		put := itemOf(store)
		maps.Copy(put, attributes)
		_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(table), Item: put})
		require.NoError(t, err)
	}
	for _, tt := range []struct {
		attributes map[string]types.AttributeValue
		want       string
	}{
		{map[string]types.AttributeValue{}, `expected the attributes "record" and "version" (strings) and "writtenAt" (a number)`},
		{map[string]types.AttributeValue{"record": body, "version": nonce, "writtenAt": s("1")}, `"writtenAt" (a number)`},
		{map[string]types.AttributeValue{"record": body, "version": n("1"), "writtenAt": n("1")}, `"version" (strings)`},
		{map[string]types.AttributeValue{"record": n("1"), "version": nonce, "writtenAt": n("1")}, `expected the attributes "record"`},
		{map[string]types.AttributeValue{"record": body, "version": nonce, "writtenAt": n("1.5")}, `expected epoch seconds in the attribute "writtenAt", found 1.5`},
		{map[string]types.AttributeValue{"record": s("{}"), "version": nonce, "writtenAt": n("1")}, `member "status" is missing`},
		{map[string]types.AttributeValue{"record": body, "version": s("v"), "writtenAt": n("1")}, `the attribute "version" is "v", but the record's nonce "` + w.Record.Nonce},
	} {
		put(tt.attributes)
		_, err = store.Load(t.Context(), key)
		require.ErrorIs(t, err, startrecord.ErrMalformed)
		require.ErrorContains(t, err, store.Location(key))
		require.ErrorContains(t, err, tt.want)
		_, err = store.Create(t.Context(), key, record(1))
		require.ErrorIs(t, err, startrecord.ErrMalformed)
	}
	put(map[string]types.AttributeValue{"record": body, "version": nonce, "writtenAt": n("1")})
	loaded, err := store.Load(t.Context(), key)
	require.NoError(t, err, "one that a person has put there right")
	require.Equal(t, w.Record, loaded.Record)
}

// The longest prefix leaves room for the longest path.
func TestE2ELongestKey(t *testing.T) {
	t.Parallel()
	forEachMaker(t, testLongestKey)
}

func testLongestKey(t *testing.T, makes maker) {
	t.Helper()
	longest := startrecord.Key{
		ExecutionARN: "arn:aws:states:us-east-1:123456789012:execution:" + strings.Repeat("m", 80) + ":" + strings.Repeat("n", 126),
		Poller:       strings.Repeat("p", 255),
		Scope:        strings.Repeat("s", 255),
	}
	store, err := makes(server.Config(dynalite.ClientOptions{}), table, strings.Repeat("p", 1268-26)+rand.Text())
	require.NoError(t, err)
	_, err = store.Create(t.Context(), longest, record(1))
	require.NoError(t, err)
	_, err = store.Load(t.Context(), longest)
	require.NoError(t, err)
}

// pathOf is the partition key of the store's record of key.
func pathOf(store startrecord.Store) string {
	return strings.TrimPrefix(store.Location(key), "dynamodb://"+table+"/")
}

// itemOf is the primary key of the store's record of key.
func itemOf(store startrecord.Store) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"key": &types.AttributeValueMemberS{Value: pathOf(store)}}
}

func record(generation int) startrecord.Record {
	return startrecord.Record{
		ExecutionStartTime: time.Date(2026, 11, 20, 9, 30, 14, 123_000_000, time.UTC),

		Status:     startrecord.StatusStarting,
		Generation: generation,
		StartedAt:  time.Date(2026, 11, 20, 9, 30, 15, 0, time.UTC),
		ExpiresAt:  time.Date(2026, 12, 24, 0, 0, 0, 0, time.UTC),
	}
}
