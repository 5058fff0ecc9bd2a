package lint

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// Findings at one place are results of their own, and a DANGER is an error: SARIF
// has no word between that and a warning.
func TestResultsOfSARIF(t *testing.T) {
	t.Parallel()
	found := []Finding{
		{file: "a.asl.json", Rule: "enum-value", Problem: diag.Problem{Severity: diag.Danger, Pointer: "/States/A", Line: 1, Column: 2, Message: "one"}},
		{file: "a.asl.json", Rule: "enum-value", Problem: diag.Problem{Severity: diag.Warning, Pointer: "/States/A", Line: 1, Column: 2, Message: "two"}},
		{file: "b.asl.json", Rule: awsRule, Problem: diag.Problem{Severity: diag.Note, Message: "three"}},
	}
	run := sarifOf(found).Runs[0]
	rules, fingerprints := map[string]int{}, map[string]bool{}
	for _, r := range run.Tool.Driver.Rules {
		rules[r.ID]++
		require.Equal(t, 1, rules[r.ID], r.ID)
	}
	var levels []string
	for _, r := range run.Results {
		require.Equal(t, 1, rules[r.RuleID], r.RuleID)
		fingerprints[r.PartialFingerprints["place/v1"]] = true
		levels = append(levels, r.Level)
	}
	require.Equal(t, []string{"error", "warning", "note"}, levels)
	require.Len(t, fingerprints, len(found))
	require.Equal(t, &sarifRegion{1, 2}, run.Results[0].Locations[0].PhysicalLocation.Region)
	require.Nil(t, run.Results[2].Locations[0].PhysicalLocation.Region)
}
