package sim_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// A run ends where a service would refuse a call, or would never answer so, unless it
// is lenient.
func TestCallsFitTheModels(t *testing.T) {
	t.Parallel()
	const resource = "arn:aws:states:::aws-sdk:glue:getJobRun"
	for _, tt := range []struct{ name, arguments, result, what, problem string }{
		{"right", `{"JobName": "j", "RunId": "r"}`, `{"JobRun": {"JobRunState": "RUNNING", "Attempt": 1}}`, "", ""},
		{"required argument", `{"JobName": "j"}`, `{}`, "arguments", `glue:getJobRun needs the argument "RunId"`},
		{"null", `{"JobName": "j", "RunId": "r"}`, `{"JobRun": null}`, "", ""},
		{"member", `{"JobName": "j", "RunId": "r"}`, `{"JobRun": {"JobRunStat": "RUNNING"}}`, "result", `$.JobRun: JobRun has no member "JobRunStat" (did you mean "JobRunState"?)`},
		{"value", `{"JobName": "j", "RunId": "r"}`, `{"JobRun": {"JobRunState": "RUNNIN"}}`, "result", `$.JobRun.JobRunState: JobRunState is never "RUNNIN" (did you mean "RUNNING"?)`},
		{"type", `{"JobName": "j", "RunId": "r"}`, `{"JobRun": {"Attempt": "1"}}`, "result", `$.JobRun.Attempt: expected a number (integer), found a string`},
		{"in a list", `{"JobName": "j", "RunId": "r"}`, `{"JobRun": {"PredecessorRuns": [{"Job": "a"}]}}`, "result", `$.JobRun.PredecessorRuns[0]: Predecessor has no member "Job"`},
		{"no object", `{"JobName": "j", "RunId": "r"}`, `"done"`, "result", `expected an object, found a string`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := parse(t, `{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "`+resource+`", "Parameters": `+tt.arguments+`, "End": true,
				"Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Caught"}]}, "Caught": {"Type": "Succeed"}}}`)
			o := sim.Options{Models: models.Load, Handlers: map[string]sim.Handler{resource: returns(tt.result)}}
			_, err := sim.Run(t.Context(), m, nil, o)
			if tt.problem == "" {
				require.NoError(t, err)
				return
			}
			var misfit *sim.ModelError
			require.ErrorAs(t, err, &misfit)
			require.Equal(t, &sim.ModelError{State: "T", Resource: resource, What: tt.what, Problems: []string{tt.problem}}, misfit)
			require.Contains(t, err.Error(), "state \"T\": the "+tt.what+" of "+resource)
			var asked []*sim.ModelError
			o.OnMisfit = func(e *sim.ModelError) bool { asked = append(asked, e); return len(asked) < 2 }
			r, err := sim.Run(t.Context(), m, nil, o)
			if tt.what == "result" {
				require.NoError(t, err)
				require.Equal(t, sim.StatusSucceeded, r.Status)
				require.Equal(t, []*sim.ModelError{misfit}, asked)
				_, err = sim.Run(t.Context(), m, nil, o)
			}
			require.ErrorAs(t, err, &misfit, "arguments are not for a service to judge, and false ends the run")
			o.Lenient = true
			r, err = sim.Run(t.Context(), m, nil, o)
			require.NoError(t, err)
			require.Equal(t, sim.StatusSucceeded, r.Status)
		})
	}
}
