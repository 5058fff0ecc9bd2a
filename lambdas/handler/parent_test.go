package handler_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
)

// keeping is a driver that keeps the arguments that it was given.
type keeping struct {
	*service

	arguments string
}

func (k *keeping) Idempotency(r jobs.Request) jobs.Idempotency {
	k.arguments = string(r.Arguments)
	return jobs.Idempotency{Class: jobs.NoProtection}
}

// AWS tells parents to send their execution's ID to the executions that they start, so
// it is in the input that these have for a request.
func TestParentsOfNestedExecutionsAreLeftOut(t *testing.T) {
	t.Parallel()
	const parent = `"AWS_STEP_FUNCTIONS_STARTED_BY_EXECUTION_ID": "arn:aws:states:us-east-1:123456789012:execution:Parent:run-1"`
	nested := `{` + parent + `, ` + strings.TrimPrefix(request, "{")
	for name, payload := range map[string]string{
		"bare form": bare(nested),
		"Input":     call(`, "Poller": "default", "Input": ` + nested),
		"event":     call(`, ` + parent + `, "Poller": "default", "Input": ` + request),
	} {
		w := newWorld(t, "token")
		require.EqualValues(t, "RUNNING", w.runJob(t, payload).Status, name)
		require.EqualValues(t, "RUNNING", w.checkStatus(t, payload).Status, name)
		require.EqualValues(t, "RUNNING", w.runJob(t, call(`, "Poller": "default", "Input": `+request)).Status, "it is the same request without it")
		require.Equal(t, 1, w.service.starts)
	}

	// A machine may pass its whole input on as arguments.
	k := &keeping{}
	w := newWorld(t, "token", func(c *handler.Config) {
		k.service = &service{clock: &clock{}}
		registry, err := jobs.NewRegistry(k)
		require.NoError(t, err)
		c.Jobs = registry
	})
	_, _, err := invoke(deciding(t.Context(), fates(map[string]fate{"Start": lostBefore})), w.RunJob,
		bare(`{"job": "test:Job", "maxWaitSeconds": 60, "arguments": {`+parent+`, "Rows": 9007199254740993, "Inner": {"AWS_STEP_FUNCTIONS_X": 1}}}`))
	require.Error(t, err)
	require.JSONEq(t, `{"Rows": 9007199254740993, "Inner": {"AWS_STEP_FUNCTIONS_X": 1}}`, k.arguments)
	require.Contains(t, k.arguments, "9007199254740993")

	_, err = w.RunJob(t.Context(), json.RawMessage(bare(`{"AWS_STEPFUNCTIONS_X": 1, "job": "test:Job", "maxWaitSeconds": 60}`)))
	requireError(t, err, handler.ErrorInvalidRequest, "AWS_STEPFUNCTIONS_X")
}
