package show

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

// The delays of a job, what keeps it from being started twice, and for how long, are
// the same wherever it is used: in show, in the drivers of the functions, in what
// is compiled (by the command and the constructs) and in lint.
func TestJobsAreTheSameEverywhere(t *testing.T) {
	t.Parallel()
	started, repeated := map[jobs.Class]int{}, 0
	entries(t, func(e *catalog.Entry) {
		if e.Job == nil {
			return
		}
		name := e.FullName()
		schedule := pollcore.NewSchedule(e.Waiter, 24*time.Hour)

		text := shown(t, e)
		require.Contains(t, text, "  delay       "+kit.ShortDuration(schedule.Min))
		switch e.Job.Protection() {
		case catalog.ByToken:
			require.Contains(t, text, e.Job.Token+" makes the start call idempotent for "+kit.ShortDuration(e.Job.Window())+"\n")
		case catalog.ByNaturalKey:
			require.Contains(t, text, "choose "+e.Job.NaturalKey.Member)
		case catalog.Unprotected:
			require.Contains(t, text, "  token       none: ")
		}

		driver, err := awsjob.NewDriver(aws.Config{Region: "us-east-1"}, catalog.AWS(), name)
		require.NoError(t, err, name)
		require.Equal(t, [2]int{e.Waiter.MinDelay, e.Waiter.MaxDelay}, [2]int{driver.Waiter().MinDelay, driver.Waiter().MaxDelay}, name)
		promise := driver.Idempotency(jobs.Request{})
		require.Equal(t, jobs.Idempotency{Class: jobs.Class(e.Job.Protection()), Window: e.Job.Window()}, promise, name)
		started[promise.Class]++

		options := compile.Options{Strategy: compile.Variables, MaxWait: 24 * time.Hour, Fit: true}
		compiled, err := compile.Compile(e.Waiter, compile.CallOf(e), options)
		require.NoError(t, err, name)
		definition := string(asl.Print(compiled.Machine))
		if schedule.Max > schedule.Min {
			require.Contains(t, definition, fmt.Sprintf("%d * $power(", int(schedule.Min.Seconds())), name)
		}
		if e.Job.Token != "" {
			require.Contains(t, definition, javasdk.MemberName(e.Job.Token), name)
		}
		again := e.StartsAnother(func(_ string, required bool) bool { return required })
		require.Equal(t, again, repeats(t, e), name)
		if again {
			repeated++
		}
	})
	require.Greater(t, started[jobs.ByToken], 30)
	require.Greater(t, started[jobs.NoProtection], 30)
	require.Equal(t, 2, started[jobs.ByNaturalKey])
	require.Greater(t, repeated, 50)
}

// repeats tells whether lint finds that a Task that starts the job may start it twice.
func repeats(t *testing.T, e *catalog.Entry) bool {
	t.Helper()
	action := javasdk.MemberName(e.Name)
	resource := fmt.Sprintf("arn:aws:states:::aws-sdk:%s:%s", e.Service.ARNName, string(action[0]|0x20)+action[1:])
	text, err := json.Marshal(map[string]any{"StartAt": "Start", "TimeoutSeconds": 60, "States": map[string]any{"Start": map[string]any{
		"Type": "Task", "Resource": resource, "Parameters": map[string]any{"Other": 1}, "End": true,
		"Retry": []any{map[string]any{"ErrorEquals": []string{"States.ALL"}}},
	}}})
	require.NoError(t, err)
	machine, err := asl.Parse(text)
	require.NoError(t, err, "%s", text)
	for _, f := range lint.Check(machine, lint.Options{}) {
		if f.Rule == lint.RepeatedStart {
			return true
		}
	}
	return false
}
