package startrecordtest

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

func testFields(t *testing.T, store startrecord.Store) {
	full := startrecord.Record{
		ExecutionStartTime: time.Date(2026, 11, 20, 9, 30, 14, 123_000_000, time.UTC),
		RedriveCount:       2,
		Status:             startrecord.StatusStarted,
		Generation:         7,
		StartedAt:          time.Date(2026, 11, 20, 10, 30, 15, 123_456_789, time.FixedZone("", 3600)),
		LeaseSeconds:       905,
		Token:              "0123456789abcdef0123456789abcdef0123",
		RequestHash:        "sha256:5f",
		Request:            json.RawMessage(`{"z":1,"a":1.50,"big":12345678901234567890.123,"html":"<a & b>","text":"é\u00e9\n😀","none":null}`),
		JobRef:             json.RawMessage(`"arn:aws:dynamodb:us-east-1:123456789012:table/t/export/01"`),
		Result:             json.RawMessage(`[null]`),
		ExpiresAt:          time.Date(2026, 12, 24, 0, 0, 0, 1_000_000, time.UTC),
		StopRequestedAt:    time.Date(2026, 11, 20, 10, 0, 14, 999_999_999, time.UTC),
		Callback: startrecord.Callback{
			TaskToken: strings.Repeat("AQCE", 256), RedriveCount: 2, RedriveTime: time.Date(2026, 11, 20, 9, 0, 0, 1_000_000, time.UTC),
			EnteredAt: time.Date(2026, 11, 20, 9, 0, 1, 0, time.UTC), RetryCount: 3,
			Number: 12, MessageID: "KIM4KDYT", Attempt: 11, DueAt: time.Date(2026, 11, 20, 9, 31, 0, 0, time.UTC), JobIDs: []string{"test:Job/1"},
		},
	}
	bare := startrecord.Record{Status: startrecord.StatusUnknown, ExecutionStartTime: full.ExecutionStartTime, StartedAt: full.StartedAt}
	for name, rec := range map[string]startrecord.Record{"full": full, "bare": bare} {
		key := newKey()
		created := create(t, store, key, rec)
		requireRecord(t, key, rec, created.Record)
		requireUnchanged(t, store, key, created)
		require.Equal(t, string(rec.Request), string(created.Record.Request), name)

		// A Replace keeps as much, and drops what the new record does not have.
		rec.Token, rec.Result, rec.Callback = "", nil, startrecord.Callback{}
		replaced, err := store.Replace(t.Context(), key, rec, created.Version)
		require.NoError(t, err)
		requireRecord(t, key, rec, replaced.Record)
		requireUnchanged(t, store, key, replaced)
	}

	for _, status := range []startrecord.Status{
		startrecord.StatusStarting, startrecord.StatusStarted, startrecord.StatusSucceeded,
		startrecord.StatusFailed, startrecord.StatusTimedOut, startrecord.StatusUnknown,
	} {
		rec := newRecord()
		rec.Status = status
		require.Equal(t, status, create(t, store, newKey(), rec).Record.Status)
	}
}

// The input and the output of a state have at most 256 KiB.
func testSizes(t *testing.T, store startrecord.Store) {
	for _, size := range []int{1 << 10, 16 << 10, 256 << 10} {
		key, rec := newKey(), newRecord()
		rec.Result = json.RawMessage(`"` + strings.Repeat("x", size) + `"`)
		created := create(t, store, key, rec)
		requireUnchanged(t, store, key, created)
		replaced, err := store.Replace(t.Context(), key, rec, created.Version)
		require.NoError(t, err)
		requireUnchanged(t, store, key, replaced)
		require.Len(t, replaced.Record.Result, size+2)
	}
}

// All these keys are different, so all have a record of their own, also where
// one looks like the escaped form, the shortened form or the folder of another.
func testKeys(t *testing.T, store startrecord.Store) {
	base := newKey()
	long := strings.Repeat("scope/", 100)
	var keys []startrecord.Key
	for _, text := range []string{
		".", "..", "_", "__", "%2F", "%5F", "%2E%2E", "~", "a/b", "a%2Fb", "a", "a/", "/a", "a b", "a+b", "a%20b",
		"record.json", "a/_/record.json", "Bestellungen-Übersicht", "注文", "😀", "?x=1&y=2", "#", `\`, `"`, "*", "A",
		long, long + "x", strings.Repeat("é", 200),
	} {
		scoped, named := base, base
		scoped.Scope, named.Poller = text, text
		keys = append(keys, scoped, named)
	}
	unscoped, unicode, express, child := base, base, base, base
	unscoped.Scope = ""
	unicode.ExecutionARN += "-注文-" + strings.Repeat("ü", 60)
	express.ExecutionARN = strings.Replace(base.ExecutionARN, ":execution:", ":express:", 1) + ":0f8fad5b-d9cb-469f-a165-70867728950e"
	child.ExecutionARN = strings.Replace(base.ExecutionARN, ":ExportOrders:", ":ExportOrders/EachTable:", 1)
	keys = append(keys, unscoped, unicode, express, child)

	want := make([]startrecord.Stored, len(keys))
	for i, key := range keys {
		created, err := store.Create(t.Context(), key, newRecord())
		require.NoError(t, err, "key %q", key)
		want[i] = created
	}
	for i, key := range keys {
		requireUnchanged(t, store, key, want[i])
	}
}
