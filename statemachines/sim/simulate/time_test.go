package simulate_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/history"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
)

// The answers of a job have its times where the catalogue knows their members, so a
// report of the run tells how late the end was seen, exactly.
func TestSimulatedJobsTellTheirTimes(t *testing.T) {
	t.Parallel()
	list, err := catalog.AWS().List()
	require.NoError(t, err)
	exact := 0
	for _, s := range list {
		service, err := catalog.AWS().Service(s.Key)
		require.NoError(t, err)
		for name, job := range service.Jobs {
			if job.EndTime == "" {
				continue
			}
			e, err := catalog.Lookup(s.Key, name)
			require.NoError(t, err)
			m := compileJob(t, e)
			r := simulated(t, m, inputOf(e), simulate.Options{Times: true, Specs: []simulate.Spec{{Spread: mock.Exactly(301 * time.Second)}}})
			require.Equal(t, sim.StatusSucceeded, r.Status, "%s: %s", e.FullName(), r.Cause)
			run := history.FromRun(m, r)
			jobs := run.FindJobs(run.FindVisits())
			require.Len(t, jobs, 1, e.FullName())
			late, known, seen := jobs[0].Lateness()
			require.True(t, seen, e.FullName())
			require.True(t, known, e.FullName())
			require.Equal(t, 301*time.Second, jobs[0].Ended.Sub(r.Events[0].Timestamp), e.FullName())
			require.InDelta(t, 29, late.Seconds(), 29, e.FullName())
			if job.StartTime != "" {
				require.Equal(t, r.Events[0].Timestamp, jobs[0].Started, e.FullName())
			}
			exact++
		}
	}
	require.GreaterOrEqual(t, exact, 50)
}

// A job that runs has no end, and one that was stopped the time of that. A Task that ends
// with its job has both times.
func TestTimesOfAJob(t *testing.T) {
	t.Parallel()
	const describe = `{"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:getJobRun", "Parameters": {"JobName": "j", "RunId.$": "$.id"}, "ResultSelector": %s, "ResultPath": "$.%s", %s}`
	const times = `{"Start.$": "$.JobRun.StartedOn", "End.$": "$.JobRun.CompletedOn"}`
	const start = `"Start": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:startJobRun", "Parameters": {"JobName": "j"}, "ResultSelector": {"id.$": "$.JobRunId"}, "Next": "Wait"}, "Wait": {"Type": "Wait", "Seconds": 61, "Next": "%s"}, `
	begin := sim.DefaultStart().UTC()
	at := func(seconds int) string { return begin.Add(time.Duration(seconds) * time.Second).Format(time.RFC3339) }
	for name, tt := range map[string]struct{ definition, want string }{
		"runs": {
			fmt.Sprintf(start, "Get") + `"Get": ` + fmt.Sprintf(describe, `{"JobRun.$": "$.JobRun"}`, "got", `"Next": "Again"`) + `, "Again": {"Type": "Choice", "Choices": [{"Variable": "$.got.JobRun.CompletedOn", "IsPresent": true, "Next": "Wait"}], "Default": "End"}, "End": {"Type": "Pass", "InputPath": "$.got.JobRun.StartedOn", "End": true}`,
			`"` + at(0) + `"`,
		},
		"stopped": {
			fmt.Sprintf(start, "Stop") + `"Stop": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:batchStopJobRun", "Parameters": {"JobName": "j", "JobRunIds.$": "States.Array($.id)"}, "ResultPath": null, "Next": "Get"}, "Get": ` +
				fmt.Sprintf(describe, times, "got", `"OutputPath": "$.got", "End": true`),
			`{"End":"` + at(61) + `","Start":"` + at(0) + `"}`,
		},
		"sync": {
			`"Start": {"Type": "Task", "Resource": "arn:aws:states:::glue:startJobRun.sync", "Parameters": {"JobName": "j"}, "ResultSelector": {"Start.$": "$.StartedOn", "End.$": "$.CompletedOn"}, "End": true}`,
			`{"End":"` + at(600) + `","Start":"` + at(0) + `"}`,
		},
		"sync with numbers": {
			`"Start": {"Type": "Task", "Resource": "arn:aws:states:::batch:submitJob.sync", "Parameters": {"JobDefinition": "d", "JobName": "j", "JobQueue": "q"}, "ResultSelector": {"Start.$": "$.CreatedAt", "End.$": "$.StoppedAt"}, "End": true}`,
			fmt.Sprintf(`{"End": %d, "Start": %d}`, begin.Add(10*time.Minute).UnixMilli(), begin.UnixMilli()),
		},
		"sync under a name": {
			`"Start": {"Type": "Task", "Resource": "arn:aws:states:::codebuild:startBuild.sync", "Parameters": {"ProjectName": "j"}, "ResultSelector": {"Start.$": "$.Build.StartTime", "End.$": "$.Build.EndTime"}, "End": true}`,
			`{"End":"` + at(600) + `","Start":"` + at(0) + `"}`,
		},
	} {
		m, err := asl.Parse([]byte(`{"StartAt": "Start", "States": {` + tt.definition + `}}`))
		require.NoError(t, err, name)
		r := simulated(t, m, map[string]any{}, simulate.Options{Times: true, Specs: []simulate.Spec{{Spread: mock.Exactly(10 * time.Minute)}}})
		require.Equal(t, sim.StatusSucceeded, r.Status, "%s: %s %s", name, r.Error, r.Cause)
		require.JSONEq(t, tt.want, strings.ReplaceAll(string(r.Output), ".000Z", "Z"), name)
	}
}
