package lint

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// A name says what it says in any spelling, and nothing where another word takes it back, limits it, or is of another
// language.
func TestMeaningOfName(t *testing.T) {
	t.Parallel()
	for means, names := range map[Meaning][]string{
		MeansSuccess: {"SUCCEEDED", "success", "Complete", "completed", "COMPLETED_SUCCESSFULLY", "FinishedWithSuccess", "job-completed"},
		MeansFailure: {"FAILED", "error", "Cancelled", "canceled", "ABORTED", "TimedOut", "TIMED_OUT", "timeout", "VALIDATION_FAILED", "INTERNAL_ERROR", "failed-move"},
		MeansRunning: {"RUNNING", "SUBMITTED", "IN_PROGRESS", "InProgress", "queued", "PENDING", "pending_approval", "Converting"},
		MeansEnding:  {"STOPPING", "Cancelling"},
		MeansUnclear: {"completed_with_errors", "COMPLETED_WITH_FAILURES", "CompletedWithWarnings"},
		MeansUnknown: {
			"", "ROLLBACK_SUCCEEDED", "UPDATE_COMPLETE", "SKIPPED", "NOT_STARTED", "FAILED_PARTIALLY", "PARTIALLY_FAILED", "Not RESTORING", "CLOSED", "DONE", "FINISHED",
			"TERMINATED", "STOPPED", "READY", "MISSING", "NO_ERRORS", "NOT_FAILED", "FAILED_OVER", "FAILED_RETRYING", "Suspended", "unsuccessful", "incomplete",
			"fallado", "completado", "fertig", "abgebrochen", "en curso", "失敗", "42",
		},
	} {
		for _, name := range names {
			require.Equal(t, means, meaningOfName(name), name)
		}
	}
}

// Where the name of a status says what it means, the entries of the catalogue say the same, but for a few that wait for
// something else.
func TestNamesAgreeWithCatalogue(t *testing.T) {
	t.Parallel()
	services, err := catalog.AWS().List()
	require.NoError(t, err)
	named, differ := 0, 0
	for _, service := range services {
		for _, listed := range service.Entries {
			e, err := catalog.AWS().Lookup(service.Key, listed.Name)
			require.NoError(t, err)
			if e.Aim() == catalog.AimGone {
				continue
			}
			for _, path := range statusPaths(e) {
				s := readStatus(path, []*catalog.Entry{e})
				for _, value := range s.values {
					by, means := meaningOfName(value), s.judges[0].meanings[value]
					isEnd := by == MeansSuccess || by == MeansFailure
					if !isEnd || means != MeansSuccess && means != MeansFailure && means != MeansRunning {
						continue
					}
					if named++; by != means {
						differ++
					}
				}
			}
		}
	}
	require.Greater(t, named, 500)
	require.Less(t, float64(differ), 0.05*float64(named))
}
