package catalog_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// The times stand in an item, or where the job's describe call has them.
func TestTimesOf(t *testing.T) {
	t.Parallel()
	j := catalog.Job{StartTime: "Run.Began", EndTime: "Run.Ended", List: &catalog.ListCall{}}
	answer := map[string]any{"Run": map[string]any{"Began": 1000.0, "Ended": 2000.0}, "At": 3000.0, "Until": "soon"}
	start, end, err := j.TimesOf(answer)
	require.NoError(t, err)
	require.Equal(t, []time.Time{time.Unix(1, 0).UTC(), time.Unix(2, 0).UTC()}, []time.Time{start, end})
	j.List.Start, j.List.End = "At", "Never"
	start, end, err = j.TimesOf(answer)
	require.NoError(t, err)
	require.Equal(t, []time.Time{time.Unix(3, 0).UTC(), {}}, []time.Time{start, end})
	j.List.End = "Until"
	_, _, err = j.TimesOf(answer)
	require.EqualError(t, err, `Until: expected a time, found "soon"`)
}

func TestParseTime(t *testing.T) {
	t.Parallel()
	at := time.Date(2025, 11, 23, 1, 0, 0, 250e6, time.UTC)
	for _, value := range []any{"2025-11-23T01:00:00.250Z", "2025-11-23T02:00:00.25+01:00", json.Number("1763859600250"), json.Number("1.76385960025e12"), 1763859600250.0} {
		got, err := catalog.ParseTime(value)
		require.NoError(t, err, value)
		require.True(t, at.Equal(got), "%v: %v", value, got)
	}
	for _, value := range []any{nil, true, "", "yesterday", "1763859600250", 1e300, json.Number("1e999"), json.Number("-1e18"), map[string]any{}} {
		_, err := catalog.ParseTime(value)
		require.ErrorContains(t, err, "expected a time, found", value)
	}
}
