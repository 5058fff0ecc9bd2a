package lint_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/lint"
)

// of returns the operation of a service with one status, which has values.
func of(t *testing.T, values ...string) *catalog.Operation {
	t.Helper()
	s := &catalog.Service{
		Key:        "press",
		Operations: map[string]*catalog.Operation{"DescribeJob": {OutputShape: "Out"}},
		Shapes: map[string]*catalog.Shape{
			"Out":   {Type: catalog.Structure, Members: catalog.Members{{Name: "State", Target: "State"}}},
			"State": {Type: catalog.String, Enum: values},
		},
	}
	require.NoError(t, s.Link())
	return s.Operations["DescribeJob"]
}

// How values look that no acceptor handles.
func TestLooks(t *testing.T) {
	t.Parallel()
	tests := []struct {
		waiter string
		values map[string]pollcore.Verdict
	}{
		{"JobDone", map[string]pollcore.Verdict{
			"FAILED": "failure", "Failed": "failure", "ClientError": "failure", "SERVICEERROR": "failure", "timed-out": "failure",
			"TimedOut": "failure", "CANCELLED": "failure", "ROLLBACK_COMPLETE": "failure", "COMPLETED_WITH_ERRORS": "failure",
			"stopped": "failure", "UpdateRollbackFailed": "failure", "EXPIRED": "failure", "failed_to_schedule": "failure", "DELETED": "failure",
			"COMPLETE": "success", "Succeeded": "success", "PARTIAL_SUCCESS": "success", "CompletedWithSuccess": "success",
			"RUNNING": "retry", "IN_PROGRESS": "retry", "CREATE_IN_PROGRESS": "retry", "IN_PROGRESS_IN_ERROR": "retry", "ACTIVE": "retry",
			"CANCEL_PENDING": "retry", "NOT_STARTED": "retry", "TemporaryFailure": "retry", "STOP_LIMIT_USAGE_AND_COMPLETE_TASKS": "retry",
			"pausedByFailedStep": "retry", "QUEUED": "retry", "DELETE_FAILED": "failure", "": "retry",
		}},
		{"JobDeleted", map[string]pollcore.Verdict{
			"CREATE_FAILED": "retry", "UPDATE_COMPLETE": "retry", "DELETE_FAILED": "failure", "FAILED": "failure", "CREATED": "retry",
		}},
		{"JobCreated", map[string]pollcore.Verdict{"DELETED": "failure", "UPDATE_FAILED": "retry", "CREATION_FAILED": "failure"}},
	}
	for _, tt := range tests {
		for value, want := range tt.values {
			w := pollcore.MustNew(tt.waiter, pollcore.Succeed(pollcore.Output("State").Is("OVER")), pollcore.Fail(pollcore.Output("State").Is("LOST")))
			got := pollcore.Verdict("")
			for _, f := range lint.Waiter(w, of(t, "OVER", "LOST", value), lint.Options{Only: []string{lint.Unclassified}}) {
				require.Len(t, f.Values, 1)
				require.Equal(t, value, f.Values[0].Value)
				require.False(t, f.Values[0].Known)
				got = f.Values[0].Verdict
			}
			require.Equal(t, want, got, "%s %q", tt.waiter, value)
		}
	}
}
