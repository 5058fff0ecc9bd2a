package lint_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

// pollLoops is a definition of so many poll loops, one after the other.
func pollLoops(t *testing.T, n int) *asl.StateMachine {
	t.Helper()
	var b strings.Builder
	b.WriteString(`{"StartAt": "Get0", "States": {`)
	for i := range n {
		fmt.Fprintf(&b, `"Get%d": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:dynamodb:describeExport",
			"Parameters": {"ExportArn.$": "$.arn"}, "ResultPath": "$.r", "Next": "Done%[1]d"},
			"Done%[1]d": {"Type": "Choice", "Choices": [{"Variable": "$.r.ExportDescription.ExportStatus", "StringEquals": "COMPLETED", "Next": "Get%d"}], "Default": "Wait%[1]d"},
			"Wait%[1]d": {"Type": "Wait", "Seconds": 5, "Next": "Get%[1]d"},`, i, i+1)
	}
	fmt.Fprintf(&b, `"Get%d": {"Type": "Succeed"}}}`, n)
	m, err := asl.Parse([]byte(b.String()))
	require.NoError(t, err)
	return m
}

// Each loop is looked at by itself: four times as many cost four times as much.
func TestManyPollLoopsAreCheckedInLinearWork(t *testing.T) { //nolint:paralleltest // it counts allocations
	work := func(n int) float64 {
		m := pollLoops(t, n)
		require.NotEmpty(t, lint.Check(m, lint.Options{}))
		return testing.AllocsPerRun(1, func() { lint.Check(m, lint.Options{}) })
	}
	require.Less(t, work(400)/work(100), 5.0)
}
