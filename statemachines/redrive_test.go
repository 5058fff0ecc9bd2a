package statemachines_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// A definition that was stopped shortly before its time was over, or that failed in
// a call, has its whole time anew after a redrive: State.EnteredTime is the old one
// then.
func TestShippedDefinitionsHaveNewTimeAfterARedrive(t *testing.T) {
	t.Parallel()
	inputs := documented(t)
	for _, tt := range shippedCases {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			entry, err := catalog.Lookup(tt.service, tt.entry)
			require.NoError(t, err)
			running, _ := reply(t, entry, pollcore.Retry)
			succeeded, _ := reply(t, entry, pollcore.Success)
			if tt.start == "" { // each call takes its argument from the response before
				for _, response := range []any{running, succeeded} {
					described, _ := response.(values)["ExportDescription"].(values)
					response.(values)["ExportDescription"] = with(described, tt.describes)
				}
			}
			input, err := json.Marshal(inputs[tt.name])
			require.NoError(t, err)
			for _, fails := range []bool{false, true} {
				for _, ends := range []bool{false, true} {
					r := shippedRedrive{tt, entry, running, succeeded, fails, ends}
					r.run(t, input)
				}
			}
		})
	}
}

// shippedRedrive is a definition that was stopped or fails, of a job that ends after
// the redrive or not.
type shippedRedrive struct {
	shippedCase

	of                 *catalog.Entry
	running, succeeded any
	fails, ends        bool
}

func (c *shippedRedrive) run(t *testing.T, input []byte) {
	t.Helper()
	definition, err := statemachines.Definition(c.name)
	require.NoError(t, err)
	m, err := asl.Parse(definition)
	require.NoError(t, err)
	m.TimeoutSeconds = int64(c.waits/time.Second) - 1
	redriven := false
	answers := map[string]func(now time.Duration) any{
		c.start: func(time.Duration) any { return c.started },
		c.stop:  func(time.Duration) any { return values{} },
		c.describe: func(now time.Duration) any {
			switch {
			case c.fails && !redriven && now > c.waits/2:
				return &sim.TaskError{Name: "States.Runtime"} // which nothing catches
			case c.ends && now > c.waits*5/4:
				return c.succeeded
			}
			return c.running
		},
	}
	delete(answers, "") // there is no such call
	o := sim.Options{Clock: sim.NewVirtualClock(sim.DefaultStart()), Handlers: map[string]sim.Handler{}}
	for name, answer := range answers {
		o.Handlers["arn:aws:states:::aws-sdk:"+c.of.Service.ARNName+":"+strings.ToLower(name[:1])+name[1:]] = func(_ context.Context, call sim.Call) (sim.Reply, error) {
			output := answer(call.Time.Sub(sim.DefaultStart()))
			if failed, ok := output.(*sim.TaskError); ok {
				return sim.Reply{}, failed
			}
			return sim.Reply{Output: output}, nil
		}
	}
	r, err := sim.Run(t.Context(), m, input, o)
	require.NoError(t, err)
	if c.fails {
		require.Equal(t, "States.Runtime", r.Error)
	} else {
		require.Equal(t, sim.StatusTimedOut, r.Status)
	}
	stopped := r.Duration()
	redriven, m.TimeoutSeconds = true, 0
	r, err = sim.Redrive(t.Context(), m, r, o)
	require.NoError(t, err)
	if c.ends {
		require.Equal(t, sim.StatusSucceeded, r.Status, "%s: %s", r.Error, r.Cause)
		require.Greater(t, r.Duration(), c.waits*5/4)
		return
	}
	require.Equal(t, "JobPoller.TimedOut", r.Error, r.Cause)
	require.Contains(t, r.Cause, "not finished after ")
	require.InDelta(t, (stopped + c.waits).Seconds(), r.Duration().Seconds(), 150)
}
