package startrecord_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

func TestNewWrite(t *testing.T) {
	t.Parallel()
	rec := startrecord.Record{
		Version: 9, ExecutionARN: "another", Poller: "another", Scope: "another", Nonce: "old",
		ExecutionStartTime: time.Now(),

		Status:    startrecord.StatusStarting,
		StartedAt: time.Now(),
		Request:   json.RawMessage("{ \"a\" : \"<&>\" ,\n\"n\" : 1.50 }"),
	}
	w, err := startrecord.NewWrite("here", key, rec, "")
	require.NoError(t, err)
	require.Contains(t, string(w.Body), `"request":{"a":"<&>","n":1.50}`)
	got := startrecord.Key{ExecutionARN: w.Record.ExecutionARN, Poller: w.Record.Poller, Scope: w.Record.Scope}
	require.Equal(t, key, got)
	require.Equal(t, startrecord.Version, w.Record.Version)
	require.True(t, rec.StartedAt.Equal(w.Record.StartedAt))
	read, err := startrecord.Decode(key, w.Body)
	require.NoError(t, err)
	require.Equal(t, w.Record, read)

	again, err := startrecord.NewWrite("here", key, w.Record, "")
	require.NoError(t, err)
	require.NotEqual(t, w.Record.Nonce, again.Record.Nonce)
	require.GreaterOrEqual(t, len(w.Record.Nonce), 26) // 128 bits in base 32
}

func TestNewWriteRefuses(t *testing.T) {
	t.Parallel()
	good := startrecord.Record{Status: startrecord.StatusStarting, ExecutionStartTime: time.Unix(1e9, 0), StartedAt: time.Unix(1e9, 0)}
	_, err := startrecord.NewWrite("here", startrecord.Key{}, good, "")
	require.ErrorIs(t, err, startrecord.ErrInvalidKey)

	_, err = startrecord.NewWrite("here", key, startrecord.Record{Status: "x", Request: json.RawMessage("{"), JobRef: json.RawMessage("1 2"), Result: json.RawMessage("nul")}, "")
	for _, want := range []string{"for here", `unknown status "x"`, "startedAt is not set", "executionStartTime is not set", "request is not", "jobRef is not", "result is not valid JSON"} {
		require.ErrorContains(t, err, want)
	}
	far := good
	far.ExpiresAt = time.Unix(math.MaxInt32*1000, 0) // beyond the year 9999, which RFC 3339 cannot say
	_, err = startrecord.NewWrite("here", key, far, "")
	require.ErrorContains(t, err, "year outside of range")
}

// The table is the whole rule: what a load finds after a write got an error.
func TestSettle(t *testing.T) {
	t.Parallel()
	cause := errors.New("the answer was lost")
	denied := errors.Join(startrecord.ErrConfiguration, errors.New("denied"))
	type load struct {
		nonce, version string // nonce "mine" is that of the write
		err            error
	}
	unread := load{err: errors.New("must not be called")}
	tests := []struct {
		name            string
		cause           error
		load            load
		create, replace error // nil: won
	}{
		{"mine", cause, load{nonce: "mine", version: "v2"}, nil, nil},
		{"another's", cause, load{nonce: "other", version: "v2"}, startrecord.ErrExists, startrecord.ErrChanged},
		{"as before", cause, load{nonce: "other", version: "v1"}, startrecord.ErrExists, startrecord.ErrUnavailable},
		{"none", cause, load{err: startrecord.ErrNotFound}, startrecord.ErrUnavailable, startrecord.ErrChanged},
		{"no answer", cause, load{err: errors.New("reset")}, startrecord.ErrUnavailable, startrecord.ErrUnavailable},
		{"denied", cause, load{err: denied}, startrecord.ErrConfiguration, startrecord.ErrConfiguration},
		{"newer", cause, load{err: startrecord.ErrVersion}, startrecord.ErrVersion, startrecord.ErrVersion},
		{"malformed", cause, load{err: startrecord.ErrMalformed}, startrecord.ErrMalformed, startrecord.ErrMalformed},
		{"no need to ask", denied, unread, startrecord.ErrConfiguration, startrecord.ErrConfiguration},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for replaces, want := range map[string]error{"": tt.create, "v1": tt.replace} {
				rec := startrecord.Record{Status: startrecord.StatusStarting, ExecutionStartTime: time.Unix(1e9, 0), StartedAt: time.Unix(1e9, 0)}
				w, err := startrecord.NewWrite("here", key, rec, replaces)
				require.NoError(t, err)
				loads := 0
				stored, err := w.Settle(t.Context(), tt.cause, func(context.Context) (startrecord.Stored, error) {
					loads++
					found := startrecord.Stored{Record: w.Record, Version: tt.load.version, Age: time.Minute}
					if tt.load.nonce != "mine" {
						found.Record.Nonce = tt.load.nonce
					}
					return found, tt.load.err
				})
				if tt.load == unread {
					require.Zero(t, loads)
				} else {
					require.Equal(t, 1, loads)
				}
				if want == nil {
					require.NoError(t, err)
					require.Equal(t, startrecord.Stored{Record: w.Record, Version: tt.load.version, Age: time.Minute}, stored)
					continue
				}
				require.ErrorIs(t, err, want)
				require.Zero(t, stored)
				require.Equal(t, errors.Is(want, startrecord.ErrUnavailable), errors.Is(err, startrecord.ErrUnavailable), "one verdict only")
				if errors.Is(want, startrecord.ErrUnavailable) {
					require.ErrorIs(t, err, tt.cause)
					require.ErrorContains(t, err, "here")
				}
			}
		})
	}
}

func TestSettleAfterTheContextEnded(t *testing.T) {
	t.Parallel()
	w, err := startrecord.NewWrite("here", key, startrecord.Record{Status: startrecord.StatusStarting, ExecutionStartTime: time.Unix(1e9, 0), StartedAt: time.Unix(1e9, 0)}, "")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	cause := errors.New("reset")
	_, err = w.Settle(ctx, cause, func(context.Context) (startrecord.Stored, error) {
		t.Error("loaded after the context ended")
		return startrecord.Stored{}, nil
	})
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, startrecord.ErrUnavailable)
	require.ErrorIs(t, err, cause)
}
