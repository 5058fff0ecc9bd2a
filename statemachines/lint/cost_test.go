package lint_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

func TestPollLoops(t *testing.T) {
	t.Parallel()
	const inner = `"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 10, "Next": "P"}, "P": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:getJobRun", "Parameters": {"JobName": "j", "RunId": "r"}` + retried + `, "Next": "C"},
		"C": {"Type": "Choice", "Choices": [{"Variable": "$.S", "StringEquals": "RUNNING", "Next": "W"}], "Default": "E"}, "E": {"Type": "Pass", "End": true}}`
	text := states(
		`"StartAt": "Wait",`,
		`"Wait": {"Type": "Wait", "SecondsPath": "$.wait", "Next": "Items"}`,
		`"Items": {"Type": "Map", "ItemProcessor": {`+inner+`}, "Next": "Both"}`,
		`"Both": {"Type": "Parallel", "Branches": [{"StartAt": "Job", "States": {"Job": {"Type": "Task", "Resource": "arn:aws:states:::glue:startJobRun.sync", "Parameters": {"JobName": "j"}, "End": true}}}, {"StartAt": "No", "States": {"No": {"Type": "Fail"}}}], "Next": "Far"}`,
		`"Far": {"Type": "Map", "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, `+strings.NewReplacer(`"W"`, `"W2"`, `"P"`, `"P2"`, `"C"`, `"C2"`, `"E"`, `"E2"`).Replace(inner)+`}, "Next": "Choose"}`,
		`"Choose": {"Type": "Choice", "Choices": [{"Variable": "$.S", "StringEquals": "RUNNING", "Next": "Wait"}], "Default": "Done"}`,
	)
	m, err := asl.Parse([]byte(text))
	require.NoError(t, err)
	var turns []lint.Turn
	for _, l := range lint.Loops(m, lint.Options{}) {
		turns = append(turns, l.Turn)
	}
	require.Equal(t, []lint.Turn{
		// Wait 2, Map 4 with an iteration of 2 + 2 + 5 + 2 + 2, Parallel 4 with 6 and 1, distributed Map 6, Choice 2
		{States: []string{"Wait", "Items", "Both", "Far", "Choose"}, Events: 38, Transitions: 1 + 5 + 3 + 1 + 1},
		{States: []string{"P", "C", "W"}, Events: 9, Transitions: 3, Wait: 10 * time.Second},
		{States: []string{"P2", "C2", "W2"}, Events: 9, Transitions: 3, Wait: 10 * time.Second},
	}, turns)
	require.Zero(t, turns[0].Lasts())
	require.Zero(t, turns[0].DollarsPerDay())
	require.Equal(t, 2775, turns[1].Turns())
	require.Equal(t, 27_750*time.Second, turns[1].Lasts())
	require.InDelta(t, 0.648, turns[1].DollarsPerDay(), 1e-9)
	require.Positive(t, lint.Turn{Events: 2, Wait: asl.MaxSeconds * time.Second}.Lasts())

	var endless []string
	for _, f := range check(t, text, lint.Options{}) {
		if f.Rule == lint.UnboundedLoop {
			endless = append(endless, f.Pointer)
		}
	}
	require.Equal(t, []string{"/States/Wait", "/States/Items/ItemProcessor/States/W", "/States/Far/ItemProcessor/States/W2"}, endless)

	express := strings.Replace(text, `"ExecutionType": "STANDARD"`, `"ExecutionType": "EXPRESS"`, 1)
	require.False(t, slices.ContainsFunc(check(t, express, lint.Options{}), func(f lint.Finding) bool { return strings.Contains(f.Pointer, "W2") }),
		"an Express child lives for five minutes, and its history has no limit")
}
