package timespan_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/jobpoller/jobpoller/internal/timespan"
)

func TestParse(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"10d": 10 * day, "1.5d": 36 * time.Hour, "1d12h": 36 * time.Hour, "1d1h1m1s": day + time.Hour + time.Minute + time.Second, "-2d": -2 * day,
		"-1d12h": -36 * time.Hour, "+1d": day, "0d": 0, "1d500ms": day + 500*time.Millisecond, "90s": 90 * time.Second, "2h": 2 * time.Hour, "0": 0,
		".5d": 12 * time.Hour, "106751d": 106751 * day,
	} {
		got, err := timespan.Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{
		"", "d", "10", "10 d", "10days", "1h2d", "1d2d", "1d-2h", "--1d", "-+1d", "1e3d", "infd", "0x1d", "1_0d", ".d", "1.2.3d", "106752d", "106751d24h", "1D", "1w",
	} {
		_, err := timespan.Parse(text)
		require.Error(t, err, text)
	}
}

// What Go writes is read as Go reads it.
func TestParseReadsGo(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64().Draw(t, "d"))
		got, err := timespan.Parse(d.String())
		require.NoError(t, err)
		require.Equal(t, d, got)
	})
}
