package lint_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

func TestParseSaid(t *testing.T) {
	t.Parallel()
	said, err := lint.ParseSaid("done=success,Look:a=b=failure", "busy=running")
	require.NoError(t, err)
	require.Equal(t, map[string]lint.Meaning{"done": lint.MeansSuccess, "Look:a=b": lint.MeansFailure, "busy": lint.MeansRunning}, said)
	for text, want := range map[string]string{
		"done":                      `"done" must be STATUS=MEANING, such as done=success`,
		"=success":                  `"=success" must be STATUS=MEANING, such as done=success`,
		"done=succes":               `"succes" of status "done" must be success, failure or running (did you mean "success"?)`,
		"done=success,done=failure": `status "done" is success and failure: say one of them`,
	} {
		_, err := lint.ParseSaid(text)
		require.EqualError(t, err, want, text)
	}
}

// What the user says of a status counts as what the catalogue says: also of one that the machine does not name, and for one
// Task alone.
func TestSaid(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse([]byte(`{"StartAt": "Wait", "TimeoutSeconds": 3600, "States": {
		"Wait": {"Type": "Wait", "Seconds": 60, "Next": "Look"},
		"Look": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "check"},
			"Retry": [{"ErrorEquals": ["States.TaskFailed"]}], "ResultPath": "$.r", "Next": "Done?"},
		"Done?": {"Type": "Choice", "Choices": [{"Variable": "$.r.Payload.status", "StringEquals": "done", "Next": "Good"},
			{"Variable": "$.r.Payload.status", "StringEquals": "FAILED", "Next": "Wait"}], "Default": "Wait"},
		"Good": {"Type": "Succeed"}}}`))
	require.NoError(t, err)
	for name, c := range map[string]struct {
		said     map[string]lint.Meaning
		severity diag.Severity // of the first finding; 0 for none
		rows     map[string]string
	}{
		"nothing": {nil, diag.Warning, map[string]string{"done": "unknown ", "FAILED": "failure name"}},
		"a failure": {
			map[string]lint.Meaning{"done": lint.MeansSuccess, "FAILED": lint.MeansFailure},
			diag.Danger,
			map[string]string{"done": "success user", "FAILED": "failure user"},
		},
		"a status that the machine does not name": {
			map[string]lint.Meaning{"Look:LOST": lint.MeansFailure, "FAILED": lint.MeansRunning},
			diag.Danger,
			map[string]string{"done": "unknown ", "FAILED": "running user", "LOST": "failure user"},
		},
		"a success that polls on, where a rule leads out another status": {
			map[string]lint.Meaning{"finished": lint.MeansSuccess, "FAILED": lint.MeansRunning},
			diag.Danger,
			map[string]string{"done": "unknown ", "FAILED": "running user", "finished": "success user"},
		},
		"another Task": {map[string]lint.Meaning{"Other:FAILED": lint.MeansRunning}, diag.Warning, map[string]string{"done": "unknown ", "FAILED": "failure name"}},
		"no failure":   {map[string]lint.Meaning{"FAILED": lint.MeansRunning}, 0, map[string]string{"done": "unknown ", "FAILED": "running user"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			findings, loops := lint.CheckLoops(m, lint.Options{Said: c.said})
			require.Len(t, loops, 1)
			rows := map[string]string{}
			for _, row := range loops[0].Rows {
				for _, value := range row.Values {
					rows[value] = string(row.Meaning) + " " + string(row.By)
				}
			}
			require.Equal(t, c.rows, rows)
			if c.severity == 0 {
				require.Empty(t, findings)
				return
			}
			require.Len(t, findings, 1)
			require.Equal(t, lint.StatusPollsOn, findings[0].Rule)
			require.Equal(t, c.severity, findings[0].Severity)
		})
	}
}
