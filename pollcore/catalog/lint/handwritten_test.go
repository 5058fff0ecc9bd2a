package lint_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/lint"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// Waiters that people wrote by hand for AWS's services have defects like
// these. Each is found where it stands, against the shapes of the service.
func TestHandwrittenWaiters(t *testing.T) {
	t.Parallel()
	type expected struct {
		rule     string
		severity diag.Severity
		pointer  string // ends so
		message  string // holds
	}
	tests := []struct {
		service  string
		expected []expected
	}{
		{"rds", []expected{
			{lint.Path, diag.Danger, "/acceptors/0/argument", `no member "DBInstances"; this waiter polls DescribeDBClusters, and the output of DescribeDBInstances has one`},
			{lint.Path, diag.Danger, "/acceptors/1/argument", "DBInstances"},
			{lint.Path, diag.Danger, "/acceptors/2/argument", "DBInstances"},
		}},
		{"stepfunctions", []expected{
			{lint.Unclassified, diag.Warning, "/acceptors/0/argument", "TIMED_OUT (a failure)"},
			{lint.Unclassified, diag.Note, "/acceptors/0/argument", "PENDING_REDRIVE"},
		}},
		{"glue", []expected{
			{lint.Unclassified, diag.Warning, "/acceptors/0/argument", "EXPIRED (a failure)"},
			{lint.Unclassified, diag.Note, "/acceptors/0/argument", "WAITING"},
		}},
		{"neptune-graph", []expected{
			{lint.Format, diag.Error, "/acceptors/1/state", `"error"`},
			{lint.Format, diag.Error, "/acceptors/2/state", `"error"`},
			{lint.Format, diag.Error, "/acceptors/3/state", `"error"`},
			{lint.EnumValue, diag.Warning, "/acceptors/3/expected", `found "CREATE_FAILED"`},
			{lint.Unclassified, diag.Warning, "/acceptors/0/argument", "STOPPED (by name a failure)"},
		}},
		{"emr-containers", []expected{
			{lint.PollsWrite, diag.Danger, "/run_cancelled", "CancelJobRun, which by its name changes something"},
			{lint.Path, diag.Danger, "/acceptors/0/argument", `no member "jobRun"; this waiter polls CancelJobRun, and the output of DescribeJobRun has one`},
			{lint.Path, diag.Danger, "/acceptors/1/argument", `no member "jobRun"`},
			{lint.StatusString, diag.Danger, "/acceptors/2/expected", `the string "200"`},
		}},
		{"emr-serverless", []expected{
			{lint.Unclassified, diag.Warning, "/acceptors/0/argument", "SUCCESS (by name a success)"},
		}},
		{"bedrock-agent", []expected{
			{lint.Unclassified, diag.Warning, "/acceptors/0/argument", "STOPPED (a failure)"},
		}},
		{"batch", []expected{
			{lint.Quantifier, diag.Warning, "/acceptors/1/matcher", "anyStringEquals is likely meant"},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.service, func(t *testing.T) {
			t.Parallel()
			findings := lintFile(t, filepath.Join("testdata", "handwritten", tt.service+".json"), lint.FileOptions{Service: tt.service})
			for _, want := range tt.expected {
				require.True(t, slices.ContainsFunc(findings, func(f lint.Finding) bool {
					return f.Rule == want.rule && f.Severity == want.severity && strings.HasSuffix(f.Pointer, want.pointer) && strings.Contains(f.Message, want.message)
				}), "%+v is not among %+v", want, findings)
			}
			severe := 0
			for _, f := range findings {
				if f.Rule == lint.Format {
					require.Equal(t, "failure", f.Suggestion)
				}
				if f.Severity != diag.Note {
					severe++
				}
			}
			// Nothing else is wrong with them but notes.
			for _, want := range tt.expected {
				if want.severity != diag.Note {
					severe--
				}
			}
			require.Zero(t, severe, "%+v", findings)
		})
	}
}
