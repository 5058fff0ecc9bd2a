package lint_test

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/lint"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

var update = flag.Bool("update", false, "write the golden files")

func catalogue(t *testing.T) []lint.Entry {
	t.Helper()
	entries, err := lint.Catalog(catalog.AWS(), "", lint.Options{})
	require.NoError(t, err)
	return entries
}

// AWS's own data compares with seven values that are in no enum. They were
// found by other means before there were rules.
func TestKnownDefectsAreFound(t *testing.T) {
	t.Parallel()
	var found []string
	for _, e := range catalogue(t) {
		for _, f := range e.Findings {
			if f.Rule == lint.EnumValue && f.Severity != diag.Note {
				found = append(found, fmt.Sprintf("%s.%s %d %s", e.Service, e.Name, f.Acceptor+1, f.Suggestion))
			}
		}
	}
	require.Equal(t, []string{
		"appconfig.EnvironmentReadyForDeployment 1 READY_FOR_DEPLOYMENT",
		"appconfig.EnvironmentReadyForDeployment 2 ROLLED_BACK",
		"appconfig.EnvironmentReadyForDeployment 3 REVERTED",
		"ec2.ConversionTaskDeleted 1 ",
		"omics.AnnotationStoreDeleted 1 ",
		"omics.AnnotationStoreVersionDeleted 1 ",
		"omics.VariantStoreDeleted 1 ",
	}, found)
}

// These were found by eye, before there were rules: each of AWS's waiters polls on in a
// state that nothing leaves. The catalogue's table has them.
func TestKnownGapsAreFound(t *testing.T) {
	t.Parallel()
	gaps := map[string]string{
		"ec2 VolumeAvailable": "error", "ec2 SubnetAvailable": "failed", "dsql ClusterActive": "FAILED", "iotsitewise PortalActive": "FAILED",
	}
	for name, value := range gaps {
		service, waiter, _ := strings.Cut(name, " ")
		e, err := catalog.Lookup(service, waiter)
		require.NoError(t, err)
		gap := lint.Value{Value: value, Verdict: pollcore.Failure}
		isFound := func(w *pollcore.Waiter) bool {
			return slices.ContainsFunc(lint.Waiter(w, e.Operation, lint.Options{}), func(f lint.Finding) bool {
				return f.Rule == lint.Unclassified && f.Severity == diag.Warning && slices.Contains(f.Values, gap)
			})
		}
		require.True(t, isFound(e.Published()), name)
		require.False(t, isFound(e.Waiter), name)
	}
}

// The waiters of the catalogue's own jobs classify every value of a status.
func TestJobsClassifyEveryValue(t *testing.T) {
	t.Parallel()
	for _, e := range catalogue(t) {
		for _, f := range e.Findings {
			if e.Kind == catalog.AWSJob && f.Rule == lint.Unclassified {
				t.Errorf("%s %s: %s", e.Service, e.Name, f.Message)
			}
		}
	}
}

// What the rules find in AWS's waiters with the ends of the table, and in the catalogue's jobs, by rule:
// DANGER, WARNING and NOTE. With -v it lists them.
func TestFindingsOfTheCatalogue(t *testing.T) {
	t.Parallel()
	type counts struct{ danger, warning, note int }
	found := map[string]counts{}
	for _, e := range catalogue(t) {
		for _, f := range e.Findings {
			c := found[f.Rule]
			t.Logf("%s %s %s %s: %s", f.Severity, f.Rule, e.Service, e.Name, f.Message)
			switch f.Severity {
			case diag.Danger:
				c.danger++
			case diag.Warning:
				c.warning++
			case diag.Note:
				c.note++
			default:
				require.Fail(t, "the text has no known form", "%s %s: %s", e.Service, e.Name, f.Message)
			}
			found[f.Rule] = c
		}
	}
	require.Equal(t, map[string]counts{
		lint.EnumValue:      {3, 4, 6},
		lint.Unclassified:   {0, 43, 301},
		lint.NoFailure:      {0, 14, 78},
		lint.Never:          {2, 0, 0},
		lint.Quantifier:     {0, 2, 0},
		lint.EmptyList:      {0, 0, 97},
		lint.Late:           {0, 2, 0},
		lint.UnmodeledError: {0, 15, 27},
		lint.PollsWrite:     {1, 0, 0},
		lint.Implicit:       {0, 0, 27},
		lint.Name:           {0, 0, 2},
	}, found)
}
