package lint_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog/lint"
)

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
