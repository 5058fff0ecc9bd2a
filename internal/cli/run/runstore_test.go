package run

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/embeddeds3"
	"github.com/jobpoller/jobpoller/internal/shipped"
)

// storeBehindAnEndpoint is an S3 server that is not the run's own. The returned
// flags make a run use it.
func storeBehindAnEndpoint(t *testing.T, middleware func(http.Handler) http.Handler) []string {
	t.Helper()
	server, err := embeddeds3.Start(embeddeds3.Options{Middleware: middleware})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	require.NoError(t, server.CreateBucket("records"))
	t.Setenv("AWS_ACCESS_KEY_ID", server.Keys().AccessKeyID)
	t.Setenv("AWS_SECRET_ACCESS_KEY", server.Keys().SecretAccessKey)
	return []string{"--s3-endpoint", server.URL(), "--bucket", "records"}
}

// sampleRequest is a request for the sample job.
func sampleRequest(t *testing.T, seconds int) string {
	t.Helper()
	input, err := shipped.SampleRequest(shipped.SampleJobInput{Seconds: seconds}, 5*time.Minute)
	require.NoError(t, err)
	return string(input)
}

// A store that takes two creations of one record would let two runs start one
// job: nothing is started on it.
func TestRunRefusesAnEndpointThatIgnoresConditions(t *testing.T) { //nolint:paralleltest // sets the environment
	for _, ignored := range []string{"If-None-Match", "If-Match"} {
		var jobs atomic.Int32
		flags := storeBehindAnEndpoint(t, func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.Contains(r.URL.Path, "/jobs/") {
					jobs.Add(1)
				}
				r.Header.Del(ignored)
				next.ServeHTTP(w, r)
			})
		})
		var stdout, stderr bytes.Buffer
		code := runCommand(t.Context(), append([]string{"run", "-q", "--input", sampleRequest(t, 1)}, flags...), &stdout, &stderr)
		require.Equal(t, kit.ExitFailed, code, "%s%s", &stdout, &stderr)
		require.Contains(t, stdout.String()+stderr.String(), "the store ignores the condition of a write ("+ignored+")")
		require.Zero(t, jobs.Load(), "no job was started")
	}
}

// Two runs of one name, each of which sees that there is none before the other has
// claimed it, run one execution: the job starts once, and both have its result.
func TestRunsOfOneNameStartOneJob(t *testing.T) { //nolint:paralleltest // sets the environment
	var started, looks atomic.Int32
	var reads sync.WaitGroup // the runs that have not yet looked for their name
	reads.Add(2)
	flags := storeBehindAnEndpoint(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			record := strings.HasSuffix(r.URL.Path, "/default/_/record.json")
			if r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/jobs/") && r.Header.Get("If-None-Match") != "" {
				started.Add(1)
			}
			next.ServeHTTP(w, r)
			if r.Method == http.MethodGet && record && looks.Add(1) <= 2 {
				reads.Done()
				reads.Wait() // as behind a second of latency
			}
		})
	})
	input := sampleRequest(t, 1)
	type outcome struct {
		code           int
		stdout, stderr bytes.Buffer
	}
	var runs [2]outcome
	var all sync.WaitGroup
	for i := range runs {
		all.Go(func() {
			args := append([]string{"run", "--name", "nightly", "--input", input, "-o", "json"}, flags...)
			runs[i].code = runCommand(t.Context(), args, &runs[i].stdout, &runs[i].stderr)
		})
	}
	all.Wait()
	for i := range runs {
		require.Equal(t, kit.ExitSucceeded, runs[i].code, "%s%s", &runs[i].stdout, &runs[i].stderr)
		require.Contains(t, runs[i].stdout.String(), `"workedSeconds": 1`)
	}
	require.EqualValues(t, 1, started.Load())
}

// The job has begun, and is noted, before the record says that it was started: a run
// that is killed at any time leaves what the next one goes on with.
func TestJobIsNotedBeforeItIsRecorded(t *testing.T) { //nolint:paralleltest // sets the environment
	var mu sync.Mutex
	var writes []string
	flags := storeBehindAnEndpoint(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			note := func(name, part string) {
				if r.Method == http.MethodPut && strings.Contains(r.URL.Path, part) {
					mu.Lock()
					defer mu.Unlock()
					writes = append(writes, name)
				}
			}
			note("record", "/default/_/record.json") // when it is asked for, and the others when they are done
			next.ServeHTTP(w, r)
			note("note", "/sample-jobs/")
			note("status", "/jobs/")
		})
	})
	for range 4 {
		writes = nil
		var stdout, stderr bytes.Buffer
		code := runCommand(t.Context(), append([]string{"run", "-q", "--input", sampleRequest(t, 0)}, flags...), &stdout, &stderr)
		require.Equal(t, kit.ExitSucceeded, code, "%s%s", &stdout, &stderr)
		require.GreaterOrEqual(t, len(writes), 5)
		started := slices.Index(writes[1:], "record") + 1
		require.Equal(t, "record", writes[0], "STARTING")
		require.Less(t, slices.Index(writes, "note"), started)
		require.Less(t, slices.Index(writes, "status"), started)
	}
}
