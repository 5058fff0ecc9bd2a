package lint_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
	"github.com/jobpoller/jobpoller/tests/race"
)

// pollLoops is a definition of so many poll loops, one after the other.
func pollLoops(t *testing.T, n int) *asl.StateMachine {
	t.Helper()
	m, err := asl.Parse(pollLoopsText(n))
	require.NoError(t, err)
	return m
}

func pollLoopsText(n int) []byte {
	var b strings.Builder
	b.WriteString(`{"StartAt": "Get0", "States": {`)
	for i := range n {
		fmt.Fprintf(&b, `"Get%d": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:dynamodb:describeExport",
			"Parameters": {"ExportArn.$": "$.arn"}, "ResultPath": "$.r", "Next": "Done%[1]d"},
			"Done%[1]d": {"Type": "Choice", "Choices": [{"Variable": "$.r.ExportDescription.ExportStatus", "StringEquals": "COMPLETED", "Next": "Get%d"}], "Default": "Wait%[1]d"},
			"Wait%[1]d": {"Type": "Wait", "Seconds": 5, "Next": "Get%[1]d"},`, i, i+1)
	}
	fmt.Fprintf(&b, `"Get%d": {"Type": "Succeed"}}}`, n)
	return []byte(b.String())
}

// Each loop is looked at by itself: four times as many cost four times as much.
func TestManyPollLoopsAreCheckedInLinearWork(t *testing.T) { //nolint:paralleltest // it counts allocations
	work := func(n int) float64 {
		m := pollLoops(t, n)
		require.NotEmpty(t, lint.Check(m, lint.Options{}))
		return testing.AllocsPerRun(1, func() { lint.Check(m, lint.Options{}) })
	}
	few := race.Of(100, 20)
	require.Less(t, work(4*few)/work(few), 5.0)
}

// Start calls that the catalogue does not know are looked at together.
func TestManyRepeatedStartsAreCheckedInLinearWork(t *testing.T) { //nolint:paralleltest // it counts allocations
	work := func(n int) float64 {
		m, err := asl.Parse(repeatedStartsText(n))
		require.NoError(t, err)
		types, err := typecheck.New(m, typecheck.Options{Models: models.Load})
		require.NoError(t, err)
		found := lint.Check(m, lint.Options{Types: types})
		repeated := slices.DeleteFunc(found, func(f lint.Finding) bool { return f.Rule != lint.RepeatedStart })
		require.Equal(t, n, len(repeated)) //nolint:testifylint // the text of all would be long
		return testing.AllocsPerRun(1, func() { lint.Check(m, lint.Options{Types: types}) })
	}
	few := race.Of(30, 10)
	require.Less(t, work(4*few)/work(few), 5.0)
}

// repeatedStartsText is a definition of so many jobs, one after the other, each started again after any error.
func repeatedStartsText(n int) []byte {
	var b strings.Builder
	b.WriteString(`{"StartAt": "Start0", "States": {`)
	for i := range n {
		fmt.Fprintf(&b, `"Start%d": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:transfer:startFileTransfer",
			"Parameters": {"ConnectorId": "c", "SendFilePaths": ["/a"]}, "ResultPath": "$.job%[1]d", "Retry": [{"ErrorEquals": ["States.ALL"]}], "Next": "Wait%[1]d"},
			"Wait%[1]d": {"Type": "Wait", "Seconds": 5, "Next": "Get%[1]d"},
			"Get%[1]d": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:transfer:listFileTransferResults",
			"Parameters": {"ConnectorId": "c", "TransferId.$": "$.job%[1]d.TransferId"}, "ResultPath": "$.r", "Next": "Done%[1]d"},
			"Done%[1]d": {"Type": "Choice", "Choices": [{"Variable": "$.r.FileTransferResults[0].StatusCode", "StringEquals": "COMPLETED", "Next": "Start%d"}], "Default": "Wait%[1]d"},`, i, i+1)
	}
	fmt.Fprintf(&b, `"Start%d": {"Type": "Succeed"}}}`, n)
	return []byte(b.String())
}

// However many findings there are, each has its place and its line of the text.
func TestEachOfManyFindingsHasItsPlace(t *testing.T) {
	t.Parallel()
	text := pollLoopsText(100)
	m, err := asl.Parse(text)
	require.NoError(t, err)
	found := lint.Check(m, lint.Options{})
	require.Greater(t, len(found), 100)
	lines := strings.Split(string(text), "\n")
	for _, f := range found {
		steps := strings.Split(f.Pointer, "/")
		require.Positive(t, f.Line, f.Pointer)
		at := lines[f.Line-1][f.Column-1:]
		require.True(t, strings.HasPrefix(at, `"`+steps[len(steps)-1]+`"`), "%s stands at %.40s", f.Pointer, at)
		require.Contains(t, f.Snippet(), steps[len(steps)-1])
	}
}

// A flow may be as long as the text has room for.
func TestLongFlowIsChecked(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	const n = 20_000
	b.WriteString(`{"StartAt": "0", "States": {`)
	for i := range n {
		fmt.Fprintf(&b, `"%d":{"Type":"Pass","Next":"%d"},`, i, i+1)
	}
	fmt.Fprintf(&b, `"%d":{"Type":"Succeed"}}}`, n)
	m, err := asl.Parse([]byte(b.String()))
	require.NoError(t, err)
	require.Empty(t, lint.Check(m, lint.Options{}))
}

// Rules that count several jobs again and again are not followed for minutes: the table says so.
func TestManyCountsAreNotFollowed(t *testing.T) {
	t.Parallel()
	var rules strings.Builder
	for n := range 60 {
		fmt.Fprintf(&rules, `{"Condition": "{%% $count($jobs[Status='FAILED']) > %d and $count($jobs[Status='SUCCEEDED']) > %[1]d %%}", "Next": "Bad"},`, n)
	}
	m, err := asl.Parse([]byte(`{"QueryLanguage": "JSONata", "StartAt": "Get", "TimeoutSeconds": 3600, "States": {
		"Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:batch:describeJobs", "Arguments": {"Jobs": "{% $states.input.ids %}"},
			"Assign": {"jobs": "{% $states.result.Jobs %}"}, "Output": "{% $states.input %}", "Next": "Done?"},
		"Done?": {"Type": "Choice", "Default": "Wait", "Choices": [` + rules.String() + `
			{"Condition": "{% $count($jobs[Status='SUCCEEDED']) = $count($jobs) %}", "Next": "Good"}]},
		"Wait": {"Type": "Wait", "Seconds": 30, "Next": "Get"}, "Good": {"Type": "Succeed"}, "Bad": {"Type": "Fail"}}}`))
	require.NoError(t, err)
	loops := lint.Loops(m, lint.Options{})
	require.Len(t, loops, 1)
	require.Empty(t, loops[0].Rows)
	require.Contains(t, loops[0].Unjudged, "compares so many values")
}
