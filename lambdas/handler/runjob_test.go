package handler_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/memstore"
)

func TestRunJobResult(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "token")
	require.JSONEq(t, `{
		"status": "RUNNING", "waitSeconds": 0, "startedAt": "2026-11-20T09:30:14Z", "elapsedSeconds": 0,
		"job": {"Id": "job-1"}, "reason": "the job has started"
	}`, jsonOf(t, w.runJob(t, bare(request))))
	require.Equal(t, "Create Replace", w.store.take())

	// Later calls are told the same; the start does not move.
	w.advance(90500 * time.Millisecond)
	require.JSONEq(t, `{
		"status": "RUNNING", "waitSeconds": 0, "startedAt": "2026-11-20T09:30:14Z", "elapsedSeconds": 90,
		"job": {"Id": "job-1"}, "reason": "the job has started"
	}`, jsonOf(t, w.runJob(t, bare(request))))
	require.Equal(t, "Create Load", w.store.take())
	require.Equal(t, 1, w.service.starts)
}

func TestRunJobInitialDelay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "token")
	payload := bare(`{"job": "test:Job", "maxWaitSeconds": 60, "initialDelay": 45}`)
	require.Equal(t, 45, w.runJob(t, payload).WaitSeconds)
	w.advance(1500 * time.Millisecond)
	require.Equal(t, 44, w.runJob(t, payload).WaitSeconds, "rounded up: a wait does not end too soon")
	w.advance(time.Minute)
	require.Equal(t, 0, w.runJob(t, payload).WaitSeconds)
}

func TestRunJobRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "token", func(c *handler.Config) { c.Retention = 30 * 24 * time.Hour })
	w.runJob(t, call(`, "Poller": "Export", "Scope": "7", "Input": {
		"job": "test:Job", "maxWaitSeconds": 1800, "arguments": {"Password": "hunter2"},
		"minDelay": 5, "initialDelay": 3, "onRunning": "error", "endAs": "error", "onTimeout": "leave", "dwellSeconds": 0
	}`))
	key := startrecord.Key{ExecutionARN: arn, Poller: "Export", Scope: "7"}
	rec := w.record(t, key)
	require.Equal(t, startrecord.StatusStarted, rec.Status)
	require.Equal(t, 1, rec.Generation)
	require.Equal(t, key.Token(time.Date(2026, 11, 20, 9, 30, 13, 5e8, time.UTC)), rec.Token)
	require.Equal(t, rec.Token, w.service.jobs[0].token)
	require.Equal(t, time.Date(2026, 12, 20, 9, 30, 14, 0, time.UTC), rec.ExpiresAt)
	require.JSONEq(t, `{"Id": "job-1"}`, string(rec.JobRef))
	require.JSONEq(t, `{
		"job": "test:Job", "maxWaitSeconds": 1800, "initialDelay": 3, "onRunning": "error", "endAs": "error", "onTimeout": "leave",
		"waiterName": "JobDone",
		"waiter": {
			"acceptors": [
				{"state": "success", "matcher": {"output": {"path": "State", "expected": "DONE", "comparator": "stringEquals"}}},
				{"state": "failure", "matcher": {"output": {"path": "State", "expected": "BROKEN", "comparator": "stringEquals"}}, "message": "Why"},
				{"state": "retry", "matcher": {"errorType": "NotYet"}}
			],
			"minDelay": 5, "maxDelay": 120
		}
	}`, string(rec.Request))
	require.NotContains(t, jsonOf(t, rec), "hunter2")
	require.Equal(t, 10, jobWaiter.MinDelay, "a request must not change the driver's waiter")
}

// The lease is what is left of the invocation, and the margin.
func TestRunJobLease(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		timeout, margin time.Duration
		want            int
	}{
		{30 * time.Second, 0, 35},
		{1500 * time.Millisecond, 2 * time.Second, 4},
		{0, 10 * time.Second, 70},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, "token", func(c *handler.Config) { c.LeaseMargin = tt.margin })
			ctx := t.Context()
			if tt.timeout > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, tt.timeout)
				defer cancel()
			}
			_, died, _ := invoke(deciding(ctx, fates(map[string]fate{"Start": diesBefore})), w.RunJob, bare(request))
			require.True(t, died)
			require.Equal(t, tt.want, w.record(t, key).LeaseSeconds)
		})
	}
}

// hanging is a driver whose Start returns when its caller gives up.
type hanging struct{ *service }

func (h hanging) Start(ctx context.Context, _ jobs.Request) (jobs.Ref, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// Time is virtual: what ends here ends in time on any machine.
func TestInvocationsWithASilentServiceEndBeforeTheirLimit(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		class, failure string
		status         startrecord.Status
	}{
		{"none", handler.ErrorJobStartUnknown, startrecord.StatusUnknown},
		{"token", handler.ErrorServiceUnavailable, startrecord.StatusStarting},
	} {
		for _, limit := range []struct{ whole, left time.Duration }{ // left when the start call is given up
			{time.Second, 625 * time.Millisecond},
			{3 * time.Second, 1125 * time.Millisecond},
			{15 * time.Second, 4500 * time.Millisecond},
			{15 * time.Minute, 14 * time.Minute}, // a call lasts a minute at most
		} {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, tt.class, func(c *handler.Config) {
					registry, err := jobs.NewRegistry(hanging{&service{idempotency: classes[tt.class]}})
					require.NoError(t, err)
					c.Now, c.Jobs = nil, registry
				})
				ctx, cancel := context.WithTimeout(t.Context(), limit.whole)
				defer cancel()
				_, err := w.RunJob(ctx, json.RawMessage(bare(request)))
				requireError(t, err, tt.failure, "deadline exceeded")
				killed, _ := ctx.Deadline()
				require.Equal(t, limit.left, time.Until(killed))
				rec := w.record(t, key)
				require.Equal(t, tt.status, rec.Status)
				require.Zero(t, rec.LeaseSeconds)
			})
		}
	}
}

// Without a deadline of its own an invocation ends with its lease all the same.
func TestRunJobEndsWithItsLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		w := newWorld(t, "token", func(c *handler.Config) {
			registry, err := jobs.NewRegistry(hanging{&service{idempotency: classes["token"]}})
			require.NoError(t, err)
			c.Now, c.Store, c.Jobs = nil, memstore.New(nil), registry
		})
		_, err := w.RunJob(t.Context(), json.RawMessage(bare(request)))
		requireError(t, err, handler.ErrorServiceUnavailable, "may or may not have started", "deadline exceeded")
		require.Less(t, time.Since(began), time.Minute)
		stored, err := w.Store.Load(t.Context(), key)
		require.NoError(t, err)
		require.Zero(t, stored.Record.LeaseSeconds, "given back although the context has ended")
	})
}

// An invocation whose time is over does not start a job that a successor may
// be starting. It has sent nothing, so another may start it at once in every class.
func TestRunJobWithoutTimeLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "none")
	ctx, cancel := context.WithCancel(t.Context())
	w.Store = cancelling{w.store, cancel}
	_, err := w.RunJob(ctx, json.RawMessage(bare(request)))
	requireError(t, err, handler.ErrorServiceUnavailable, "nothing was sent", "no time was left")
	require.Zero(t, w.service.starts)
	require.Equal(t, startrecord.StatusFailed, w.record(t, key).Status)
	w.Store = w.store
	w.runJob(t, bare(request))
	require.Equal(t, 1, w.service.count())
}

// A driver that names no job has perhaps started one.
func TestRunJobWithoutAReference(t *testing.T) {
	t.Parallel()
	for class, want := range map[string]string{"token": unavailable, "none": unknown} {
		w := newWorld(t, class)
		w.service.nameless = true
		_, err := w.RunJob(t.Context(), json.RawMessage(bare(request)))
		requireError(t, err, want, "test:Job returned no reference")
		require.Nil(t, w.record(t, key).JobRef)
		require.NotEqual(t, startrecord.StatusFailed, w.record(t, key).Status)
	}
}

// A reference may hold a URL with what is nobody else's, so the message, which
// the history of the execution keeps, leaves it out. For people to find a job
// that could not be recorded, the log has it, without the secrets of a URL.
func TestRunJobNamesTheJobItCouldNotRecord(t *testing.T) {
	t.Parallel()
	w, log := loggedWorld(t, slog.LevelInfo)
	_, _, err := invoke(deciding(t.Context(), fates(map[string]fate{"Replace": lostBefore})), w.RunJob, bare(request))
	requireError(t, err, handler.ErrorStoreUnavailable, "test:Job has started, but its start record could not be written")
	require.NotContains(t, err.Error(), "job-1")
	require.Contains(t, log.String(), `"job":"test:Job","id":"job-1"`)
}

func TestIDsInTheLogAreWithoutSecrets(t *testing.T) {
	t.Parallel()
	require.Equal(t, "https://jobs.example.com/7 j-1", handler.IDOf(jobs.Ref{"A": "https://me:hunter2@jobs.example.com/7?token=hunter2#hunter2", "B": "j-1"}))
	arn := "arn:aws:dynamodb:us-east-1:123456789012:table/T/export/1"
	require.Equal(t, arn, handler.IDOf(jobs.Ref{"ExportArn": arn}))
}

// cancelling is a store after whose Create the invocation's time is over.
type cancelling struct {
	startrecord.Store

	cancel context.CancelFunc
}

func (s cancelling) Create(ctx context.Context, key startrecord.Key, rec startrecord.Record) (startrecord.Stored, error) {
	defer s.cancel()
	return s.Store.Create(ctx, key, rec)
}

// concurrently makes 16 calls of RunJob at once and counts the jobs and the
// names of the errors that they return.
func concurrently(t *testing.T, w *world) map[string]int {
	t.Helper()
	var all sync.WaitGroup
	begin := make(chan struct{})
	results, failures := make([]*handler.Result, 16), make([]error, 16)
	for i := range results {
		all.Go(func() {
			<-begin
			results[i], failures[i] = w.RunJob(t.Context(), json.RawMessage(bare(request)))
		})
	}
	close(begin)
	all.Wait()
	said := map[string]int{}
	for i, result := range results {
		if failures[i] != nil {
			said[named(t, failures[i]).Type]++
		} else {
			said[result.Job["Id"]]++
		}
	}
	return said
}

func TestRunJobConcurrently(t *testing.T) {
	t.Parallel()
	for class := range classes {
		t.Run(class, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, class)
			said := concurrently(t, w)
			require.Equal(t, 1, w.service.count())
			require.Equal(t, 1, w.service.starts)
			require.GreaterOrEqual(t, said["job-1"], 1)
			require.Equal(t, 16, said["job-1"]+said[handler.ErrorJobStartInProgress])
		})
	}
}

// All of them find the lease over at the same time.
func TestRunJobConcurrentTakeover(t *testing.T) {
	t.Parallel()
	for class := range classes {
		t.Run(class, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, class)
			_, died, _ := invoke(deciding(t.Context(), fates(map[string]fate{"Start": diesAfter})), w.RunJob, bare(request))
			require.True(t, died)
			w.advance(over)
			said := concurrently(t, w)
			require.Equal(t, 1, w.service.count())
			if class == "none" {
				require.Equal(t, startrecord.StatusUnknown, w.record(t, key).Status)
				require.GreaterOrEqual(t, said[handler.ErrorJobStartUnknown], 1)
				require.Equal(t, 16, said[handler.ErrorJobStartUnknown]+said[handler.ErrorJobStartInProgress], "each that reads it writes it, so one may come late each time")
				return
			}
			require.Equal(t, startrecord.StatusStarted, w.record(t, key).Status)
			require.Equal(t, 2, w.record(t, key).Generation, "one took over")
			require.GreaterOrEqual(t, said["job-1"], 1)
			require.Equal(t, 16, said["job-1"]+said[handler.ErrorJobStartInProgress])
		})
	}
}

// churning is a store whose record another invocation changes after every read.
type churning struct{ startrecord.Store }

func (s churning) Load(ctx context.Context, key startrecord.Key) (startrecord.Stored, error) {
	stored, err := s.Store.Load(ctx, key)
	if err == nil {
		_, err = s.Replace(ctx, key, stored.Record, stored.Version)
	}
	return stored, err
}

func TestRunJobGivesWayToOthers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, class string
		first       map[string]fate // of the invocation before
		message     string
	}{
		{"a lease given back", "token", map[string]fate{"Start": lostBefore}, "keep changing the start record memory:"},
		{"a refused start", "none", map[string]fate{"Start": refused}, "keep changing the start record memory:"},
		{"a lease that is over", "token", map[string]fate{"Create": diesAfter}, "its lease of 65 s is 0s old"},
		{"a lease that is over, for good", "none", map[string]fate{"Create": diesAfter}, "its lease of 65 s is 0s old"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, tt.class)
			_, _, _ = invoke(deciding(t.Context(), fates(tt.first)), w.RunJob, bare(request))
			w.advance(over)
			starts := w.service.starts
			w.Store = churning{w.store}
			_, err := w.RunJob(t.Context(), json.RawMessage(bare(request)))
			requireError(t, err, handler.ErrorJobStartInProgress, tt.message)
			require.Equal(t, starts, w.service.starts)
		})
	}
}

func TestRunJobConflict(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "token")
	w.runJob(t, bare(request))
	_, err := w.RunJob(t.Context(), json.RawMessage(bare(`{"job": "test:Job", "maxWaitSeconds": 1801}`)))
	requireError(t, err, handler.ErrorConflict, "belongs to another request", "Poller name", "Scope", "memory:", "the same input as before, or under another name")

	// The order of members and white space do not count.
	w.runJob(t, bare(`{ "maxWaitSeconds":1800,"job":  "test:Job"}`))

	require.Equal(t, 1, w.service.count())
}

// An execution's name can be used again after 90 days.
func TestRunJobNameUsedAgain(t *testing.T) {
	t.Parallel()
	again := strings.NewReplacer("2026-11-20T09:30:13.5Z", "2027-02-28T09:30:13.5Z", "1800", "600").Replace(bare(request))
	for _, earlier := range []struct {
		name  string
		fates map[string]fate
		ends  map[string]any
	}{
		{"ended", nil, map[string]any{"State": "DONE"}},
		{"left running", nil, map[string]any{"State": "RUNNING"}},
		{"died", map[string]fate{"Start": diesBefore}, nil},
		{"unknown", map[string]fate{"Start": lostAfter}, nil},
		{"refused", map[string]fate{"Start": refused}, nil},
	} {
		t.Run(earlier.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "none")
			_, died, err := invoke(deciding(t.Context(), fates(earlier.fates)), w.RunJob, bare(request))
			if earlier.ends != nil {
				require.NoError(t, err)
				w.service.says(earlier.ends, nil)
				w.checkStatus(t, bare(request))
			} else {
				require.True(t, died || err != nil)
			}
			before, rec := w.service.count(), w.record(t, key)

			w.advance(100 * 24 * time.Hour)
			w.service.says(map[string]any{"State": "RUNNING"}, nil)
			_, err = w.CheckStatus(t.Context(), json.RawMessage(again))
			requireError(t, err, handler.ErrorStoreUnavailable, "belongs to an earlier execution of this name", "RunJob must run")
			result := w.runJob(t, again)
			require.EqualValues(t, "RUNNING", result.Status)
			require.Zero(t, result.ElapsedSeconds)
			require.Equal(t, before+1, w.service.count())
			fresh := w.record(t, key)
			require.Equal(t, rec.Generation+1, fresh.Generation)
			require.NotEqual(t, rec.Token, fresh.Token)
			require.Equal(t, w.clock.Now(), fresh.StartedAt)
			require.Empty(t, fresh.Result)
			require.EqualValues(t, "RUNNING", w.checkStatus(t, again).Status)
			require.Equal(t, result.Job, w.runJob(t, again).Job)

			// The earlier one has been closed: what comes of it is a mistake.
			_, err = w.RunJob(t.Context(), json.RawMessage(bare(request)))
			requireError(t, err, handler.ErrorConflict, "belongs to a later execution of this name", "2027-02-28T09:30:13.5Z")
			require.Equal(t, before+1, w.service.count())
		})
	}
}

// No name is free while an invocation of its execution may still act, so a live
// lease is not overruled, whatever the times of the two executions say.
func TestLiveLeaseOutranksALaterExecution(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "none")
	_, died, err := invoke(deciding(t.Context(), fates(map[string]fate{"Start": diesBefore})), w.RunJob, bare(request))
	require.True(t, died || err != nil)
	before := w.service.count()
	later := strings.Replace(bare(request), "2026-11-20T09:30:13.5Z", "2026-11-20T09:30:13.9Z", 1)
	_, err = w.RunJob(t.Context(), json.RawMessage(later))
	requireError(t, err, handler.ErrorJobStartInProgress, "another invocation is starting the job")
	require.Equal(t, before, w.service.count())
}

// Each poller and each scope of an execution has a job of its own.
func TestRunJobKeys(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "token")
	seen := map[string]bool{}
	for _, more := range []string{
		`, "Poller": "A"`, `, "Poller": "B"`, `, "Poller": "A", "Scope": "0"`, `, "Poller": "A", "Scope": 1`, ``,
	} {
		seen[w.runJob(t, call(more+`, "Input": `+request)).Job["Id"]] = true
	}
	require.Len(t, seen, 5)
	require.Equal(t, "job-4", w.runJob(t, call(`, "Poller": "A", "Scope": "1", "Input": `+request)).Job["Id"], "an index is a scope as a number or a string")
	require.Equal(t, "job-5", w.runJob(t, bare(request)).Job["Id"], "the poller without a name is the bare form's")
}

// Executions of every kind have ARNs of their own, and jobs of their own.
func TestRunJobKindsOfExecution(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "token")
	const prefix = "arn:aws:states:us-east-1:123456789012:"
	arns := []string{
		arn,
		prefix + "express:ExportOrders:run-1:0f8fad5b-d9cb-469f-a165-70867728950e", // an Express name can be used again at any time
		prefix + "express:ExportOrders:run-1:7c9e6679-7425-40de-944b-e07fc1f90ae7",
		prefix + "execution:ExportOrders/EachTable:1f8fad5b-d9cb-469f-a165-70867728950e", // a child of a distributed Map
		prefix + "express:ExportOrders/EachTable:run:9f8fad5b-d9cb-469f-a165-70867728950e",
	}
	for i, child := range arns {
		payload := strings.ReplaceAll(bare(request), arn, child)
		for range 2 {
			require.Equal(t, jobs.Ref{"Id": fmt.Sprintf("job-%d", i+1)}, w.runJob(t, payload).Job)
		}
		require.EqualValues(t, "RUNNING", w.checkStatus(t, payload).Status)
	}
	require.Equal(t, len(arns), w.service.count())
}

func TestRunJobReplaysTheEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "token")
	w.runJob(t, bare(request))
	w.service.says(map[string]any{"State": "BROKEN", "Why": "no space"}, nil)
	w.advance(time.Minute)
	ended := w.checkStatus(t, bare(request))
	w.advance(time.Hour)
	again := w.runJob(t, bare(request))
	require.JSONEq(t, jsonOf(t, ended), jsonOf(t, again))
	require.EqualValues(t, "FAILED", again.Status)
}

// refusing is a driver that finds the arguments wrong.
type refusing struct {
	*service

	err error
}

func (r refusing) Start(context.Context, jobs.Request) (jobs.Ref, error) { return nil, r.err }

func TestRunJobStartErrors(t *testing.T) {
	t.Parallel()
	lookup := &smithy.OperationError{ServiceID: "ec2imds", OperationName: "GetMetadata", Err: errors.New("no role")}
	noCredentials := &smithy.OperationError{ServiceID: "Test", OperationName: "Job", Err: lookup}
	tests := []struct {
		name  string
		err   error
		want  string
		parts []string
	}{
		{"arguments", fmt.Errorf("%w of test:Job: no Table", jobs.ErrArguments), handler.ErrorInvalidRequest, []string{"no Table"}},
		{"no credentials", noCredentials, handler.ErrorConfiguration, []string{"test:Job: no usable AWS credentials; configure them", "no role"}},
		{"refused", errRefused, handler.ErrorFailed, []string{"test:Job was refused", "AccessDeniedException", "not for you"}},
		{"throttled", errThrottled, handler.ErrorServiceUnavailable, []string{"test:Job was throttled", "slow down"}},
		{"lost", errLost, handler.ErrorServiceUnavailable, []string{"may or may not have started", "connection reset"}},
		{"unheard of", errors.New("surprise"), handler.ErrorServiceUnavailable, []string{"may or may not have started", "surprise"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "token")
			registry, err := jobs.NewRegistry(refusing{w.service, tt.err})
			require.NoError(t, err)
			w.Jobs = registry
			_, err = w.RunJob(t.Context(), json.RawMessage(bare(request)))
			requireError(t, err, tt.want, tt.parts...)
		})
	}
}

// What a store says is named by whether trying again can help.
func TestRunJobStoreErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		err  error
		want string
	}{
		{startrecord.ErrUnavailable, handler.ErrorStoreUnavailable},
		{startrecord.ErrConfiguration, handler.ErrorConfiguration},
		{startrecord.ErrMalformed, handler.ErrorConfiguration},
		{startrecord.ErrVersion, handler.ErrorConfiguration},
		{startrecord.ErrInvalidKey, handler.ErrorInvalidRequest},
	}
	for _, tt := range tests {
		t.Run(tt.err.Error(), func(t *testing.T) {
			t.Parallel()
			cause := fmt.Errorf("%w: details", tt.err)
			for _, function := range []string{"RunJob", "resuming RunJob", "CheckStatus"} {
				w := newWorld(t, "token")
				var err error
				switch function {
				case "RunJob":
					w.Store = broken{Store: w.store, create: cause}
					_, err = w.RunJob(t.Context(), json.RawMessage(bare(request)))
				case "resuming RunJob":
					w.runJob(t, bare(request))
					w.Store = broken{Store: w.store, load: cause}
					_, err = w.RunJob(t.Context(), json.RawMessage(bare(request)))
				default:
					w.Store = broken{Store: w.store, load: cause}
					_, err = w.CheckStatus(t.Context(), json.RawMessage(bare(request)))
				}
				requireError(t, err, tt.want, tt.err.Error(), "details")
			}
		})
	}
}

// broken is a store that answers with errors where they are set.
type broken struct {
	startrecord.Store

	create, load, replace error
}

func (s broken) Create(ctx context.Context, key startrecord.Key, rec startrecord.Record) (startrecord.Stored, error) {
	if s.create != nil {
		return startrecord.Stored{}, s.create
	}
	return s.Store.Create(ctx, key, rec)
}

func (s broken) Load(ctx context.Context, key startrecord.Key) (startrecord.Stored, error) {
	if s.load != nil {
		return startrecord.Stored{}, s.load
	}
	return s.Store.Load(ctx, key)
}

func (s broken) Replace(ctx context.Context, key startrecord.Key, rec startrecord.Record, version string) (startrecord.Stored, error) {
	if s.replace != nil {
		return startrecord.Stored{}, s.replace
	}
	return s.Store.Replace(ctx, key, rec, version)
}
