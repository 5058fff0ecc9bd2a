package lambdajob_test

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs/lambdajob"
	"github.com/jobpoller/jobpoller/pollcore"
)

// The SDK sends a write again whose answer was lost, and is told that the
// object is there: it is, and it is ours.
func TestClaimWhoseAnswerIsLost(t *testing.T) {
	t.Parallel()
	for name, n := range map[string]int{"once": 1, "each time": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, breaking(http.MethodPut, n, internalError), idle)
			job, err := lambdajob.Claim(t.Context(), w.s3, event)
			require.NoError(t, err)
			require.NoError(t, job.Succeed(t.Context(), nil))
			_, err = lambdajob.Claim(t.Context(), w.s3, event)
			require.ErrorIs(t, err, lambdajob.ErrClaimed)
		})
	}
}

func TestClaimConcurrently(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, idle)
	var won, lost atomic.Int32
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			_, err := lambdajob.Claim(t.Context(), w.s3, event)
			switch {
			case err == nil:
				won.Add(1)
			case errors.Is(err, lambdajob.ErrClaimed):
				lost.Add(1)
			}
		})
	}
	all.Wait()
	require.EqualValues(t, 1, won.Load())
	require.EqualValues(t, 15, lost.Load())
}

// What is there already belongs to somebody else, whatever it says.
func TestClaimOfAnotherJob(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		`{"Status": "running", "Claim": "another"}`: "another invocation has claimed the job",
		`{"Status": "running", "Claim": 7}`:         "another invocation has claimed the job",
		`{}`:                                        "another invocation has claimed the job",
		`garbage`:                                   "not valid JSON",
	} {
		w := newWorld(t, nil, idle)
		ref := w.put(t, content)
		job, err := lambdajob.Claim(t.Context(), w.s3, event)
		require.ErrorContains(t, err, want)
		require.Nil(t, job)
		if content != "garbage" {
			require.ErrorIs(t, err, lambdajob.ErrClaimed)
			_, _, output, err := describe(t, w, ref)
			require.NoError(t, err)
			require.NotContains(t, output, "Result")
		}
	}
}

func TestClaimThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	denied := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPut {
				internalError(w, r)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
	w := newWorld(t, denied, idle)
	_, err := lambdajob.Claim(t.Context(), w.s3, event)
	require.NotErrorIs(t, err, lambdajob.ErrClaimed)
	require.ErrorContains(t, err, "write job status running to s3://status/team/jobs/")
	require.ErrorContains(t, err, "InternalError")
	require.ErrorContains(t, err, "NoSuchKey")
}

func TestClaimOfAnEventWithoutStatus(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, idle)
	for _, e := range []lambdajob.Event{{}, {StatusBucket: "status"}, {StatusKey: "k"}} {
		_, err := lambdajob.Claim(t.Context(), w.s3, e)
		require.ErrorContains(t, err, "statusBucket and statusKey")
	}
}

// A result that the poller could not read is refused where it is made, and the
// job can still fail.
func TestSucceedWithABadResult(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, idle)
	job, err := lambdajob.Claim(t.Context(), w.s3, event)
	require.NoError(t, err)
	require.ErrorContains(t, job.Succeed(t.Context(), func() {}), "status of the job is not JSON")
	err = job.Succeed(t.Context(), strings.Repeat("x", 256<<10))
	require.ErrorContains(t, err, "status succeeded has 2622")
	require.ErrorContains(t, err, "at most 262144: keep large results in S3")
	ref := w.start(t, `{"FunctionName": "work"}`)
	verdict, _, _, err := describe(t, w, ref)
	require.NoError(t, err)
	require.Equal(t, pollcore.Retry, verdict, "the status is the one before")
	require.NoError(t, job.Fail(t.Context(), "result too large"))
	verdict, _, _, err = describe(t, w, ref)
	require.NoError(t, err)
	require.Equal(t, pollcore.Failure, verdict)
}
