package sarif_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/lint/sarif"
)

// parsedLog is what a reader of the log sees.
type parsedLog struct {
	Runs []struct {
		Tool struct {
			Driver struct {
				Rules []struct {
					ID string `json:"id"`
				} `json:"rules"`
			} `json:"driver"`
		} `json:"tool"`
		Results []struct {
			RuleID              string            `json:"ruleId"`
			Level               string            `json:"level"`
			PartialFingerprints map[string]string `json:"partialFingerprints"`
			Locations           []struct {
				PhysicalLocation struct {
					ArtifactLocation struct {
						URI string `json:"uri"`
					} `json:"artifactLocation"`
					Region *struct {
						StartLine   int `json:"startLine"`
						StartColumn int `json:"startColumn"`
					} `json:"region"`
				} `json:"physicalLocation"`
			} `json:"locations"`
		} `json:"results"`
	} `json:"runs"`
}

// printedLog writes a log of three rules, and reads it.
func printedLog(t *testing.T, found ...sarif.Finding) (log parsedLog) {
	t.Helper()
	rules := []lint.Rule{{Name: "enum-value", About: "a"}, {Name: "aws", About: "b"}, {Name: "enum-value", About: "of a waiter"}}
	text, err := json.Marshal(sarif.New("1.2.3", rules, found))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &log))
	return log
}

// Findings at one place are results of their own, and a DANGER is an error: SARIF
// has no word between that and a warning.
func TestResultsOfSARIF(t *testing.T) {
	t.Parallel()
	found := []sarif.Finding{
		{File: "a.asl.json", Rule: "enum-value", Pointer: "/States/A", Problem: diag.Problem{Severity: diag.Danger, Line: 1, Column: 2}, Message: "one"},
		{File: "a.asl.json", Rule: "enum-value", Pointer: "/States/A", Problem: diag.Problem{Severity: diag.Warning, Line: 1, Column: 2}, Message: "two"},
		{File: "/b c.asl.json", Rule: "aws", Problem: diag.Problem{Severity: diag.Note}, Message: "three"},
	}
	run := printedLog(t, found...).Runs[0]
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
	first, last := run.Results[0].Locations[0].PhysicalLocation, run.Results[2].Locations[0].PhysicalLocation
	require.Equal(t, "a.asl.json", first.ArtifactLocation.URI)
	require.Equal(t, 1, first.Region.StartLine)
	require.Equal(t, 2, first.Region.StartColumn)
	require.Equal(t, "file:///b%20c.asl.json", last.ArtifactLocation.URI)
	require.Nil(t, last.Region)
}

// What is deployed has its ARN for its URI.
func TestARNInSARIF(t *testing.T) {
	t.Parallel()
	const arn = "arn:aws:states:eu-west-1:123456789012:stateMachine:näc"
	log := printedLog(t, sarif.Finding{File: arn, Rule: "aws", Message: "one"})
	require.Equal(t, "arn:aws:states:eu-west-1:123456789012:stateMachine:n%C3%A4c", log.Runs[0].Results[0].Locations[0].PhysicalLocation.ArtifactLocation.URI)
}

// A finding keeps its fingerprint when its place moves and its message counts otherwise.
func TestFingerprintsOfMovedFindings(t *testing.T) {
	t.Parallel()
	of := func(f sarif.Finding) string {
		f.File, f.Rule = "a.asl.json", "enum-value"
		return printedLog(t, f).Runs[0].Results[0].PartialFingerprints["place/v1"]
	}
	before := of(sarif.Finding{Pointer: "/States/A/Choices/0", Problem: diag.Problem{Line: 3}, Message: "2 of 5"})
	require.Equal(t, before, of(sarif.Finding{Pointer: "/States/A/Choices/4", Problem: diag.Problem{Line: 9}, Message: "3 of 5"}))
	require.NotEqual(t, before, of(sarif.Finding{Pointer: "/States/B/Choices/0"}))
}

// A finding that a comment ignores is suppressed, with the reason. The others of its run say
// that they are not, as SARIF wants it of all or of none.
func TestSuppressions(t *testing.T) {
	t.Parallel()
	suppressed := sarif.Finding{File: "a", Rule: "aws", Suppressed: &sarif.Suppression{Reason: "ticket 12"}}
	for want, found := range map[string][]sarif.Finding{
		`null`: {{File: "a", Rule: "aws"}},
		`[] [{"kind":"inSource","justification":"ticket 12"}] [{"kind":"inSource"}]`: {
			{File: "a", Rule: "aws"}, suppressed, {File: "a", Rule: "aws", Suppressed: &sarif.Suppression{}},
		},
	} {
		text, err := json.Marshal(sarif.New("1", nil, found).Runs[0].Results)
		require.NoError(t, err)
		var results []map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(text, &results))
		var got []string
		for _, r := range results {
			got = append(got, string(r["suppressions"]))
		}
		require.Equal(t, strings.ReplaceAll(want, "null", ""), strings.Join(got, " "))
	}
}
