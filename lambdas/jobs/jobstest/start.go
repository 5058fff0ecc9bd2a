package jobstest

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"sync"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
)

var nameForm = regexp.MustCompile(`^[a-z][a-z0-9-]*:[A-Z][A-Za-z0-9]*$`)

func testName(h *harness) {
	require.Regexp(h.t, nameForm, h.driver.Name(), "a job's name has the form service:Operation")
	require.Equal(h.t, h.driver.Name(), h.newDriver().Name())
}

// testRef: what Start returns goes through a start record to another process.
func testRef(h *harness) {
	ref := h.start(1)
	verdict, _ := h.verdict(ref)
	require.Equal(h.t, pollcore.Retry, verdict, "Start returns before the job has ended")
	text, err := json.Marshal(ref)
	require.NoError(h.t, err)
	var read jobs.Ref
	require.NoError(h.t, json.Unmarshal(text, &read))
	require.Equal(h.t, ref, read)
	for name, value := range ref {
		require.NotEmpty(h.t, value, "member %s of the reference", name)
	}
	h.driver = h.newDriver()
	h.service.SetStatus(h.c.Statuses.Success[0])
	verdict, reason := h.verdict(read)
	require.Equal(h.t, pollcore.Success, verdict, reason)
}

func testToken(h *harness) {
	i := h.idempotency()
	require.Contains(h.t, []jobs.Class{jobs.ByToken, jobs.ByNaturalKey, jobs.NoProtection}, i.Class)
	require.GreaterOrEqual(h.t, i.Window, 0*i.Window)
	if i.Class != jobs.ByToken {
		require.Zero(h.t, i.Window, "only a token has a window")
	}
	first := h.start(1)
	require.Equal(h.t, 1, h.service.Starts())
	switch i.Class {
	case jobs.ByToken:
		require.Equal(h.t, first, h.start(1), "one token is one job")
		require.Equal(h.t, 1, h.service.Starts(), "one token is one job")
		testTokenOnTheWire(h)
	case jobs.ByNaturalKey:
		require.Equal(h.t, first, h.start(1), "Start adopts the job that is there")
		require.Equal(h.t, 1, h.service.Starts())
	case jobs.NoProtection:
		h.start(1)
		require.Equal(h.t, 2, h.service.Starts(), "the service starts a job a call, or the class is another")
	}
	jobsBefore := h.service.Starts()
	other := h.start(2)
	require.NotEqual(h.t, first, other, "another token is another job")
	require.Equal(h.t, jobsBefore+1, h.service.Starts())
}

func testTokenOnTheWire(h *harness) {
	h.server.take()
	_, err := h.driver.Start(h.t.Context(), h.request(3))
	require.NoError(h.t, err)
	var sent strings.Builder
	for _, r := range h.server.take() {
		sent.WriteString(r.text)
	}
	require.Contains(h.t, sent.String(), token(3), "the token does not reach the service")
}

func testFind(h *harness) {
	if h.idempotency().Class != jobs.ByNaturalKey && !h.canFind() {
		return
	}
	_, found := h.find(1)
	require.False(h.t, found, "nothing is started")
	ref := h.start(1)
	again, found := h.find(1)
	require.True(h.t, found)
	require.Equal(h.t, ref, again)
	_, found = h.find(2)
	require.False(h.t, found, "this is the job of another token")

	// A job that has ended is found too: it must not run again.
	h.service.SetStatus(h.c.Statuses.Success[0])
	again, found = h.find(1)
	require.True(h.t, found)
	require.Equal(h.t, ref, again)

	finder, _ := h.driver.(jobs.Finder)
	h.server.breakAll(breakDown)
	_, found, err := finder.Find(h.t.Context(), h.request(1))
	require.Error(h.t, err, "a service that does not answer says nothing of the job")
	require.False(h.t, found)
	h.server.breakAll(refuse(h.c.Refusal))
	_, found, err = finder.Find(h.t.Context(), h.request(1))
	require.Error(h.t, err, "a service that refuses says nothing of the job")
	require.False(h.t, found)
}

func testStartErrors(h *harness) {
	for _, tt := range []struct {
		name  string
		fault fault
		want  awserror.Class
	}{
		{"refused", refuse(h.c.Refusal), awserror.Refused},
		{"throttled", throttle, awserror.Throttled},
		{"internal error", breakDown, awserror.Fault},
		{"lost request", loseRequest, awserror.Unclear},
	} {
		h.server.breakAll(tt.fault)
		_, err := h.tryStart(h.request(1))
		require.Error(h.t, err, tt.name)
		require.Equal(h.t, tt.want, goerror.Classify(err), "%s: %v", tt.name, err)
		require.NotErrorIs(h.t, err, jobs.ErrArguments, tt.name)
	}
	require.Zero(h.t, h.service.Starts())
	h.server.breakAll(nil)
	h.start(1)
}

// testStartLosesAnswer: a start whose answer is lost is one start.
func testStartLosesAnswer(h *harness) {
	for n, lost := range []fault{loseAnswer, cutAnswer} {
		h.server.loseStart(lost, lost)
		_, err := h.tryStart(h.request(n))
		require.Error(h.t, err)
		require.True(h.t, goerror.Classify(err).MayHaveActed(), "%v", err)
		require.Equal(h.t, n+1, h.service.Starts())
		h.server.breakAll(nil)
		if h.canFind() {
			_, found := h.find(n)
			require.True(h.t, found, "the job runs, only the answer was lost")
		}
		if h.idempotency().Class != jobs.NoProtection {
			h.start(n)
			require.Equal(h.t, n+1, h.service.Starts())
		}
	}
}

// testStartHidesNothing: a client that repeated a start whose answer was lost
// would start a second job, or be refused and hide that the first runs. Only a
// token that is never forgotten makes up for that.
func testStartHidesNothing(h *harness) {
	i := h.idempotency()
	if i.Class == jobs.ByToken && i.Window == 0 {
		return
	}
	h.server.loseStart(loseAnswer, refuse(h.c.Refusal))
	_, err := h.tryStart(h.request(1))
	require.Error(h.t, err)
	require.True(h.t, goerror.Classify(err).MayHaveActed(), "the client repeated a start that may have had its effect: %v", err)

	if i.Class == jobs.NoProtection {
		h.server.loseStart(loseAnswer, nil)
		h.server.take()
		_, err = h.driver.Start(h.t.Context(), h.request(2))
		require.Error(h.t, err)
		require.Len(h.t, h.server.take(), 1, "the client repeated a start that may have had its effect")
		require.Equal(h.t, 2, h.service.Starts())
	}
}

func testCanceled(h *harness) {
	ref := h.start(1)
	h.server.take()
	ctx, cancel := context.WithCancel(h.t.Context())
	cancel()
	_, err := h.driver.Start(ctx, h.request(2))
	require.ErrorIs(h.t, err, context.Canceled)
	require.True(h.t, goerror.Classify(err).MayHaveActed())
	_, err = h.driver.Describe(ctx, ref)
	require.ErrorIs(h.t, err, context.Canceled)
	require.True(h.t, goerror.Passes(err))
	require.Empty(h.t, h.server.take())
}

func testConcurrent(h *harness) {
	const callers = 8
	var group sync.WaitGroup
	var refs [callers]jobs.Ref
	var errs [callers]error
	for i := range callers {
		group.Go(func() {
			// Two callers a token.
			if refs[i], errs[i] = h.driver.Start(h.t.Context(), h.request(i/2)); errs[i] != nil {
				return
			}
			_, err := h.driver.Describe(h.t.Context(), refs[i])
			if result := h.judge.Check(refs[i], nil, err); result.Acceptor == pollcore.NoAcceptor {
				errs[i] = err
			}
		})
	}
	group.Wait()
	want := callers / 2
	if h.idempotency().Class == jobs.NoProtection {
		want = callers
	}
	for i := range callers {
		require.NoError(h.t, errs[i])
		if want < callers {
			require.Equal(h.t, refs[i], refs[i^1], "one token is one job")
		}
	}
	require.Equal(h.t, want, h.service.Starts())
}
