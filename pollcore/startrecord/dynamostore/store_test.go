package dynamostore_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/dynalite"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/dynamostore"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/startrecordtest"
)

const table = "records"

var key = startrecord.Key{ExecutionARN: "arn:aws:states:us-east-1:123456789012:execution:ExportOrders:run-1", Poller: "Export"}

// server is shared: every test has keys or a prefix of its own.
var server *dynalite.Server

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if server, err = dynalite.Start(context.Background()); err == nil {
			err = server.CreateTable(context.Background(), table, "key")
		}
		if err != nil {
			panic(err)
		}
		defer server.Close()
		return m.Run()
	}())
}

func open(t *testing.T, client dynamostore.API) *dynamostore.Store {
	t.Helper()
	store, err := dynamostore.New(client, table, t.Name())
	require.NoError(t, err)
	return store
}

func record(generation int) startrecord.Record {
	return startrecord.Record{
		Status: startrecord.StatusStarting, Generation: generation, StartedAt: time.Unix(1_795_000_000, 0).UTC(),
		ExpiresAt: time.Unix(1_800_000_000, 0).UTC(),
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	startrecordtest.Run(t, func(t *testing.T) startrecord.Store {
		t.Helper()
		return open(t, server.Client(dynalite.ClientOptions{}))
	})
}

// wire notes the requests and answers some in the server's stead.
type wire struct {
	next http.RoundTripper

	mu     sync.Mutex
	seen   []string // operations
	bodies []map[string]any
	faults []fault // for the writes to come
}

type fault func(next http.RoundTripper, r *http.Request) (*http.Response, error)

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(strings.NewReader(string(text)))
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	var body map[string]any
	if err := json.Unmarshal(text, &body); err != nil {
		return nil, err
	}
	w.mu.Lock()
	w.seen, w.bodies = append(w.seen, operation), append(w.bodies, body)
	var f fault
	if operation == "PutItem" && len(w.faults) > 0 {
		f, w.faults = w.faults[0], w.faults[1:]
	}
	w.mu.Unlock()
	if f != nil {
		return f(w.next, r)
	}
	return w.next.RoundTrip(r)
}

func (w *wire) take() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := strings.Join(w.seen, " ")
	w.seen, w.bodies = nil, nil
	return seen
}

// on returns a store whose requests the wire sees.
func on(t *testing.T, w *wire, set ...func(*dynamodb.Options)) *dynamostore.Store {
	t.Helper()
	client := server.Client(dynalite.ClientOptions{Transport: func(next http.RoundTripper) http.RoundTripper {
		w.next = next
		return w
	}})
	prompt := append([]func(*dynamodb.Options){func(o *dynamodb.Options) {
		o.Retryer = noDelay{o.Retryer}
	}}, set...)
	return open(t, dynamodb.New(client.Options(), prompt...))
}

// noDelay is the SDK's retryer without its pauses.
type noDelay struct{ aws.Retryer }

func (noDelay) RetryDelay(int, error) (time.Duration, error) { return 0, nil }

func answer(status int, code string) fault {
	return func(_ http.RoundTripper, r *http.Request) (*http.Response, error) {
		return &http.Response{
			StatusCode: status, Request: r, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}, "Date": {time.Now().UTC().Format(http.TimeFormat)}},
			Body: io.NopCloser(strings.NewReader(`{"__type": "com.amazonaws.dynamodb.v20120810#` + code + `", "message": "said the server"}`)),
		}, nil
	}
}

func reset(http.RoundTripper, *http.Request) (*http.Response, error) {
	return nil, errors.New("connection reset by peer")
}

// commit lets the write be made before the fault.
func commit(f fault) fault {
	return func(next http.RoundTripper, r *http.Request) (*http.Response, error) {
		response, err := next.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		if err := response.Body.Close(); err != nil {
			return nil, err
		}
		return f(next, r)
	}
}

func times(n int, f fault) []fault {
	faults := make([]fault, n)
	for i := range faults {
		faults[i] = f
	}
	return faults
}

// Whatever the server answers to a write, the store says whether it was made.
func TestUnclearAnswers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		faults   []fault
		want     error // nil: the write was made
		requests string
	}{
		{"well", nil, nil, "GetItem PutItem"},
		{"500 and then well", times(1, answer(500, "InternalServerError")), nil, "GetItem PutItem PutItem"},
		{"throttled and then well", times(1, answer(400, "ProvisionedThroughputExceededException")), nil, "GetItem PutItem PutItem"},
		{"throttled to the end", times(3, answer(400, "ThrottlingException")), startrecord.ErrUnavailable, "GetItem PutItem PutItem PutItem GetItem"},
		{"reset to the end", times(3, reset), startrecord.ErrUnavailable, "GetItem PutItem PutItem PutItem GetItem"},
		// The client sends the write again and is told that the condition does
		// not hold, although it won.
		{"made, then 500", times(1, commit(answer(500, "InternalServerError"))), nil, "GetItem PutItem PutItem GetItem"},
		{"made, then reset", times(1, commit(reset)), nil, "GetItem PutItem PutItem GetItem"},
		{"made, then reset to the end", append(times(1, commit(reset)), times(2, reset)...), nil, "GetItem PutItem PutItem PutItem GetItem"},
		{"a condition that is said not to hold", times(1, answer(400, "ConditionalCheckFailedException")), startrecord.ErrUnavailable, "GetItem PutItem GetItem"},
		{"denied", times(1, answer(400, "AccessDeniedException")), startrecord.ErrConfiguration, "GetItem PutItem"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := &wire{faults: tt.faults}
			store := on(t, w)
			created, err := store.Create(t.Context(), key, record(1))
			require.Equal(t, tt.requests, w.take())
			if tt.want != nil {
				require.ErrorIs(t, err, tt.want)
				require.ErrorContains(t, err, store.Location(key))
				_, err = store.Load(t.Context(), key)
				require.ErrorIs(t, err, startrecord.ErrNotFound)
				return
			}
			require.NoError(t, err)
			loaded, err := store.Load(t.Context(), key)
			require.NoError(t, err)
			require.Equal(t, created.Version, loaded.Version)
			w.take()

			w.mu.Lock()
			w.faults = tt.faults
			w.mu.Unlock()
			replaced, err := store.Replace(t.Context(), key, record(2), created.Version)
			require.NoError(t, err)
			require.Equal(t, strings.TrimPrefix(tt.requests, "GetItem "), w.take())
			require.Equal(t, 2, replaced.Record.Generation)
		})
	}
}

// What goes over the wire is what the docs promise.
func TestRequests(t *testing.T) {
	t.Parallel()
	w := &wire{}
	store := on(t, w)
	created, err := store.Create(t.Context(), key, record(1))
	require.NoError(t, err)
	path := t.Name() + "/" + key.Path()
	require.Equal(t, map[string]any{
		"TableName": table, "ConsistentRead": true, "Key": map[string]any{"key": map[string]any{"S": path}},
	}, w.bodies[0])
	put := w.bodies[1]
	require.Equal(t, "attribute_not_exists(#key)", put["ConditionExpression"])
	require.Equal(t, "ALL_OLD", put["ReturnValuesOnConditionCheckFailure"])
	item := put["Item"].(map[string]any)
	require.Equal(t, map[string]any{"S": path}, item["key"])
	require.Equal(t, map[string]any{"N": "1800000000"}, item["expiresAt"])
	require.Equal(t, map[string]any{"S": created.Record.Nonce}, item["version"])
	require.Contains(t, item["record"].(map[string]any)["S"], `"status":"STARTING"`)
	w.take()

	_, err = store.Replace(t.Context(), key, record(2), created.Version)
	require.NoError(t, err)
	require.Equal(t, "#version = :version", w.bodies[0]["ConditionExpression"])
	require.Equal(t, "PutItem", w.take())
	_, err = store.Load(t.Context(), key)
	require.NoError(t, err)
	require.Equal(t, "GetItem", w.take())

	noExpiry := record(1)
	noExpiry.ExpiresAt = time.Time{}
	other := key
	other.Scope = "other"
	_, err = store.Create(t.Context(), other, noExpiry)
	require.NoError(t, err)
	require.NotContains(t, w.bodies[1]["Item"], "expiresAt")
}

// DynamoDB sends the item along with a failed condition, and spares a read;
// dynalite does not.
func TestItemOfAFailedCondition(t *testing.T) {
	t.Parallel()
	for _, mine := range []bool{true, false} {
		w := &wire{}
		store := on(t, w)
		key := key
		key.Scope = map[bool]string{true: "mine", false: "another's"}[mine]
		created, err := store.Create(t.Context(), key, record(1))
		require.NoError(t, err)
		w.take()
		w.faults = []fault{func(next http.RoundTripper, r *http.Request) (*http.Response, error) {
			var put struct{ Item json.RawMessage }
			text, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}
			if err := json.Unmarshal(text, &put); err != nil {
				return nil, err
			}
			item := string(put.Item)
			if !mine {
				item = strings.ReplaceAll(item, `\"nonce\":\"`, `\"nonce\":\"not `)
			}
			response, err := answer(400, "ConditionalCheckFailedException")(next, r)
			response.Body = io.NopCloser(strings.NewReader(
				`{"__type": "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException", "message": "no", "Item": ` + item + `}`))
			return response, err
		}}
		replaced, err := store.Replace(t.Context(), key, record(2), created.Version)
		require.Equal(t, "PutItem", w.take())
		if mine {
			require.NoError(t, err)
			require.Equal(t, 2, replaced.Record.Generation)
		} else {
			require.ErrorIs(t, err, startrecord.ErrChanged)
		}
	}
}

// The age is that on the server's clock, whatever this machine's shows.
func TestAge(t *testing.T) {
	t.Parallel()
	now := time.Date(2031, 1, 2, 3, 4, 5, 0, time.UTC)
	client := server.Client(dynalite.ClientOptions{Now: func() time.Time { return now }})
	store := open(t, client)
	created, err := store.Create(t.Context(), key, record(1))
	require.NoError(t, err)
	age := func(store startrecord.Store) time.Duration {
		loaded, err := store.Load(t.Context(), key)
		require.NoError(t, err)
		return loaded.Age.Round(time.Second)
	}
	require.Zero(t, age(store))
	now = now.Add(65 * time.Second)
	require.Equal(t, 65*time.Second, age(store))
	require.Equal(t, 65*time.Second, age(open(t, client)), "of another process")

	// A version that was kept is enough: the clock is read first.
	now = now.Add(time.Hour)
	_, err = open(t, client).Replace(t.Context(), key, record(2), created.Version)
	require.NoError(t, err)
	require.Zero(t, age(store))
	now = now.Add(7 * time.Second)
	require.Equal(t, 7*time.Second, age(store))
	now = now.Add(-time.Hour) // a clock that goes back
	require.Zero(t, age(store))
}

func TestMisconfigured(t *testing.T) {
	t.Parallel()
	require.NoError(t, server.CreateTable(t.Context(), "other-key", "id"))
	for name, want := range map[string]string{
		"missing":   `table "missing" does not exist in this region; create it, with the partition key "key" (a string)`,
		"other-key": `table "other-key" does not have the form of start records`,
	} {
		store, err := dynamostore.New(server.Client(dynalite.ClientOptions{}), name, "")
		require.NoError(t, err)
		_, err = store.Create(t.Context(), key, record(1))
		require.ErrorIs(t, err, startrecord.ErrConfiguration)
		require.ErrorContains(t, err, want)
		_, err = store.Load(t.Context(), key)
		require.ErrorContains(t, err, want)
		_, err = store.Replace(t.Context(), key, record(1), "a version")
		require.ErrorContains(t, err, want)
	}
	for _, code := range []string{"UnrecognizedClientException", "ExpiredTokenException"} {
		_, err := on(t, &wire{faults: times(1, answer(400, code))}).Create(t.Context(), startrecord.Key{ExecutionARN: key.ExecutionARN, Poller: code}, record(1))
		require.ErrorIs(t, err, startrecord.ErrConfiguration)
		require.ErrorContains(t, err, "the AWS credentials are not valid")
	}
}

// What somebody else put there is no record, and is not written over.
func TestForeignItem(t *testing.T) {
	t.Parallel()
	client := server.Client(dynalite.ClientOptions{})
	store := open(t, client)
	put := func(attributes map[string]types.AttributeValue) {
		attributes["key"] = &types.AttributeValueMemberS{Value: t.Name() + "/" + key.Path()}
		_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(table), Item: attributes})
		require.NoError(t, err)
	}
	s := func(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
	for _, attributes := range []map[string]types.AttributeValue{
		{},
		{"record": s("{}"), "version": s("v"), "writtenAt": s("now")},
		{"record": s("{}"), "version": s("v"), "writtenAt": &types.AttributeValueMemberN{Value: "1.5"}},
		{"record": s("{}"), "version": s("v"), "writtenAt": &types.AttributeValueMemberN{Value: "1"}},
	} {
		put(attributes)
		_, err := store.Load(t.Context(), key)
		require.ErrorIs(t, err, startrecord.ErrMalformed)
		require.ErrorContains(t, err, store.Location(key))
		_, err = store.Create(t.Context(), key, record(1))
		require.ErrorIs(t, err, startrecord.ErrMalformed)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ table, prefix, want string }{
		{"", "", "is not a table's name"},
		{"a", "", "is not a table's name"},
		{"my table", "", "is not a table's name"},
		{table, strings.Repeat("x", 2000), "the prefix has 2000 bytes"},
	} {
		_, err := dynamostore.New(nil, tt.table, tt.prefix)
		require.ErrorIs(t, err, startrecord.ErrConfiguration)
		require.ErrorContains(t, err, tt.want)
	}
	store, err := dynamostore.New(nil, "arn:aws:dynamodb:us-east-1:123456789012:table/records", "team/")
	require.NoError(t, err)
	require.Equal(t, "dynamodb://arn:aws:dynamodb:us-east-1:123456789012:table/records/team/"+key.Path(), store.Location(key))
}

func TestServerGone(t *testing.T) {
	t.Parallel()
	store := open(t, dynamodb.New(server.Client(dynalite.ClientOptions{}).Options(), func(o *dynamodb.Options) {
		o.BaseEndpoint, o.RetryMaxAttempts = aws.String("http://127.0.0.1:1"), 1
	}))
	_, err := store.Create(t.Context(), key, record(1))
	require.ErrorIs(t, err, startrecord.ErrUnavailable)
	_, err = store.Load(t.Context(), key)
	require.ErrorIs(t, err, startrecord.ErrUnavailable)
	_, err = store.Replace(t.Context(), key, record(1), "a version")
	require.ErrorIs(t, err, startrecord.ErrUnavailable)
}
