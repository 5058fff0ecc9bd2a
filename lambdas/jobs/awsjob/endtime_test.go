package awsjob_test

import (
	"bytes"
	"encoding/json"
	"iter"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// The end time of every job that has one is found in what its driver describes.
func TestEndTimes(t *testing.T) {
	t.Parallel()
	found := 0
	for d, entry := range drivers(t) {
		timer, ok := d.(jobs.EndTimer)
		require.True(t, ok, d.Name())
		if entry.Operation.Output == nil {
			continue
		}
		at, ok := timer.EndTime(allTimes(t, entry.Operation.Output))
		require.Equal(t, entry.Job != nil && entry.Job.EndTime != "", ok, d.Name())
		_, none := timer.EndTime(map[string]any{})
		require.False(t, none, d.Name())
		if ok {
			found++
			require.Equal(t, time.Date(2026, 11, 21, 12, 0, 0, 500_000_000, time.UTC), at, d.Name())
		}
	}
	require.GreaterOrEqual(t, found, 60)
}

// drivers are those of all entries of the catalogue.
func drivers(t *testing.T) iter.Seq2[jobs.Driver, *catalog.Entry] {
	t.Helper()
	list, err := catalog.AWS().List()
	require.NoError(t, err)
	return func(yield func(jobs.Driver, *catalog.Entry) bool) {
		for _, s := range list {
			for _, e := range s.Entries {
				entry, err := catalog.AWS().Lookup(s.Key, e.Name)
				require.NoError(t, err)
				cfg := config("")
				cfg.BaseEndpoint = nil
				d, err := awsjob.NewDriver(cfg, catalog.AWS(), s.Key+":"+e.Name)
				require.NoError(t, err)
				if !yield(d, entry) {
					return
				}
			}
		}
	}
}

// allTimes is an answer in which each text without an enum and each number is a time, too.
func allTimes(t *testing.T, output *catalog.Shape) any {
	t.Helper()
	text, err := json.Marshal((&sampler{spell: pascalName}).value(catalog.Member{Shape: output}, nil))
	require.NoError(t, err)
	text = regexp.MustCompile(`"text-[^"]*"`).ReplaceAll(text, []byte(`"2026-11-21T12:00:00.5Z"`))
	text = regexp.MustCompile(`\b7([],}])`).ReplaceAll(text, []byte(`1795262400500$1`))
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var value any
	require.NoError(t, d.Decode(&value))
	return value
}
