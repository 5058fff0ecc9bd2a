package jobstest

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
)

func testWaiter(h *harness) {
	waiter := h.driver.Waiter()
	require.NoError(h.t, waiter.Validate())
	require.Empty(h.t, pollcore.AnalyzeTypes(waiter, outputShape(reflect.TypeFor[jobs.Ref]()), outputShape(reflect.TypeOf(h.c.Output))))
}

// testStatuses: each status has its verdict, and what a later version of the
// service may add keeps waiting.
func testStatuses(h *harness) {
	s := h.c.Statuses
	if h.c.Enum != nil {
		require.ElementsMatch(h.t, h.c.Enum, slices.Concat(s.Running, s.Success, s.Failure),
			"Statuses must say what each value of the SDK's enum means")
	}
	ref := h.start(1)
	later := []string{"FROM_A_LATER_VERSION"}
	for _, group := range []struct {
		want     pollcore.Verdict
		statuses []string
	}{{pollcore.Retry, s.Running}, {pollcore.Retry, later}, {pollcore.Success, s.Success}, {pollcore.Failure, s.Failure}} {
		require.NotEmpty(h.t, group.statuses, "a job needs a status that means %s", group.want)
		for _, status := range group.statuses {
			h.service.SetStatus(status)
			verdict, reason := h.verdict(ref)
			require.Equal(h.t, group.want, verdict, "status %s: %s", status, reason)
		}
	}
}

// testLife follows one job to its success and one to its failure.
func testLife(h *harness) {
	for n, end := range []struct {
		status string
		want   pollcore.Verdict
	}{{h.c.Statuses.Success[0], pollcore.Success}, {h.c.Statuses.Failure[0], pollcore.Failure}} {
		h.service.SetStatus(h.c.Statuses.Running[0])
		ref := h.start(n)
		for _, status := range h.c.Statuses.Running {
			h.service.SetStatus(status)
			verdict, reason := h.verdict(ref)
			require.Equal(h.t, pollcore.Retry, verdict, "status %s: %s", status, reason)
		}
		h.service.SetStatus(end.status)
		verdict, reason := h.verdict(ref)
		require.Equal(h.t, end.want, verdict, "status %s: %s", end.status, reason)
		if verdict == pollcore.Failure {
			require.Contains(h.t, reason, h.c.Reason, "the reason of the failure is not told")
		}
		again, _ := h.verdict(ref)
		require.Equal(h.t, verdict, again)
	}
}

func testOutput(h *harness) {
	ref := h.start(1)
	for _, status := range []string{h.c.Statuses.Failure[0], h.c.Statuses.Success[0]} {
		h.service.SetStatus(status)
		output, err := h.tryDescribe(ref)
		require.NoError(h.t, err)
		text, err := json.Marshal(output)
		require.NoError(h.t, err, "the output has no JSON form")
		require.NotEqual(h.t, "null", string(text))
		if h.c.OwnOutput {
			continue
		}
		h.requireForm("output", output)
		for _, place := range h.c.Timestamps {
			value := output
			for name := range strings.SplitSeq(place, ".") {
				object, _ := value.(map[string]any)
				value = object[name]
			}
			stamp, _ := value.(string)
			_, err := time.Parse(time.RFC3339, stamp)
			require.NoError(h.t, err, "%s is not an RFC 3339 timestamp: %v", place, value)
		}
	}
}

// requireForm requires the form of an SDK integration's result.
func (h *harness) requireForm(place string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			require.False(h.t, unicode.IsLower([]rune(name + " ")[0]), "%s: member %s is not in PascalCase", place, name)
			require.NotEqual(h.t, "ResultMetadata", name)
			h.requireForm(place+"."+name, member)
		}
	case []any:
		for _, item := range v {
			h.requireForm(place+"[]", item)
		}
	case string, bool, json.Number:
	default:
		require.Fail(h.t, "not the form of an SDK integration's result", "%s is a %T: %v; see jobs.Output", place, v, v)
	}
}

// testUnknownRef: a reference that no job has is not a success, although all jobs
// there are have succeeded. Members that are for people may be anything.
func testUnknownRef(h *harness) {
	ref := h.start(1)
	h.service.SetStatus(h.c.Statuses.Success[0])
	verdict, reason := h.verdict(ref)
	require.Equal(h.t, pollcore.Success, verdict, reason)
	counts := 0
	for name := range ref {
		unknown := maps.Clone(ref)
		unknown[name] = "unknown"
		if !h.hasSucceeded(unknown) {
			counts++
		}
	}
	require.Positive(h.t, counts, "whatever the reference names, Describe finds a job that has succeeded")
	require.False(h.t, h.hasSucceeded(jobs.Ref{}), "an empty reference is not a job")
	require.False(h.t, h.hasSucceeded(nil), "no reference is not a job")
}

// hasSucceeded reports whether the job of a reference has succeeded.
func (h *harness) hasSucceeded(ref jobs.Ref) bool {
	output, err := h.tryDescribe(ref)
	return h.judge.Check(ref, output, err).Verdict == pollcore.Success
}

func testDescribeErrors(h *harness) {
	ref := h.start(1)
	for name, f := range map[string]fault{
		"throttled": throttle, "internal error": breakDown, "lost request": loseRequest, "lost answer": loseAnswer, "half an answer": cutAnswer,
	} {
		h.server.breakAll(f)
		_, err := h.tryDescribe(ref)
		require.Error(h.t, err, name)
		require.True(h.t, goerror.Passes(err), "%s says nothing of the job: %v", name, err)
	}
	h.server.breakAll(refuse(h.c.Refusal))
	_, err := h.tryDescribe(ref)
	h.requireRefusal(err)
	h.server.breakAll(nil)
	verdict, _ := h.verdict(ref)
	require.Equal(h.t, pollcore.Retry, verdict)
}

// requireRefusal requires the service's own error.
func (h *harness) requireRefusal(err error) {
	h.t.Helper()
	require.Error(h.t, err)
	require.False(h.t, goerror.Passes(err), "the service refuses: %v", err)
	judge, compileErr := pollcore.Compile[any, any](pollcore.MustNew("Refused", pollcore.Succeed(pollcore.ErrorType(h.c.Refusal))))
	require.NoError(h.t, compileErr)
	require.Equal(h.t, pollcore.Success, judge.Check(nil, nil, err).Verdict, "an errorType acceptor does not find %s in: %v", h.c.Refusal, err)
}
