package trial_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/trial"
)

// A run takes as long as its answers, and ends however often it calls.
func TestPlay(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse([]byte(`{"StartAt": "Look", "States": {
	  "Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId": "q"}, "End": true,
	    "Retry": [{"ErrorEquals": ["Running"], "IntervalSeconds": 1, "BackoffRate": 1, "MaxAttempts": 99999999}]}}}`))
	require.NoError(t, err)
	for name, put := range map[string]func(*sim.Options, sim.Handler){
		"of the state": func(o *sim.Options, h sim.Handler) { o.StateHandlers = map[string]sim.Handler{"Look": h} },
		"of the resource": func(o *sim.Options, h sim.Handler) {
			o.Handlers = map[string]sim.Handler{m.State("Look").Task.Resource: h}
		},
		"of all Tasks": func(o *sim.Options, h sim.Handler) { o.Handler = h },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := 0
			job := func(polls int) trial.Job {
				calls = 0
				return trial.Job{Input: []byte("{}"), MaxEvents: -1, Answer: func(o *sim.Options) error {
					put(o, func(context.Context, sim.Call) (sim.Reply, error) {
						if calls++; calls != polls {
							return sim.Reply{}, &sim.TaskError{Name: "Running"}
						}
						return sim.Reply{Output: map[string]any{}}, nil
					})
					return nil
				}}
			}
			r, err := trial.Play(t.Context(), m, job(4), trial.Options{Models: models.Load})
			require.NoError(t, err)
			require.Equal(t, 3*time.Second, r.Duration())
			require.Equal(t, 4, calls)
			_, err = trial.Play(t.Context(), m, job(0), trial.Options{Models: models.Load})
			require.ErrorContains(t, err, "it makes more than 50,000 calls")
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_, err = trial.Play(ctx, m, job(4), trial.Options{Models: models.Load})
			require.ErrorIs(t, err, context.Canceled)
		})
	}
}
