package lint_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
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
