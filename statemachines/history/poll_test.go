package history_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/history"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
)

// jobsOf are the jobs that the Tasks of a definition poll. What a Task calls is
// answered in turn, the last answer for good: with an error if it is one.
func jobsOf(t *testing.T, definition, input string, answers map[string][]any) (*sim.Result, []*history.Job) {
	t.Helper()
	m, err := asl.Parse([]byte(definition))
	require.NoError(t, err)
	handlers := map[string]sim.Handler{}
	for resource, all := range answers {
		n := 0
		handlers[resource] = func(context.Context, sim.Call) (sim.Reply, error) {
			answer := all[min(n, len(all)-1)]
			n++
			if err, ok := answer.(error); ok {
				return sim.Reply{}, err
			}
			return sim.Reply{Output: answer, Latency: time.Second}, nil
		}
	}
	r, err := sim.Run(t.Context(), m, []byte(input), sim.Options{Handlers: handlers})
	require.NoError(t, err)
	e := history.FromRun(m, r)
	return r, e.FindJobs(e.FindVisits())
}

func statuses(j *history.Job) []string {
	var all []string
	for _, c := range j.Changes() {
		all = append(all, c.Status+" "+string(c.Verdict))
	}
	return all
}

// A compiled machine sets a deadline of its own and is throttled on the way.
func TestJobOfACompiledMachine(t *testing.T) {
	t.Parallel()
	text, err := statemachines.Definition("dynamodb-export-variables")
	require.NoError(t, err)
	export := func(status, end string) any {
		d := map[string]any{"ExportStatus": status, "ExportArn": "arn"}
		if end != "" {
			d["EndTime"] = end
		}
		return map[string]any{"ExportDescription": d}
	}
	r, jobs := jobsOf(t, string(text), `{"TableArn": "arn:aws:dynamodb:eu-west-1:111111111111:table/t", "S3Bucket": "exports"}`, map[string][]any{
		"arn:aws:states:::aws-sdk:dynamodb:exportTableToPointInTime": {export("IN_PROGRESS", "")},
		"arn:aws:states:::aws-sdk:dynamodb:describeExport": {
			export("IN_PROGRESS", ""), &sim.TaskError{Name: "DynamoDb.SdkClientException", Cause: "slow down"}, export("IN_PROGRESS", ""), export("COMPLETED", "2026-01-01T00:00:40Z"),
		},
	})
	require.Equal(t, sim.StatusSucceeded, r.Status, r.Cause)
	require.Len(t, jobs, 1)
	require.Equal(t, "dynamodb:DescribeExport", jobs[0].Operation)
	require.Equal(t, "dynamodb:ExportTableToPointInTime", jobs[0].Entry.FullName())
	require.Equal(t, "arn", jobs[0].ID)
	require.Equal(t, []string{"IN_PROGRESS retry", "COMPLETED success"}, statuses(jobs[0]))
	require.Equal(t, []history.CallFailure{{Error: "DynamoDb.SdkClientException", Cause: "slow down", Count: 1, First: 1, Last: 1}}, jobs[0].Failures())
	late, exact, known := jobs[0].Lateness()
	require.True(t, exact && known)
	require.Equal(t, jobs[0].Polls[3].Answered.Sub(r.Start)-40*time.Second, late)
	require.True(t, jobs[0].Deadline.After(r.Stop), "the machine has one")
}

// A call that failed saw nothing: the job may have ended before it.
func TestLatenessCountsAnswersAlone(t *testing.T) {
	t.Parallel()
	_, jobs := jobsOf(t, `{"StartAt": "Get", "States": {
		"Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId": "q"},
			"Retry": [{"ErrorEquals": ["E"], "IntervalSeconds": 20}], "Next": "Done?"},
		"Done?": {"Type": "Choice", "Choices": [{"Variable": "$.QueryExecution.Status.State", "StringEquals": "RUNNING", "Next": "Wait"}], "Default": "End"},
		"Wait": {"Type": "Wait", "Seconds": 10, "Next": "Get"}, "End": {"Type": "Succeed"}}}`, `{}`, map[string][]any{
		"arn:aws:states:::aws-sdk:athena:getQueryExecution": {query("RUNNING"), &sim.TaskError{Name: "E"}, query("FAILED")},
	})
	require.Len(t, jobs, 1)
	require.Equal(t, 2, jobs[0].EndPoll())
	late, exact, known := jobs[0].Lateness()
	require.True(t, known)
	require.False(t, exact)
	require.Equal(t, 32*time.Second, late)
}

// Nothing is known of the time between a job's start and the first poll.
func TestLatenessOfTheFirstPoll(t *testing.T) {
	t.Parallel()
	const start = "arn:aws:states:::aws-sdk:athena:startQueryExecution"
	for _, id := range []string{"$.id.QueryExecutionId", "$.other"} {
		_, jobs := jobsOf(t, `{"StartAt": "Before", "States": {"Before": {"Type": "Wait", "Seconds": 60, "Next": "Start"},
			"Start": {"Type": "Task", "Resource": "`+start+`", "Parameters": {"QueryString": "SELECT 1"}, "ResultPath": "$.id", "Next": "Wait"},
			"Wait": {"Type": "Wait", "Seconds": 300, "Next": "Get"},
			"Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId.$": "`+id+`"}, "End": true}}}`,
			`{"other": "p"}`, map[string][]any{
				start: {map[string]any{"QueryExecutionId": "q"}},
				"arn:aws:states:::aws-sdk:athena:getQueryExecution": {query("SUCCEEDED")},
			})
		require.Len(t, jobs, 1)
		late, exact, known := jobs[0].Lateness()
		require.True(t, known)
		require.False(t, exact)
		require.Equal(t, 302*time.Second, late, "since the start call")
	}
}

// What check-status returns is read as its verdict, and the job's own status too.
func TestJobOfTheLambdaFunctions(t *testing.T) {
	t.Parallel()
	result := func(status, own string) any {
		return map[string]any{"Payload": map[string]any{
			"status": status, "waitSeconds": 5, "attempt": 1, "startedAt": "2026-01-01T00:00:00Z", "elapsedSeconds": 1, "reason": "", "job": map[string]any{"name": "athena:StartQueryExecution", "id": "q"},
			"output": map[string]any{"QueryExecution": map[string]any{"Status": map[string]any{"State": own, "CompletionDateTime": "2026-01-01T00:00:04Z"}}},
		}}
	}
	n := 0
	m, err := asl.Parse([]byte(statemachines.LambdaPoller()))
	require.NoError(t, err)
	r, err := sim.Run(t.Context(), m, []byte(`{"job": "athena:StartQueryExecution", "maxWaitSeconds": 600, "arguments": {}}`), sim.Options{Handlers: map[string]sim.Handler{
		"arn:aws:states:::lambda:invoke": func(context.Context, sim.Call) (sim.Reply, error) {
			n++
			if n < 4 {
				return sim.Reply{Output: result("RUNNING", "QUEUED")}, nil
			}
			return sim.Reply{Output: result("SUCCEEDED", "SUCCEEDED")}, nil
		},
	}})
	require.NoError(t, err)
	require.Equal(t, sim.StatusSucceeded, r.Status)
	e := history.FromRun(m, r)
	jobs := e.FindJobs(e.FindVisits())
	require.Len(t, jobs, 1, "run-job does not poll")
	require.Equal(t, []string{"QUEUED retry", "SUCCEEDED success"}, statuses(jobs[0]))
	require.Equal(t, time.Date(2026, 1, 1, 0, 10, 0, 0, time.UTC), jobs[0].Deadline)
	require.Equal(t, time.Date(2026, 1, 1, 0, 0, 4, 0, time.UTC), jobs[0].Ended)
}

// A machine with a schedule polls one job, whose Task each delay has and whose errors
// name the delay.
func TestJobOfAMachineWithASchedule(t *testing.T) {
	t.Parallel()
	e, err := catalog.Lookup("dynamodb", "ExportTableToPointInTime")
	require.NoError(t, err)
	planned := pollcore.Planned{Delays: []time.Duration{30 * time.Second, 5 * time.Second, 20 * time.Second}, Then: time.Minute}
	for _, strategy := range []compile.Strategy{compile.RetryTask, compile.LambdaRetry} {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			c, err := compile.Compile(e.Waiter, compile.CallOf(e), compile.Options{Strategy: strategy, MaxWait: time.Hour, Schedule: &planned})
			require.NoError(t, err)
			plan, err := simulate.New(c.Machine, simulate.Options{Specs: []simulate.Spec{{Spread: mock.Exactly(3 * time.Minute)}}, Models: models.Load})
			require.NoError(t, err)
			mocks, err := plan.Mocks()
			require.NoError(t, err)
			o := sim.Options{Clock: sim.NewVirtualClock(sim.DefaultStart())}
			require.NoError(t, mocks.Apply(c.Machine, "", &o))
			if strategy == compile.LambdaRetry {
				polls := 0
				o.Handlers = map[string]sim.Handler{"arn:aws:states:::lambda:invoke": func(_ context.Context, call sim.Call) (sim.Reply, error) {
					if call.State == "CheckStatus" {
						polls++
					}
					if polls > 0 && polls < 6 {
						return sim.Reply{}, &sim.TaskError{Name: fmt.Sprintf("JobPoller.Running.%g", planned.Before(polls+1).Seconds())}
					}
					return sim.Reply{Output: map[string]any{"Payload": map[string]any{"status": "SUCCEEDED", "waitSeconds": 30}}}, nil
				}}
			}
			r, err := sim.Run(t.Context(), c.Machine, []byte(`{"TableArn": "arn:aws:dynamodb:us-east-1:123456789012:table/Orders", "S3Bucket": "exports"}`), o)
			require.NoError(t, err)
			require.Equal(t, sim.StatusSucceeded, r.Status, r.Cause)
			h := history.FromRun(c.Machine, r)
			jobs := h.FindJobs(h.FindVisits())
			require.Len(t, jobs, 1)
			var at []int
			for _, p := range jobs[0].Polls {
				at = append(at, int(p.At.Sub(sim.DefaultStart()).Seconds()))
				require.NotEqual(t, history.CallFailed, p.Verdict)
			}
			require.Equal(t, []int{30, 35, 55, 115, 175, 235}, at)
			require.Equal(t, 5, jobs[0].EndPoll())
			late, _, known := jobs[0].Lateness()
			require.True(t, known)
			require.LessOrEqual(t, late, time.Minute, "since the poll before, in another Task or not")
		})
	}
}

// Two Tasks that ask for the same poll on only if the first has caught its error and
// a Wait follows, as in a machine with a schedule. Else each has a job of its own.
func TestTasksThatDoNotPollOn(t *testing.T) {
	t.Parallel()
	const ask = `"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId": "q-1"}`
	failed := &sim.TaskError{Name: "Athena.InternalServerException"}
	for name, tt := range map[string]struct {
		between, next string
		first         any
		want          []int // polls of each job
	}{
		"an error and a Wait":         {`"Type": "Wait", "Seconds": 3`, `"Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Between"}], "End": true`, failed, []int{2}},
		"an error and no Wait":        {`"Type": "Pass"`, `"Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Between"}], "End": true`, failed, []int{1, 1}},
		"a Wait and no error":         {`"Type": "Wait", "Seconds": 3`, `"Next": "Between"`, query("RUNNING"), []int{1, 1}},
		"neither a Wait nor an error": {`"Type": "Pass"`, `"Next": "Between"`, query("RUNNING"), []int{1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, jobs := jobsOf(t, `{"StartAt": "Start", "States": {
				"Start": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:startQueryExecution", "Parameters": {"QueryString": "SELECT 1"}, "Next": "First"},
				"First": {`+ask+`, `+tt.next+`},
				"Between": {`+tt.between+`, "Next": "Second"},
				"Second": {`+ask+`, "End": true}}}`, `{}`, map[string][]any{
				"arn:aws:states:::aws-sdk:athena:startQueryExecution": {map[string]any{"QueryExecutionId": "q-1"}},
				"arn:aws:states:::aws-sdk:athena:getQueryExecution":   {tt.first, query("SUCCEEDED")},
			})
			var polls []int
			for _, j := range jobs {
				polls = append(polls, len(j.Polls))
			}
			require.Equal(t, tt.want, polls)
		})
	}
}

// Each iteration of a Map polls a job of its own, and a call that is no poll is none.
func TestJobsOfAMap(t *testing.T) {
	t.Parallel()
	_, jobs := jobsOf(t, `{"StartAt": "Once", "States": {
		"Once": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:dynamodb:describeTable", "Parameters": {"TableName": "t"}, "ResultPath": null, "Next": "Each"},
		"Each": {"Type": "Map", "ItemsPath": "$.ids", "End": true, "ItemProcessor": {"StartAt": "Get", "States": {
			"Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId.$": "$"}, "ResultPath": null, "Next": "Wait"},
			"Wait": {"Type": "Wait", "Seconds": 3, "Next": "Again"},
			"Again": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId.$": "$"}, "ResultPath": null,
				"Retry": [{"ErrorEquals": ["States.ALL"], "IntervalSeconds": 1}], "End": true}}}}}}`,
		`{"ids": ["a", "b", "c"]}`, map[string][]any{
			"arn:aws:states:::aws-sdk:dynamodb:describeTable":   {map[string]any{"Table": map[string]any{"TableStatus": "ACTIVE"}}},
			"arn:aws:states:::aws-sdk:athena:getQueryExecution": {&sim.TaskError{Name: "X"}, map[string]any{}},
		})
	require.Empty(t, jobs, "one poll of each state does not make a loop")

	_, jobs = jobsOf(t, `{"StartAt": "Each", "States": {"Each": {"Type": "Map", "ItemsPath": "$.ids", "End": true, "ItemProcessor": {"StartAt": "Wait", "States": {
			"Wait": {"Type": "Wait", "Seconds": 3, "Next": "Get"},
			"Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId.$": "$.id"}, "ResultPath": "$.s", "Next": "Done?"},
			"Done?": {"Type": "Choice", "Choices": [{"Variable": "$.s.QueryExecution.Status.State", "StringEquals": "SUCCEEDED", "Next": "End"}], "Default": "Wait"},
			"End": {"Type": "Succeed"}}}}}}`,
		`{"ids": [{"id": "a"}, {"id": "b"}, {"id": "a"}]}`, map[string][]any{
			"arn:aws:states:::aws-sdk:athena:getQueryExecution": {
				query("QUEUED"), query("QUEUED"), query("QUEUED"), query("SUCCEEDED"),
			},
		})
	require.Len(t, jobs, 3, "the same job in two iterations is polled twice")
	for _, j := range jobs {
		require.Equal(t, []string{"QUEUED retry", "SUCCEEDED success"}, statuses(j))
		late, exact, known := j.Lateness()
		require.True(t, known)
		require.False(t, exact)
		require.Equal(t, 5*time.Second, late, "since the call of the poll before")
	}
}

// What follows one another in an execution of a distributed Map is told from the others.
func TestVisitsOfADistributedMap(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse([]byte(`{"StartAt": "Each", "States": {
		"Each": {"Type": "Map", "Next": "After", "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
			"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 3, "Next": "Get"}, "Get": {"Type": "Pass", "End": true}}}},
		"After": {"Type": "Pass", "End": true}}}`))
	require.NoError(t, err)
	r, err := sim.Run(t.Context(), m, []byte(`[1, 2]`), sim.Options{})
	require.NoError(t, err)
	require.Equal(t, sim.StatusSucceeded, r.Status, r.Cause)
	states := map[int64][]string{}
	e := history.FromRun(m, r)
	for _, v := range e.FindVisits().All {
		states[v.Strand] = append(states[v.Strand], v.State)
		require.Equal(t, v.State, v.Execution.Events[v.First].Name, "the place is one in the events of its execution")
		require.Equal(t, v.Strand == 0, v.Execution == e)
	}
	require.Len(t, states, 3)
	require.Equal(t, []string{"Each", "After"}, states[0])
	delete(states, 0)
	for _, iteration := range states {
		require.Equal(t, []string{"Wait", "Get"}, iteration)
	}
}

func query(state string) any {
	return map[string]any{"QueryExecution": map[string]any{"Status": map[string]any{"State": state}}}
}

// A service shows the times of a resource's last run. Those of the run before say
// nothing of this one, and a new start call makes a new job of the same name.
func TestTimesOfAnEarlierRun(t *testing.T) {
	t.Parallel()
	task := func(status, reason, start, stop string) any {
		return map[string]any{"ReplicationTasks": []any{map[string]any{
			"Status": status, "StopReason": reason, "ReplicationTaskStats": map[string]any{"StartDate": start, "StopDate": stop},
		}}}
	}
	const (
		describe = "arn:aws:states:::aws-sdk:databasemigration:describeReplicationTasks"
		start    = "arn:aws:states:::aws-sdk:databasemigration:startReplicationTask"
		done     = "Stop Reason FULL_LOAD_ONLY_FINISHED"
		before   = "2025-12-31T10:00:00Z"
		// The first run ends at 12s, and the second, which starts at 23s, at 34s.
		first, second = "2026-01-01T00:00:12Z", "2026-01-01T00:00:34Z"
	)
	poll := func(next string) string {
		return `{"Type": "Task", "Resource": "` + describe + `", "Arguments": {"Filters": [{"Name": "replication-task-arn", "Values": ["arn"]}]},
			"Assign": {"done": "{% $states.result.ReplicationTasks[0].Status = 'stopped' %}", "runs": "{% $runs + ($states.result.ReplicationTasks[0].Status = 'stopped' ? 1 : 0) %}"}, "Next": "` + next + `"}`
	}
	_, jobs := jobsOf(t, `{"QueryLanguage": "JSONata", "StartAt": "Init", "States": {
		"Init": {"Type": "Pass", "Assign": {"runs": 0}, "Next": "Start"},
		"Start": {"Type": "Task", "Resource": "`+start+`", "Arguments": {"ReplicationTaskArn": "arn", "StartReplicationTaskType": "reload-target"}, "Next": "Wait"},
		"Wait": {"Type": "Wait", "Seconds": 10, "Next": "Get"}, "Get": `+poll("Done?")+`,
		"Done?": {"Type": "Choice", "Choices": [{"Condition": "{% $done and $runs = 2 %}", "Next": "End"}, {"Condition": "{% $done %}", "Next": "Start"}], "Default": "Wait"},
		"End": {"Type": "Succeed"}}}`, `{}`, map[string][]any{
		start: {map[string]any{}},
		describe: {
			task("running", "", before, before), task("stopped", done, before, first),
			task("running", "", first, first), task("stopped", done, first, second), task("stopped", done, second, second),
		},
	})
	require.Len(t, jobs, 2, "each start call makes a job")
	for i, ended := range []string{first, second} {
		require.Len(t, jobs[i].Polls, 2)
		require.Equal(t, []string{"running retry", "stopped success"}, statuses(jobs[i]))
		require.Equal(t, ended, jobs[i].Ended.Format(time.RFC3339))
		require.Zero(t, jobs[i].Started, "the service showed that of an earlier run")
		late, exact, known := jobs[i].Lateness()
		require.True(t, exact && known)
		require.Equal(t, jobs[i].Polls[1].Answered.Sub(jobs[i].Ended), late)
	}

	completed := func(state, at string) any {
		return map[string]any{"QueryExecution": map[string]any{"Status": map[string]any{"State": state, "CompletionDateTime": at}}}
	}
	_, jobs = jobsOf(t, `{"StartAt": "Get", "States": {
		"Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId": "q"}, "ResultPath": "$.s", "Next": "Done?"},
		"Done?": {"Type": "Choice", "Choices": [{"Variable": "$.s.QueryExecution.Status.CompletionDateTime", "StringEquals": "`+second+`", "Next": "End"}], "Default": "Wait"},
		"Wait": {"Type": "Wait", "Seconds": 10, "Next": "Get"}, "End": {"Type": "Succeed"}}}`, `{}`, map[string][]any{
		"arn:aws:states:::aws-sdk:athena:getQueryExecution": {completed("RUNNING", before), completed("SUCCEEDED", before), completed("SUCCEEDED", second)},
	})
	require.Len(t, jobs, 1, "without a start call it is one job")
	require.Zero(t, jobs[0].Ended, "the end was seen, but not its time")
	late, exact, known := jobs[0].DetectionDelay()
	require.True(t, known)
	require.False(t, exact)
	require.Equal(t, 12*time.Second, late)
	late, _, _ = jobs[0].Lateness()
	require.Equal(t, 23*time.Second, late, "the loop does not act on the first answer")
}

// Each time that a loop is entered sets a deadline, and a job has that of its own.
func TestDeadlineOfEachJob(t *testing.T) {
	t.Parallel()
	_, jobs := jobsOf(t, `{"QueryLanguage": "JSONata", "StartAt": "Init", "States": {
		"Init": {"Type": "Pass", "Assign": {"n": 0}, "Next": "Set"},
		"Set": {"Type": "Pass", "Assign": {"getDeadline": "{% $millis() + 60000 %}", "n": "{% $n + 1 %}"}, "Next": "Get"},
		"Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Arguments": {"QueryExecutionId": "{% 'q' & $string($n) %}"},
			"Assign": {"state": "{% $states.result.QueryExecution.Status.State %}"}, "Next": "Done?"},
		"Done?": {"Type": "Choice", "Choices": [{"Condition": "{% $state = 'RUNNING' %}", "Next": "Wait"}, {"Condition": "{% $n = 2 %}", "Next": "End"}], "Default": "Set"},
		"Wait": {"Type": "Wait", "Seconds": 10, "Next": "Get"}, "End": {"Type": "Succeed"}}}`, `{}`, map[string][]any{
		"arn:aws:states:::aws-sdk:athena:getQueryExecution": {query("RUNNING"), query("SUCCEEDED"), query("RUNNING"), query("SUCCEEDED")},
	})
	require.Len(t, jobs, 2)
	for _, j := range jobs {
		require.Equal(t, j.Polls[0].At.Add(time.Minute), j.Deadline)
	}
}
