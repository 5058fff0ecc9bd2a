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

// pollRing is a definition of so many poll loops in a circle: all states are of one
// loop.
func pollRing(t *testing.T, n int) *asl.StateMachine {
	t.Helper()
	var b strings.Builder
	b.WriteString(`{"StartAt": "Get0", "States": {"End": {"Type": "Succeed"}`)
	for i := range n {
		fmt.Fprintf(&b, `, "Get%d": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:dynamodb:describeExport",
			"Parameters": {"ExportArn.$": "$.arn"}, "ResultPath": "$.r", "Next": "Done%[1]d"},
			"Done%[1]d": {"Type": "Choice", "Choices": [{"Variable": "$.r.ExportDescription.ExportStatus", "StringEquals": "COMPLETED", "Next": "Get%d"},
				{"Variable": "$.r.ExportDescription.ExportStatus", "StringEquals": "FAILED", "Next": "End"}], "Default": "Wait%[1]d"},
			"Wait%[1]d": {"Type": "Wait", "Seconds": 5, "Next": "Get%[1]d"}`, i, (i+1)%n)
	}
	m, err := asl.Parse([]byte(b.String() + "}}"))
	require.NoError(t, err)
	return m
}

// Loops inside of one large loop are read in linear work, too, and each is found.
func TestLoopsInALoopAreReadInLinearWork(t *testing.T) { //nolint:paralleltest // it counts allocations
	work := func(n int) float64 {
		m := pollRing(t, n)
		require.Len(t, lint.Loops(m, lint.Options{}), n)
		return testing.AllocsPerRun(1, func() { lint.Loops(m, lint.Options{}) })
	}
	few := race.Of(40, 20)
	require.Less(t, work(4*few)/work(few), 5.0)
}
