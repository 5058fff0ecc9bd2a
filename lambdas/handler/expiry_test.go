package handler_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/startrecordtest"
)

const day = 24 * time.Hour

// expiries are the ways in which stores remove records, at their hastiest.
var expiries = map[string]startrecordtest.Expiry{
	"bucket": startrecordtest.ByAge(handler.DefaultRetention),
	"table":  startrecordtest.ByAttribute,
}

func newExpiringWorld(t *testing.T, expiry startrecordtest.Expiry) (*world, *startrecordtest.Expiring) {
	t.Helper()
	c := &clock{now: time.Date(2026, 11, 20, 9, 30, 14, 0, time.UTC)}
	records := startrecordtest.NewExpiring(c.Now, expiry)
	return newWorldOn(t, c, records, "none"), records
}

// The job waits for 40 days. The execution is aborted on day 39 and redriven on day
// 52, and sees the end of its job on day 61.
func TestResultsOutliveTheRetentionInLongWaitsAndRedrives(t *testing.T) {
	t.Parallel()
	for name, expiry := range expiries {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const long = `{"job": "test:Job", "maxWaitSeconds": 3456000, "minDelay": 3600}`
			w, records := newExpiringWorld(t, expiry)
			began := w.clock.Now()
			w.runJob(t, bare(long))
			for w.clock.Now().Before(began.Add(39 * day)) {
				w.advance(time.Hour)
				require.EqualValues(t, "RUNNING", w.checkStatus(t, bare(long)).Status)
			}
			require.LessOrEqual(t, records.Writes(), 2+39, "a write a day")
			w.advance(13 * day)
			again := redriven(bare(long), 1, w.clock.Now())
			require.EqualValues(t, "RUNNING", w.runJob(t, again).Status)
			require.EqualValues(t, "RUNNING", w.checkStatus(t, again).Status)
			w.advance(9 * day)
			w.service.says(map[string]any{"State": "DONE"}, nil)
			require.EqualValues(t, "SUCCEEDED", w.checkStatus(t, again).Status)
			w.advance(13 * day)
			again = redriven(bare(long), 2, w.clock.Now())
			require.EqualValues(t, "SUCCEEDED", w.runJob(t, again).Status)
			w.advance(50 * day)
			require.EqualValues(t, "SUCCEEDED", w.checkStatus(t, again).Status, "what was replayed lives on")
			require.Equal(t, 1, w.service.count())
			require.Zero(t, records.Removals())
		})
	}
}

// Nobody knows whether the job was started, and the execution is redriven every 13
// days. Were the record gone on day 65, the job would be started a second time.
func TestUnknownStartsStayUnknownHoweverOftenTheyAreRedriven(t *testing.T) {
	t.Parallel()
	for name, expiry := range expiries {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, records := newExpiringWorld(t, expiry)
			_, _, err := invoke(deciding(t.Context(), fates(map[string]fate{"Start": lostAfter})), w.RunJob, bare(request))
			requireError(t, err, unknown)
			for count := range 28 { // a year
				w.advance(13 * day)
				_, err := w.RunJob(t.Context(), json.RawMessage(redriven(bare(request), count+1, w.clock.Now())))
				requireError(t, err, unknown)
			}
			require.Equal(t, 1, w.service.count())
			require.Zero(t, records.Removals())
			require.Equal(t, startrecord.StatusUnknown, w.record(t, key).Status)
		})
	}
}

// A call answers only for a record that lives on: a store that cannot be written to
// is an outage, and not the loss of a record two months later.
func TestRecordsThatCannotBeRenewedAreAnOutage(t *testing.T) {
	t.Parallel()
	w, _ := newExpiringWorld(t, expiries["table"])
	w.runJob(t, bare(request))
	w.advance(2 * day)
	again := redriven(bare(request), 1, w.clock.Now())
	for _, h := range []lambdaFunction{w.RunJob, w.CheckStatus} {
		_, _, err := invoke(deciding(t.Context(), fates(map[string]fate{"Replace": lostBefore})), h, again)
		requireError(t, err, noStore)
	}
	// A second function that renews it at the same time does no harm.
	w.store.take()
	_, _, err := invoke(deciding(t.Context(), func(op string) fate {
		if op == "Replace" {
			stored, err := w.store.Store.Load(t.Context(), key)
			require.NoError(t, err)
			stored.Record.ExpiresAt = w.clock.Now().Add(handler.DefaultRetention)
			_, err = w.store.Store.Replace(t.Context(), key, stored.Record, stored.Version)
			require.NoError(t, err)
		}
		return goesWell
	}), w.CheckStatus, again)
	require.NoError(t, err)
	require.Equal(t, "Load Replace Load", w.store.take())
}

// A retention that leaves little beside the wait and the redrive is renewed more
// often, so that the longest silence still fits.
func TestNarrowRetentionIsRenewedInTime(t *testing.T) {
	t.Parallel()
	c := &clock{now: time.Date(2026, 11, 20, 9, 30, 14, 0, time.UTC)}
	const retention = 20 * day
	records := startrecordtest.NewExpiring(c.Now, startrecordtest.ByAge(retention))
	w := newWorldOn(t, c, records, "none", func(cfg *handler.Config) { cfg.Retention = retention })
	// Six days less four hours.
	const narrow = `{"job": "test:Job", "maxWaitSeconds": 504000, "minDelay": 3600, "endAs": "error"}`
	w.runJob(t, bare(narrow))
	for range 100 {
		w.advance(119 * time.Minute)
		require.EqualValues(t, "RUNNING", w.checkStatus(t, redriven(bare(narrow), 1, w.clock.Now())).Status)
	}
	w.advance(504000*time.Second + 14*day)
	require.EqualValues(t, "RUNNING", w.runJob(t, redriven(bare(narrow), 2, w.clock.Now())).Status)
	require.Zero(t, records.Removals())
	require.Equal(t, 1, w.service.count())
}

// A record that somebody has removed takes no result of a job with it.
func TestResultWithoutARecordIsReportedAllTheSame(t *testing.T) {
	t.Parallel()
	w, records := newExpiringWorld(t, expiries["table"])
	w.runJob(t, bare(request))
	w.service.says(map[string]any{"State": "DONE"}, nil)
	result, _, err := invoke(deciding(t.Context(), func(op string) fate {
		if op == "Describe" {
			w.clock.set(w.clock.Now().Add(handler.DefaultRetention))
		}
		return goesWell
	}), w.CheckStatus, bare(request))
	require.NoError(t, err)
	require.EqualValues(t, "SUCCEEDED", result.Status)
	require.Equal(t, 1, records.Removals())
	require.Equal(t, startrecord.StatusSucceeded, w.record(t, key).Status, "a redrive starts no second job")
}
