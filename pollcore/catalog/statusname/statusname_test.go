package statusname_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/statusname"
)

// A name says what it says in any spelling, and nothing where another word takes it back, limits it, or is of another
// language.
func TestOf(t *testing.T) {
	t.Parallel()
	for means, names := range map[statusname.Meaning][]string{
		statusname.Success: {"SUCCEEDED", "success", "Complete", "completed", "COMPLETED_SUCCESSFULLY", "FinishedWithSuccess", "job-completed"},
		statusname.Failure: {"FAILED", "error", "Cancelled", "canceled", "ABORTED", "TimedOut", "TIMED_OUT", "timeout", "VALIDATION_FAILED", "INTERNAL_ERROR", "failed-move"},
		statusname.Running: {"RUNNING", "SUBMITTED", "IN_PROGRESS", "InProgress", "queued", "PENDING", "pending_approval", "Converting"},
		statusname.Ending:  {"STOPPING", "Cancelling"},
		statusname.Unclear: {"completed_with_errors", "COMPLETED_WITH_FAILURES", "CompletedWithWarnings"},
		statusname.Unknown: {
			"", "ROLLBACK_SUCCEEDED", "UPDATE_COMPLETE", "SKIPPED", "NOT_STARTED", "FAILED_PARTIALLY", "PARTIALLY_FAILED", "Not RESTORING", "CLOSED", "DONE", "FINISHED",
			"TERMINATED", "STOPPED", "READY", "MISSING", "NO_ERRORS", "NOT_FAILED", "FAILED_OVER", "FAILED_RETRYING", "Suspended", "unsuccessful", "incomplete",
			"ZERO_ERRORS", "0_ERRORS", "ERROR_FREE", "FREE_OF_ERRORS", "ERRORS_FIXED", "FAILURE_RECOVERED", "CANCELLING_FAILED", "EVERYTHING_OK",
			"fallado", "completado", "fertig", "abgebrochen", "en curso", "失敗", "42",
		},
	} {
		for _, name := range names {
			require.Equal(t, means, statusname.Of(name), name)
		}
	}
}
