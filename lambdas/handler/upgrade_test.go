package handler_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// Functions that start a job no more look after what they have started of it.
func TestDroppedJobIsPolledToItsEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "token")
	_, err := w.RunJob(t.Context(), json.RawMessage(bare(request)))
	require.NoError(t, err)

	all, err := jobs.NewRegistry(w.service, renamed{w.service})
	require.NoError(t, err)
	w.Jobs, err = all.Only(renamed{w.service})
	require.NoError(t, err)
	require.Equal(t, []string{"other:Job"}, w.Jobs.Names())
	polled, err := w.CheckStatus(t.Context(), json.RawMessage(bare(request)))
	require.NoError(t, err)
	require.Equal(t, pollcore.Running, polled.Status)
	again, err := w.RunJob(t.Context(), json.RawMessage(bare(request)))
	require.NoError(t, err, "a retry of the start")
	require.Equal(t, polled.Job, again.Job)
	require.Equal(t, 1, w.service.starts)

	_, err = w.RunJob(t.Context(), json.RawMessage(strings.Replace(bare(request), "run-1", "run-2", 1)))
	requireError(t, err, handler.ErrorUnknownJob, `is not a job of this function; its jobs: other:Job`)
	_, err = w.RunJob(t.Context(), json.RawMessage(strings.Replace(bare(request), `"StartTime": "2026`, `"StartTime": "2027`, 1)))
	requireError(t, err, handler.ErrorUnknownJob, `is not a job of this function; its jobs: other:Job`)
	rec := w.record(t, key)
	require.Equal(t, startrecord.StatusStarted, rec.Status)
}

// What was refused is not started any more once the job is dropped.
func TestDroppedJobThatWasRefusedIsNotStarted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "token")
	_, _, err := invoke(deciding(t.Context(), fates(map[string]fate{"Start": refused})), w.RunJob, bare(request))
	requireError(t, err, handler.ErrorFailed, "")
	all, err := jobs.NewRegistry(w.service, renamed{w.service})
	require.NoError(t, err)
	w.Jobs, err = all.Only(renamed{w.service})
	require.NoError(t, err)
	_, err = w.RunJob(t.Context(), json.RawMessage(bare(request)))
	requireError(t, err, handler.ErrorUnknownJob, "")
}

// Functions of today take requests and records of earlier ones as those did: they
// start nothing again, and say the same of the job.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	if *writeRecords != "" {
		writeDeployed(t, *writeRecords)
		return
	}
	files, err := filepath.Glob("testdata/upgrade/*/*.json")
	require.NoError(t, err)
	require.Greater(t, len(files), 40)
	for _, file := range files {
		t.Run(strings.TrimSuffix(strings.TrimPrefix(file, "testdata/upgrade/"), ".json"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			var d deployedBefore
			require.NoError(t, json.Unmarshal(text, &d))
			today, service := d.deploy(t)
			runsAgain, checks := d.answers(t.Context(), today)
			requireAnswer(t, d.RunsAgain, runsAgain)
			if d.Checks.Error == handler.ErrorInvalidRequest && checks.Error == handler.ErrorStoreUnavailable {
				// A record that has no job yet may be one that was read late: that was the end
				// of a wait before, and is asked again today.
				d.Checks.Error = handler.ErrorStoreUnavailable
				require.Contains(t, file, "-unclear")
			}
			requireAnswer(t, d.Checks, checks)
			require.Equal(t, d.Starts, service.starts)
		})
	}
}

func requireAnswer(t *testing.T, before, today answered) {
	t.Helper()
	require.Equal(t, before.Error, today.Error)
	require.Equal(t, before.Status, today.Status)
	if before.Job != nil {
		require.JSONEq(t, string(before.Job), string(today.Job))
	}
}
