package lint_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog/lint"
)

// An acceptor is said to match nothing only if that is proved.
func TestReach(t *testing.T) {
	t.Parallel()
	status := pollcore.Output("Job.Status")
	parts := pollcore.Output("Job.Parts[].Status")
	truth := func(path string) pollcore.Matcher { return pollcore.Output(path).IsTrue() }
	done := pollcore.Succeed(status.Is("DONE"))
	type options = []pollcore.Option
	tests := []struct {
		name      string
		acceptors options
		want      []string // rule and message, in part
	}{
		{"two values", options{done, pollcore.Fail(status.Is("FAILED"))}, nil},
		{"the same for another state", options{done, pollcore.Fail(status.Is("DONE"))}, []string{"never", "acceptor 1 matches the same"}},
		{"the same again", options{done, pollcore.Succeed(status.Is("DONE"))}, []string{"duplicate", "acceptor 1 says the same"}},
		{"and of two values", options{done, pollcore.Fail(truth("Job.Status == 'FAILED' && Job.Status == 'DONE'"))}, []string{"never", "no value of Job.Status makes it"}},
		{"or of two values", options{done, pollcore.Fail(truth("Job.Status == 'FAILED' || Job.Status == 'QUEUED'"))}, nil},
		{"a value and not it", options{done, pollcore.Fail(truth("Job.Status == 'FAILED' && !(Job.Status == 'FAILED')"))}, []string{"never", "no value of Job.Status"}},
		{"a flag and not it", options{done, pollcore.Fail(truth("Job.Locked && !(Job.Locked)"))}, []string{"never", "no value of Job.Locked"}},
		{"a flag and a value", options{done, pollcore.Fail(truth("Job.Locked && Job.Status == 'FAILED'"))}, nil},
		{"part of what came before", options{done, pollcore.Fail(truth("Job.Status != 'DONE'")), pollcore.Again(status.Is("QUEUED"))}, []string{"never", "acceptor 2"}},
		{"part of it for the same state", options{done, pollcore.Again(truth("Job.Status != 'DONE'")), pollcore.Again(status.Is("QUEUED"))}, []string{"duplicate", "acceptor 2"}},
		{
			"all that two leave nothing of",
			options{done, pollcore.Fail(truth("Job.Locked")), pollcore.Again(truth("!(Job.Locked)")), pollcore.Fail(truth("Job.Status == 'FAILED'"))},
			[]string{"never", "acceptors 2 (Job.Locked == true is failure), 3"},
		},
		{"a weaker one first", options{done, pollcore.Fail(parts.Any("FAILED")), pollcore.Again(parts.All("FAILED"))}, []string{"never", "acceptor 2"}},
		{"a stronger one first", options{done, pollcore.Again(parts.All("FAILED")), pollcore.Fail(parts.Any("FAILED"))}, nil},
		{"an error after any error", options{done, pollcore.Fail(pollcore.AnyError()), pollcore.Again(pollcore.ErrorType("JobLocked"))}, []string{"never", "any error is failure"}},
		{"an error before any error", options{done, pollcore.Again(pollcore.ErrorType("JobLocked")), pollcore.Fail(pollcore.AnyError())}, nil},
		{"a value after any response", options{pollcore.Succeed(pollcore.AnyResponse()), pollcore.Fail(status.Is("FAILED"))}, []string{"never", "any response is success"}},
		// What a function tells apart is not known.
		{"a function", options{done, pollcore.Fail(truth("starts_with(Job.Reason, 'jam') && ends_with(Job.Reason, 'tray')"))}, nil},
		{"an escape", options{done, pollcore.Fail(truth(`Job.Reason == 'it\'s' && Job.Locked`))}, nil},
		{"an empty string", options{done, pollcore.Fail(truth("!(Job.Reason) && Job.Reason != null"))}, nil},
		{"a whole that is not there", options{done, pollcore.Fail(truth("Job == null || Job.Locked && !(Job.Locked)"))}, nil},
		{"numbers", options{done, pollcore.Fail(truth("Job.Copies > `100` && Job.Copies < `50`"))}, nil},
		{"two strings", options{done, pollcore.Fail(truth("Job.Status == Job.Reason && Job.Reason != Job.Status"))}, []string{"never", "no value of"}},
		{"an expected value of no enum", options{done, pollcore.Fail(status.Is("LOST"))}, nil},
		{"input and output", options{done, pollcore.Fail(pollcore.InputOutput("input.JobId == output.Job.Reason").IsTrue())}, nil},
		{"input and not it", options{done, pollcore.Fail(pollcore.InputOutput("input.JobId == 'a' && input.JobId == 'b'").IsTrue())}, []string{"never", "no value of JobId"}},
	}
	s, err := press().Service("press")
	require.NoError(t, err)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := pollcore.MustNew("JobDone", tt.acceptors...)
			findings := lint.Waiter(w, s.Operations["DescribeJob"], lint.Options{Only: []string{lint.Never, lint.Duplicate}})
			if tt.want == nil {
				require.Empty(t, findings)
				return
			}
			require.Len(t, findings, 1)
			require.Equal(t, tt.want[0], findings[0].Rule)
			require.Contains(t, findings[0].Message, tt.want[1])
			require.Equal(t, len(w.Acceptors)-1, findings[0].Acceptor)
		})
	}
}

// Whatever a waiter is, one that is nil or invalid is no panic but a finding.
func TestInvalidWaiters(t *testing.T) {
	t.Parallel()
	empty := ""
	for _, w := range []*pollcore.Waiter{
		nil,
		{},
		{Name: "x", Acceptors: []pollcore.Acceptor{{}}},
		{Name: "X", MinDelay: -1, MaxDelay: 1 << 30, Acceptors: []pollcore.Acceptor{{State: "done", Matcher: pollcore.Matcher{ErrorType: &empty}}}},
		{Name: "X", Acceptors: []pollcore.Acceptor{{State: pollcore.Success, Matcher: pollcore.Matcher{Output: &pollcore.PathMatcher{Path: "a[", Comparator: "is"}}}}},
	} {
		findings := lint.Waiter(w, nil, lint.Options{})
		require.NotEmpty(t, findings)
		require.Equal(t, lint.Format, findings[0].Rule)
	}
}

func TestFindingsAreInOrder(t *testing.T) {
	t.Parallel()
	for _, e := range catalogue(t) {
		for i := 1; i < len(e.Findings); i++ {
			a, b := e.Findings[i-1], e.Findings[i]
			require.LessOrEqual(t, a.Severity, b.Severity)
			if a.Severity == b.Severity {
				require.LessOrEqual(t, a.Acceptor, b.Acceptor)
			}
		}
	}
}
