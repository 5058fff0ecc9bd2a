package stepfunctions_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/stepfunctions"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// clientOf answers every call.
func clientOf(t *testing.T, answer func(input map[string]any) any) *stepfunctions.Client {
	t.Helper()
	service, err := models.Load("stepfunctions")
	require.NoError(t, err)
	return stepfunctions.New(service, func(_ context.Context, _ *catalog.Operation, input any) (any, error) {
		return answer(input.(map[string]any)), nil
	})
}

// AWS does the work of a state that has no mock, so it is not asked about one.
func TestNoWorkIsDoneAtAWS(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse([]byte(`{"StartAt": "T", "States": {
		"T": {"Type": "Task", "Resource": "arn:aws:states:::sns:publish", "Parameters": {"TopicArn": "t", "Message": "m"}, "Next": "M"},
		"M": {"Type": "Map", "ItemsPath": "$", "ItemProcessor": {"StartAt": "I", "States": {"I": {"Type": "Succeed"}}}, "Next": "P"},
		"P": {"Type": "Parallel", "Branches": [{"StartAt": "B", "States": {"B": {"Type": "Succeed"}}}], "End": true}}}`))
	require.NoError(t, err)
	asked := 0
	client := clientOf(t, func(input map[string]any) any {
		asked++
		require.Equal(t, map[string]any{"result": "{}"}, input["mock"])
		return map[string]any{"status": "SUCCEEDED"}
	})
	for _, name := range []string{"T", "M", "P"} {
		_, err = client.TestState(t.Context(), nil, stepfunctions.Visit{State: m.State(name), Input: []byte("{}")})
		require.ErrorContains(t, err, "has no result to mock its work with")
		require.Zero(t, asked)
	}
	_, err = client.TestState(t.Context(), nil, stepfunctions.Visit{State: m.State("T"), Input: []byte("{}"), Result: []byte("{}")})
	require.NoError(t, err)
	require.Equal(t, 1, asked)
}

// AWS cuts a long list of findings.
func TestMoreThanAWSLists(t *testing.T) {
	t.Parallel()
	client := clientOf(t, func(input map[string]any) any {
		require.EqualValues(t, "100", input["maxResults"])
		return map[string]any{"result": "FAIL", "truncated": true, "diagnostics": []any{map[string]any{"severity": "ERROR", "code": "X", "message": "m"}}}
	})
	problems, err := client.Validate(t.Context(), []byte(`{}`), asl.Standard)
	require.NoError(t, err)
	require.Len(t, problems, 2)
	require.Equal(t, "note: AWS has more than these 100 findings: mend them, and lint again", problems[1].String())
}
