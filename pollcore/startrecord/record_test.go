package startrecord_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

var key = startrecord.Key{ExecutionARN: arn, Poller: "Export"}

// stored is a record as the first version of the program wrote it. Later ones
// must read it.
const stored = `{
  "version": 1,
  "executionArn": "arn:aws:states:us-east-1:123456789012:execution:ExportOrders:run-1",
  "executionStartTime": "2026-11-20T09:30:14.123Z",
  "redriveCount": 1,
  "poller": "Export",
  "status": "SUCCEEDED",
  "generation": 2,
  "nonce": "KIM4KDYTHBXL6YIA3GLYGIWE5D",
  "startedAt": "2026-11-20T09:30:15Z",
  "stopRequestedAt": "2026-11-20T10:00:14Z",
  "leaseSeconds": 65,
  "token": "a1",
  "requestHash": "5f",
  "request": {"job": "x"},
  "jobRef": "j-1",
  "result": {"size": 1.50},
  "expiresAt": "2026-12-24T00:00:00Z"
}`

func TestDecode(t *testing.T) {
	t.Parallel()
	rec, err := startrecord.Decode(key, []byte(stored))
	require.NoError(t, err)
	require.Equal(t, startrecord.Record{
		Version:            1,
		ExecutionARN:       arn,
		ExecutionStartTime: time.Date(2026, 11, 20, 9, 30, 14, 123_000_000, time.UTC),
		RedriveCount:       1,
		Poller:             "Export",
		Status:             startrecord.StatusSucceeded,
		Generation:         2,
		Nonce:              "KIM4KDYTHBXL6YIA3GLYGIWE5D",
		StartedAt:          time.Date(2026, 11, 20, 9, 30, 15, 0, time.UTC),
		StopRequestedAt:    time.Date(2026, 11, 20, 10, 0, 14, 0, time.UTC),
		LeaseSeconds:       65,
		Token:              "a1",
		RequestHash:        "5f",
		Request:            json.RawMessage(`{"job": "x"}`),
		JobRef:             json.RawMessage(`"j-1"`),
		Result:             json.RawMessage(`{"size": 1.50}`),
		ExpiresAt:          time.Date(2026, 12, 24, 0, 0, 0, 0, time.UTC),
	}, rec)

	// Null is nothing, also where any JSON may stand.
	nulls, err := startrecord.Decode(key, []byte(strings.NewReplacer(`{"job": "x"}`, `null`, `"j-1"`, `null`, `{"size": 1.50}`, `null`).Replace(stored)))
	require.NoError(t, err)
	require.Nil(t, nulls.Request)
	require.Nil(t, nulls.JobRef)
	require.Nil(t, nulls.Result)

	// A newer program of the same version may have added members, also such
	// whose names differ only in case.
	newer, err := startrecord.Decode(key, []byte(strings.Replace(stored, `{`, `{"added": {"x": 1}, "Status": "FAILED",`, 1)))
	require.NoError(t, err)
	require.Equal(t, rec, newer)
}

// Whole numbers may be written in any spelling, here too.
func TestDecodeCallback(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]startrecord.Callback{
		`null`: {}, `{}`: {},
		`{"taskToken": "t", "number": 6e1, "attempt": 2.0, "dueAt": null, "added": 1}`: {TaskToken: "t", Number: 60, Attempt: 2},
	} {
		rec, err := startrecord.Decode(key, []byte(strings.Replace(stored, `{`, `{"callback": `+text+`,`, 1)))
		require.NoError(t, err)
		require.Equal(t, want, rec.Callback)
	}
}

func TestNewerCallback(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC)
	inOrder := []startrecord.Callback{
		{},
		{EnteredAt: at, RetryCount: 9},
		{EnteredAt: at.Add(time.Second)},
		{EnteredAt: at.Add(time.Second), RetryCount: 1},
		{RedriveCount: 1, EnteredAt: at},
	}
	for i, a := range inOrder {
		for j, b := range inOrder {
			require.Equal(t, i > j, a.NewerThan(b), "%d, %d", i, j)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, old, new string
		is             error
		want           []string
	}{
		{"newer version", `"version": 1`, `"version": 2`, startrecord.ErrVersion, []string{"it has version 2, this program reads version 1"}},
		{"newer version of another form", stored, `{"version": 3, "status": {"now": "x"}}`, startrecord.ErrVersion, []string{"version 3"}},
		{"version 0", `"version": 1`, `"version": 0`, startrecord.ErrVersion, []string{"version 0"}},
		{"no version", `"version": 1,`, ``, startrecord.ErrMalformed, []string{`1:1: member "version" is missing; expected a whole number`}},
		{"text version", `"version": 1`, `"version": "1"`, startrecord.ErrMalformed, []string{`2:14: /version: expected a whole number, found "1"`}},
		{"null status", `"SUCCEEDED"`, `null`, startrecord.ErrMalformed, []string{`/status: member "status" is missing; expected a string`}},
		{"unknown status", `"SUCCEEDED"`, `"DONE"`, startrecord.ErrMalformed, []string{`7:13: /status: unknown status "DONE"; expected one of [STARTING STARTED SUCCEEDED FAILED TIMED_OUT UNKNOWN]`, "| "}},
		{"no execution", `"executionStartTime": "2026-11-20T09:30:14.123Z",`, ``, startrecord.ErrMalformed, []string{`member "executionStartTime" is missing`}},
		{"time", `2026-11-20T09:30:15Z`, `yesterday`, startrecord.ErrMalformed, []string{`/startedAt: expected an RFC 3339 time, found "yesterday"`}},
		{"fraction", `"generation": 2`, `"generation": 2.5`, startrecord.ErrMalformed, []string{"/generation: expected a whole number, found 2.5"}},
		{"empty nonce", `KIM4KDYTHBXL6YIA3GLYGIWE5D`, ``, startrecord.ErrMalformed, []string{"/nonce: is empty"}},
		{"another execution", `run-1`, `run-2`, startrecord.ErrMalformed, []string{`/executionArn: expected "` + arn + `"`}},
		{"another poller", `"Export"`, `"Import"`, startrecord.ErrMalformed, []string{`/poller: expected "Export"`}},
		{"another scope", `"poller"`, `"scope": "3", "poller"`, startrecord.ErrMalformed, []string{`/scope: expected ""`}},
		{"several", `"generation": 2`, `"generation": "2", "leaseSeconds": []`, startrecord.ErrMalformed, []string{"/leaseSeconds"}},
		{"callback", `"token": "a1"`, `"callback": [1]`, startrecord.ErrMalformed, []string{"/callback: expected an object"}},
		{"in the callback", `"token": "a1"`, `"callback": {"number": 1.5, "dueAt": "soon", "taskToken": 1}`, startrecord.ErrMalformed, []string{
			"3 problems", "/callback: number: expected a whole number, found 1.5", `/callback: dueAt: expected an RFC 3339 time, found "soon"`,
			"/callback: taskToken: expected a string, found 1",
		}},
		{"cut", `"expiresAt": "2026-12-24T00:00:00Z"` + "\n}", ``, startrecord.ErrMalformed, []string{"not valid JSON"}},
		{"not UTF-8", `"a1"`, "\"a\xff\"", startrecord.ErrMalformed, []string{"byte ", "is not valid UTF-8"}},
		{"nothing", stored, ``, startrecord.ErrMalformed, []string{"not valid JSON"}},
		{"null", stored, `null`, startrecord.ErrMalformed, []string{"1:1: expected an object, found null"}},
		{"list", stored, ` []`, startrecord.ErrMalformed, []string{"1:2: expected an object, found an array"}},
		{"all problems", stored, `{"version": 1, "executionArn": 7, "redriveCount": "x", "token": {}}`, startrecord.ErrMalformed, []string{
			"8 problems", "/executionArn: expected a string, found 7", "/redriveCount", "/token: expected a string",
			`"poller" is missing`, `"status" is missing`, `"nonce" is missing`, `"startedAt" is missing`, `"executionStartTime" is missing`,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, stored, tt.old)
			_, err := startrecord.Decode(key, []byte(strings.Replace(stored, tt.old, tt.new, 1)))
			require.ErrorIs(t, err, tt.is)
			for _, want := range tt.want {
				require.ErrorContains(t, err, want)
			}
		})
	}
}

// FuzzDecode: an error is one of the two that callers know, and what is read
// can be written and read again without a change.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		stored, `{"version":2}`, `{}`, `null`, `[`, ``, "\x00", `{"version":1,"version":1}`,
		strings.Replace(stored, "1.50", `"\ud800<&>`+"\u2028"+`"`, 1), strings.Replace(stored, "Z", "+23:59", 2),
		strings.Replace(stored, "1.50", "\"\xff\"", 1),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		rec, err := startrecord.Decode(key, text)
		if err != nil {
			require.True(t, errors.Is(err, startrecord.ErrVersion) || errors.Is(err, startrecord.ErrMalformed), "%v", err)
			return
		}
		w, err := startrecord.NewWrite("here", key, rec, "")
		if err != nil {
			require.True(t, rec.StartedAt.IsZero() || rec.ExecutionStartTime.IsZero(), "%v", err)
			return
		}
		again, err := startrecord.Decode(key, w.Body)
		require.NoError(t, err)
		require.True(t, rec.StartedAt.Equal(again.StartedAt))
		require.Equal(t, rec.Status, again.Status)
		require.Equal(t, rec.Result == nil, again.Result == nil)
		if rec.Result != nil {
			require.JSONEq(t, string(rec.Result), string(again.Result))
		}
	})
}
