package scale_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/localloop"
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/memstore"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// usage is what jobs take, on average or in all.
type usage struct {
	transitions, describes, late, worst float64
	functions                           float64 // invocations of run-job and check-status
}

// machine is a compiled machine that runs training jobs.
type machine struct {
	*asl.StateMachine

	maxWait time.Duration
}

func compileMachine(t *testing.T, strategy compile.Strategy, delay, maxWait int) machine {
	t.Helper()
	resolved, err := catalog.AWS().Resolve(trainingJob)
	require.NoError(t, err)
	call := compile.CallOf(resolved.Entry)
	call.Stop = nil
	options := compile.Options{
		Strategy: strategy, MaxWait: time.Duration(maxWait) * time.Second,
		MinDelay: time.Duration(delay) * time.Second, MaxDelay: time.Duration(delay) * time.Second,
	}
	compiled, err := compile.Compile(resolved.Waiter, call, options)
	require.NoError(t, err)
	return machine{compiled.Machine, options.MaxWait}
}

// run runs an execution for a job that begins now.
func (m machine) run(t *testing.T, j *job) usage {
	t.Helper()
	clock := sim.NewVirtualClock(sim.DefaultStart())
	now := func() int64 { return int64(clock.Now().Sub(sim.DefaultStart()) / time.Second) }
	run := *j
	run.number, run.startsAt, run.endsAt, run.seenAt = 0, 0, j.endsAt-j.startsAt, j.seenAt-j.startsAt
	s, err := newService(trainingJob, now, []*job{&run})
	require.NoError(t, err)
	s.meter = newMeter(quota{perSecond: 1, most: 1}) // one execution alone is never throttled
	run.of = s
	registry, err := jobs.NewRegistry(s)
	require.NoError(t, err)
	h, err := handler.New(handler.Config{Store: memstore.New(clock.Now), Jobs: registry, Now: clock.Now, NoDwell: true})
	require.NoError(t, err)
	var u usage
	invoke := sim.LambdaInvoke(localloop.Functions(h))
	result, err := sim.Run(t.Context(), m.StateMachine, []byte(argumentsOf(&run)), sim.Options{Clock: clock, Handlers: map[string]sim.Handler{
		"arn:aws:states:::aws-sdk:sagemaker:createTrainingJob": func(context.Context, sim.Call) (sim.Reply, error) {
			return sim.Reply{Output: map[string]any{"TrainingJobArn": "arn"}}, nil
		},
		"arn:aws:states:::aws-sdk:sagemaker:describeTrainingJob": func(ctx context.Context, _ sim.Call) (sim.Reply, error) {
			output, err := s.Describe(ctx, jobs.Ref{s.idMember: run.id()})
			return sim.Reply{Output: output}, err
		},
		"arn:aws:states:::sagemaker:createTrainingJob.sync": func(context.Context, sim.Call) (sim.Reply, error) {
			lasts := time.Duration(run.endsAt) * time.Second
			if run.ends == pollcore.Failed {
				cause, err := json.Marshal(run.answer(run.endsAt))
				return sim.Reply{}, firstError(err, &sim.TaskError{Name: "States.TaskFailed", Cause: string(cause), Latency: lasts})
			}
			return sim.Reply{Output: run.answer(run.endsAt), Latency: lasts, Submitted: map[string]any{}}, nil
		},
		"arn:aws:states:::lambda:invoke": func(ctx context.Context, call sim.Call) (sim.Reply, error) {
			u.functions++
			return invoke(ctx, call)
		},
		// The collector answers; a world has measured when.
		"arn:aws:states:::lambda:invoke.waitForTaskToken": func(context.Context, sim.Call) (sim.Reply, error) {
			return sim.Reply{
				Output: map[string]any{"status": run.ends, "reason": "it has ended"}, Submitted: map[string]any{},
				Latency: time.Duration(run.endsAt) * time.Second,
			}, nil
		},
	}})
	require.NoError(t, err)
	want := sim.StatusSucceeded
	if run.ends != pollcore.Succeeded {
		want = sim.StatusFailed
	}
	require.Equal(t, want, result.Status, result.Trace())
	u.transitions, u.describes = float64(result.Transitions), float64(s.meter.calls)
	u.late = (result.Duration() - min(m.maxWait, time.Duration(run.endsAt)*time.Second)).Seconds()
	u.worst = u.late
	return u
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// sample runs executions for every so many of the jobs, and returns the mean.
func (m machine) sample(t *testing.T, all []*job, every int) usage {
	t.Helper()
	var mean usage
	n := 0.0
	for i := 0; i < len(all); i += every {
		u := m.run(t, all[i])
		n++
		mean.transitions += u.transitions
		mean.describes += u.describes
		mean.functions += u.functions
		mean.late += u.late
		mean.worst = max(mean.worst, u.worst)
	}
	mean.transitions /= n
	mean.describes /= n
	mean.functions /= n
	mean.late /= n
	return mean
}
