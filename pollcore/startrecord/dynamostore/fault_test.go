//go:build e2e

package dynamostore_test

import (
	"context"
	"crypto/rand"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/dynalite"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// Whatever a server answers to a write, the store says whether it was made.
func TestE2EUnclearAnswers(t *testing.T) {
	t.Parallel()
	forEachMaker(t, testUnclearAnswers)
}

func testUnclearAnswers(t *testing.T, makes maker) {
	t.Helper()
	const clock = "GetItem " // the read that tells the time
	tests := []struct {
		name     string
		faults   []fault
		want     error // nil: the write was made
		requests string
	}{
		{"500 and then well", []fault{refuse(500, "InternalServerError")}, nil, "PutItem PutItem"},
		{"throttled and then well", times(2, refuse(400, "ProvisionedThroughputExceededException")), nil, "PutItem PutItem PutItem"},
		{"reset and then well", []fault{reset}, nil, "PutItem PutItem"},
		{"throttled to the end", times(3, refuse(400, "ThrottlingException")), startrecord.ErrUnavailable, "PutItem PutItem PutItem GetItem"},
		{"too many requests", times(3, refuse(400, "RequestLimitExceeded")), startrecord.ErrUnavailable, "PutItem PutItem PutItem GetItem"},
		{"503 to the end", times(3, refuse(503, "ServiceUnavailable")), startrecord.ErrUnavailable, "PutItem PutItem PutItem GetItem"},
		{"reset to the end", times(3, reset), startrecord.ErrUnavailable, "PutItem PutItem PutItem GetItem"},
		{"name not found", []fault{nameless}, startrecord.ErrUnavailable, "PutItem GetItem"}, // the client does not try again
		{"proxy's 502 without JSON", times(3, answer(502, "<html>")), startrecord.ErrUnavailable, "PutItem PutItem PutItem GetItem"},
		{"another Region writes", []fault{refuse(400, "ReplicatedWriteConflictException")}, startrecord.ErrUnavailable, "PutItem GetItem"},
		{"answer cut", []fault{answer(200, `{"Attr`)}, startrecord.ErrUnavailable, "PutItem GetItem"},
		{"made, then answer cut", []fault{commit(answer(200, `{"Attr`))}, nil, "PutItem GetItem"},
		// The client sends the write again and is told that the condition does
		// not hold, although it won.
		{"made, then 500", []fault{commit(refuse(500, "InternalServerError"))}, nil, "PutItem PutItem GetItem"},
		{"made, then throttled", []fault{commit(refuse(400, "ThrottlingException"))}, nil, "PutItem PutItem GetItem"},
		{"made, then reset", []fault{commit(reset)}, nil, "PutItem PutItem GetItem"},
		{"made, then reset to the end", append([]fault{commit(reset)}, times(2, reset)...), nil, "PutItem PutItem PutItem GetItem"},
		{"made, then refused with the item", []fault{commit(returningItem(strings.Clone))}, nil, "PutItem"},
		{"a condition that is said not to hold", []fault{refuse(400, "ConditionalCheckFailedException")}, startrecord.ErrUnavailable, "PutItem GetItem"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := &wire{}
			store := makes.openOn(t, w)
			requests := clock + tt.requests

			w.fail(tt.faults...)
			created, err := store.Create(t.Context(), key, record(1))
			require.Equal(t, requests, w.operations(), "create")
			if tt.want == nil {
				require.NoError(t, err)
				loaded, err := store.Load(t.Context(), key)
				require.NoError(t, err)
				require.Equal(t, loaded.Version, created.Version)
				require.Equal(t, loaded.Record, created.Record)
			} else {
				require.ErrorIs(t, err, tt.want)
				require.ErrorContains(t, err, store.Location(key))
				w.fail()
				_, err = store.Load(t.Context(), key)
				require.ErrorIs(t, err, startrecord.ErrNotFound)
				created, err = store.Create(t.Context(), key, record(1))
				require.NoError(t, err)
			}
			w.take()

			w.fail(tt.faults...)
			replaced, err := store.Replace(t.Context(), key, record(2), created.Version)
			require.Equal(t, requests, w.operations(), "replace")
			loaded, loadErr := store.Load(t.Context(), key)
			require.NoError(t, loadErr)
			if tt.want == nil {
				require.NoError(t, err)
				require.Equal(t, 2, loaded.Record.Generation)
				require.Equal(t, loaded.Version, replaced.Version)
			} else {
				require.ErrorIs(t, err, tt.want)
				require.Equal(t, created.Version, loaded.Version)
			}
		})
	}
}

// A write whose answer is lost while another wins is lost, not won.
func TestE2EUnclearAnswersOfALoser(t *testing.T) {
	t.Parallel()
	forEachMaker(t, testUnclearAnswersOfALoser)
}

func testUnclearAnswersOfALoser(t *testing.T, makes maker) {
	t.Helper()
	for name, f := range map[string]fault{
		"500": refuse(500, "InternalServerError"), "reset": reset, "throttled": refuse(400, "ThrottlingException"),
		"refused": nil, "refused with the item": returningItem(anothers),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &wire{}
			store := makes.openOn(t, w)
			first, err := store.Create(t.Context(), key, record(1))
			require.NoError(t, err)
			second, err := store.Replace(t.Context(), key, record(2), first.Version)
			require.NoError(t, err)

			w.fail(f, f, f)
			_, err = store.Create(t.Context(), key, record(3))
			require.ErrorIs(t, err, startrecord.ErrExists)
			w.fail(f, f, f)
			_, err = store.Replace(t.Context(), key, record(3), first.Version)
			require.ErrorIs(t, err, startrecord.ErrChanged)
			w.fail()

			loaded, err := store.Load(t.Context(), key)
			require.NoError(t, err)
			require.Equal(t, second.Version, loaded.Version)

			_, err = server.Client(dynalite.ClientOptions{}).DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String(table), Key: itemOf(store)})
			require.NoError(t, err)
			w.fail(f, f, f)
			_, err = store.Replace(t.Context(), key, record(3), second.Version)
			require.ErrorIs(t, err, startrecord.ErrChanged, "the record is gone")
		})
	}
}

// What the read-back finds out counts more than the answer to the write.
func TestE2EReadBackFails(t *testing.T) {
	t.Parallel()
	forEachMaker(t, testReadBackFails)
}

func testReadBackFails(t *testing.T, makes maker) {
	t.Helper()
	found := func(body string) fault { return answer(200, `{"Item": {`+body+`}}`) }
	const attributes = `"version": {"S": "v"}, "writtenAt": {"N": "1"}, `
	tests := []struct {
		name   string
		answer fault
		want   error
	}{
		{"denied", refuse(400, "AccessDeniedException"), startrecord.ErrConfiguration},
		{"no table", refuse(400, "ResourceNotFoundException"), startrecord.ErrConfiguration},
		{"no date", undated, startrecord.ErrConfiguration},
		{"of a newer program", found(attributes + `"record": {"S": "{\"version\": 2}"}`), startrecord.ErrVersion},
		{"no record", found(attributes + `"record": {"S": "hello"}`), startrecord.ErrMalformed},
		{"no attributes", found(`"record": {"S": "{}"}`), startrecord.ErrMalformed},
		{"throttled", refuse(400, "ProvisionedThroughputExceededException"), startrecord.ErrUnavailable},
		{"no JSON", answer(200, `{"Item": `), startrecord.ErrUnavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := &wire{}
			store := makes.openOn(t, w)
			created, err := store.Create(t.Context(), key, record(1))
			require.NoError(t, err)
			for name, do := range operations(store, created.Version) {
				w.fail(times(3, commit(refuse(500, "InternalServerError")))...)
				gets := times(3, tt.answer)
				if name != "load" {
					gets = append([]fault{nil}, gets...) // the clock is read well
				}
				w.failGets(gets...)
				err := do(t.Context())
				require.ErrorIs(t, err, tt.want, name)
				require.ErrorContains(t, err, store.Location(key), name)
			}
		})
	}
}

// A write whose time is not known is not made.
func TestE2ENoClock(t *testing.T) {
	t.Parallel()
	forEachMaker(t, testNoClock)
}

func testNoClock(t *testing.T, makes maker) {
	t.Helper()
	for name, tt := range map[string]struct {
		answer fault
		want   error
	}{
		"no date":     {undated, startrecord.ErrConfiguration},
		"denied":      {refuse(400, "AccessDeniedException"), startrecord.ErrConfiguration},
		"unavailable": {refuse(503, "ServiceUnavailable"), startrecord.ErrUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &wire{}
			store := makes.openOn(t, w)
			for name, do := range operations(store, "a version") {
				w.failGets(times(3, tt.answer)...)
				err := do(t.Context())
				require.ErrorIs(t, err, tt.want, name)
				require.ErrorContains(t, err, store.Location(key), name)
				require.NotContains(t, w.operations(), "PutItem", name)
			}
		})
	}
}

// A store that is set up wrongly is said to be so at once: it is never a lost
// race, and no read-back or second write is spent on it.
func TestE2EMisconfigured(t *testing.T) {
	t.Parallel()
	forEachMaker(t, testMisconfigured)
}

func testMisconfigured(t *testing.T, makes maker) {
	t.Helper()
	tests := []struct {
		name   string
		answer fault
		want   string
	}{
		{"no table", refuse(400, "ResourceNotFoundException"), `table "records" does not exist in this region; create it, with the partition key "key" (a string)`},
		{"denied", refuse(400, "AccessDeniedException"), `grant dynamodb:GetItem and dynamodb:PutItem on table "records"`},
		{"bad key", refuse(400, "UnrecognizedClientException"), "credentials are not valid"},
		{"bad signature", refuse(400, "InvalidSignatureException"), "credentials are not valid"},
		{"expired", refuse(400, "ExpiredTokenException"), "credentials are not valid"},
		{"another form", refuse(400, "ValidationException"), "does not have the form of start records"},
		{"not DynamoDB", refuse(400, "UnknownOperationException"), "check the table and the endpoint"},
		{"no such page", answer(404, "<html>"), "check the table and the endpoint"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := &wire{}
			store := makes.openOn(t, w)
			check := func(err error) {
				t.Helper()
				require.ErrorIs(t, err, startrecord.ErrConfiguration)
				for _, other := range []error{startrecord.ErrUnavailable, startrecord.ErrExists, startrecord.ErrChanged, startrecord.ErrNotFound} {
					require.NotErrorIs(t, err, other)
				}
				require.ErrorContains(t, err, tt.want)
				require.ErrorContains(t, err, store.Location(key))
			}
			created, err := store.Create(t.Context(), key, record(1))
			require.NoError(t, err)
			w.take()

			w.fail(tt.answer)
			_, err = store.Create(t.Context(), key, record(2))
			check(err)
			require.Equal(t, "GetItem PutItem", w.operations())
			w.fail(tt.answer)
			_, err = store.Replace(t.Context(), key, record(2), created.Version)
			check(err)
			require.Equal(t, "GetItem PutItem", w.operations())
			w.failGets(tt.answer)
			_, err = store.Load(t.Context(), key)
			check(err)
			require.Equal(t, "GetItem", w.operations())
		})
	}
}

// A real table that is missing, or is another's.
func TestE2EWrongTable(t *testing.T) {
	t.Parallel()
	forEachMaker(t, testWrongTable)
}

func testWrongTable(t *testing.T, makes maker) {
	t.Helper()
	other := "other-" + rand.Text()
	require.NoError(t, server.CreateTable(t.Context(), other, "id"))
	for name, want := range map[string]string{
		"missing": `table "missing" does not exist in this region`,
		other:     `does not have the form of start records: its partition key must be "key"`,
	} {
		store, err := makes(server.Config(dynalite.ClientOptions{}), name, "")
		require.NoError(t, err)
		for operation, do := range operations(store, "a version") {
			err := do(t.Context())
			require.ErrorIs(t, err, startrecord.ErrConfiguration, operation)
			require.ErrorContains(t, err, want, operation)
		}
	}
}

// A store behind an endpoint of one's own is probed, whoever makes it: a server
// that ignores conditions is told.
func TestE2EStoreOfAnEndpointIsProbed(t *testing.T) {
	t.Parallel()
	forEachMaker(t, testStoreOfAnEndpointIsProbed)
}

func testStoreOfAnEndpointIsProbed(t *testing.T, makes maker) {
	t.Helper()
	w := &wire{}
	probed, err := makes(w.config(), table, rand.Text())
	require.NoError(t, err)
	w.fail(times(3, careless)...)
	_, err = probed.Create(t.Context(), key, record(1))
	require.ErrorIs(t, err, startrecord.ErrConfiguration)
	require.ErrorContains(t, err, "was created twice")
	w.fail(nil, nil, careless)
	_, err = probed.Create(t.Context(), key, record(1))
	require.ErrorIs(t, err, startrecord.ErrConfiguration)
	require.ErrorContains(t, err, "was replaced under a version that it did not have")
	for _, before := range [][]fault{{}, {nil}, {nil, nil}} { // whichever write of the probe it is
		w.fail(append(before, refuse(400, "AccessDeniedException"))...)
		_, err = probed.Create(t.Context(), key, record(1))
		require.ErrorIs(t, err, startrecord.ErrConfiguration)
		require.ErrorContains(t, err, "access denied")
	}
	_, err = probed.Load(t.Context(), key)
	require.ErrorIs(t, err, startrecord.ErrNotFound, "nothing but the probe is written")

	_, err = probed.Create(t.Context(), key, record(1))
	require.NoError(t, err)
	w.take()
	_, err = probed.Create(t.Context(), key, record(1))
	require.ErrorIs(t, err, startrecord.ErrExists)
	require.Equal(t, "GetItem PutItem GetItem", w.operations(), "no probe any more")
}

func TestE2EServerGone(t *testing.T) {
	t.Parallel()
	forEachMaker(t, testServerGone)
}

func testServerGone(t *testing.T, makes maker) {
	t.Helper()
	w := &wire{}
	store := makes.openOn(t, w)
	for name, do := range operations(store, "a version") {
		w.failGets(times(3, reset)...)
		require.ErrorIs(t, do(t.Context()), startrecord.ErrUnavailable, name)
	}
}

// Once the context has ended nothing more is sent: neither another write nor a
// read-back.
func TestE2ECanceledDuringWrite(t *testing.T) {
	t.Parallel()
	forEachMaker(t, testCanceledDuringWrite)
}

func testCanceledDuringWrite(t *testing.T, makes maker) {
	t.Helper()
	w := &wire{}
	store := makes.openOn(t, w)
	created, err := store.Create(t.Context(), key, record(1))
	require.NoError(t, err)
	for name, do := range operations(store, created.Version) {
		w.take()
		ctx, cancel := context.WithCancel(t.Context())
		stop := func(next http.RoundTripper, r *http.Request) (*http.Response, error) {
			cancel()
			return refuse(503, "ServiceUnavailable")(next, r)
		}
		want := "GetItem PutItem"
		if name == "load" {
			w.failGets(stop)
			want = "GetItem"
		}
		w.fail(stop)
		err := do(ctx)
		require.ErrorIs(t, err, context.Canceled, name)
		require.ErrorIs(t, err, startrecord.ErrUnavailable, name)
		require.Equal(t, want, w.operations(), name)
	}
}

// operations are the three methods of a store, on the one key.
func operations(store startrecord.Store, version string) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"create": func(ctx context.Context) error {
			_, err := store.Create(ctx, key, record(2))
			return err
		},
		"replace": func(ctx context.Context) error {
			_, err := store.Replace(ctx, key, record(2), version)
			return err
		},
		"load": func(ctx context.Context) error {
			_, err := store.Load(ctx, key)
			return err
		},
	}
}
