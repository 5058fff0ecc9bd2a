package trial_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/trial"
)

// compare runs a definition and the same with texts replaced.
func compare(t *testing.T, text string, edit ...string) *trial.Report {
	t.Helper()
	before, err := asl.Parse([]byte(text))
	require.NoError(t, err)
	changed := strings.NewReplacer(edit...).Replace(text)
	require.NotEqual(t, text, changed)
	after, err := asl.Parse([]byte(changed))
	require.NoError(t, err)
	report, err := trial.Compare(t.Context(), before, after, trial.Options{Models: models.Load})
	require.NoError(t, err)
	require.Empty(t, report.NotTried)
	require.Equal(t, report.Of, report.Scripts)
	require.Len(t, report.Runs, report.Scripts)
	return report
}

// An edit that changes nothing that an execution does has no difference.
func TestSame(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string][]string{
		"a comment":           {`"Type": "Wait"`, `"Comment": "a", "Type": "Wait"`},
		"the time of a Wait":  {`"Seconds": 30`, `"Seconds": 60`},
		"the order of rules":  {`"StringEquals": "FAILED", "Next": "Tell"`, `"StringEquals": "SUCCEEDED", "Next": "Good"`, `"StringEquals": "SUCCEEDED", "Next": "Good"`, `"StringEquals": "FAILED", "Next": "Tell"`},
		"a rule of Default":   {`"Choices": [`, `"Choices": [{"Variable": "$.r.QueryExecution.Status.State", "StringEquals": "RUNNING", "Next": "Pause"},`},
		"a name":              {`"Good"`, `"Well"`},
		"a value that it has": {`"Cause": "the query failed"`, `"CausePath": "States.Format('the query {}', 'failed')"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Empty(t, compare(t, query, edit...).Outside())
		})
	}
}

// Each thing that an execution does is compared.
func TestDifferences(t *testing.T) {
	t.Parallel()
	failed, errs := trial.Kind{Sort: trial.Status, Value: "FAILED"}, trial.Kind{Sort: trial.Fails}
	for _, c := range []struct {
		name  string
		edit  []string
		what  trial.What
		frame []trial.Kind // nothing differs outside of it
	}{
		{"an end", []string{`{"Type": "Fail", "Error": "QueryFailed", "Cause": "the query failed"}`, `{"Type": "Succeed"}`}, trial.End, []trial.Kind{failed}},
		{"an error", []string{`"Error": "QueryFailed"`, `"Error": "Failed"`}, trial.Error, []trial.Kind{failed}},
		{"a cause", []string{"the query failed", "it failed"}, trial.Cause, []trial.Kind{failed}},
		{"an output", []string{`"Good": {"Type": "Succeed"}`, `"Good": {"Type": "Pass", "ResultPath": "$.x", "Result": 1, "End": true}`}, trial.Output, nil},
		{"a call that is not made", []string{`"FAILED", "Next": "Tell"`, `"FAILED", "Next": "Bad"`, `"Tell": {`, `"Tell": {"Comment": "x", `, `"Good": {"Type": "Succeed"}`, `"Good": {"Type": "Wait", "Seconds": 1, "Next": "Tell"}`}, trial.Calls, nil},
		{"an argument", []string{"it failed", "oh"}, trial.Calls, []trial.Kind{failed}},
		{"an argument of the poll", []string{`"QueryExecutionId.$": "$.s.QueryExecutionId"`, `"QueryExecutionId": "q"`}, trial.Poll, nil},
		{"a retry", []string{`"ResultPath": "$.r"`, `"ResultPath": "$.r", "Retry": [{"ErrorEquals": ["States.ALL"]}]`}, trial.End, []trial.Kind{errs}},
		{"a bound", []string{`"Type": "Wait"`, `"Type": "Wait", "Assign": {"n.$": "States.MathAdd($n, 1)"}`, `"ResultPath": "$.s"`, `"ResultPath": "$.s", "Assign": {"n": 0}`, `"Default": "Pause"`, `"Default": "More?"`, `"Tell": {`, `"More?": {"Type": "Choice", "Default": "Pause", "Choices": [{"Variable": "$n", "NumericGreaterThanEquals": 50, "Next": "Bad"}]}, "Tell": {`}, trial.End, []trial.Kind{{Sort: trial.Never}}},
		{"a limit of the machine", []string{`"StartAt"`, `"TimeoutSeconds": 7200, "StartAt"`}, trial.End, []trial.Kind{{Sort: trial.Never}}},
		{"a fail-fast Default", []string{`"Default": "Pause"`, `"Default": "Bad"`}, trial.End, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			report := compare(t, query, c.edit...)
			require.NotEmpty(t, report.Outside())
			found := false
			for _, run := range report.Outside() {
				for _, d := range run.Differences {
					found = found || d.What == c.what
				}
			}
			require.True(t, found, report.Outside()[0].Differences)
			if c.frame != nil {
				require.Empty(t, report.Outside(c.frame...))
				require.NotEmpty(t, report.Inside(c.frame...))
			}
		})
	}
}

// A bound that gives up one poll early is seen, on whatever poll that is.
func TestLongestJobBelowABound(t *testing.T) {
	t.Parallel()
	counted := strings.NewReplacer(
		`"ResultPath": "$.s"`, `"ResultPath": "$.s", "Assign": {"n": 0}`, `"Type": "Wait"`, `"Type": "Wait", "Assign": {"n.$": "States.MathAdd($n, 1)"}`,
	).Replace(query)
	rule := `{"Variable": "$n", "NumericGreaterThanEquals": 40, "Next": "Bad"}`
	last := compare(t, counted, `"StringEquals": "SUCCEEDED", "Next": "Good"}`, `"StringEquals": "SUCCEEDED", "Next": "Good"}, `+rule)
	require.Empty(t, last.Outside(trial.Kind{Sort: trial.Never}))
	first := compare(t, counted, `"Choices": [`, `"Choices": [`+rule+`, `)
	outside := first.Outside(trial.Kind{Sort: trial.Never})
	require.NotEmpty(t, outside)
	require.Equal(t, `a job at "Look" that ends after 39 polls`, outside[0].Script)
}

// Where a bound comes after about as many events as a run gets that is like others, a machine
// with longer laps does the same.
func TestBoundNearTheEndOfAShortRun(t *testing.T) {
	t.Parallel()
	for _, laps := range []string{"185", "190", "195", "200"} {
		report := compare(t, bounded(laps, "Bad"), `"Default": "Pause"`, `"Default": "Again"`, `"Tell": {`, `"Again": {"Type": "Pass", "Next": "Pause"}, "Tell": {`)
		require.Empty(t, report.Outside())
	}
}

// bounded is the loop with a bound of so many polls, that leads to a state.
func bounded(polls, to string) string {
	return strings.NewReplacer(
		`"ResultPath": "$.s"`, `"ResultPath": "$.s", "Assign": {"n": 0}`, `"Type": "Wait"`, `"Type": "Wait", "Assign": {"n.$": "States.MathAdd($n, 1)"}`,
		`"Choices": [`, `"Choices": [{"Variable": "$n", "NumericGreaterThanEquals": `+polls+`, "Next": "`+to+`"}, `,
	).Replace(query)
}

// A change that only a far bound leads to is met, however far it is behind the loop.
func TestChangeBehindABound(t *testing.T) {
	t.Parallel()
	for _, polls := range []string{"20", "600"} {
		text := strings.Replace(bounded(polls, "P"), `"Tell": {`, `"P": {"Type": "Pass", "Next": "P2"}, "P2": {"Type": "Pass", "Next": "Slow"},
			"Slow": {"Type": "Fail", "Error": "Slow"}, "Tell": {`, 1)
		require.NotEmpty(t, compare(t, text, `"Error": "Slow"`, `"Error": "Slower"`).Outside(), polls)
	}
}

// So is an error of a Task there that only the new machine catches.
func TestErrorsBehindABound(t *testing.T) {
	t.Parallel()
	text := strings.Replace(bounded("600", "Late"), `"Tell": {`, `"Late": {"Type": "Task", "Resource": "arn:aws:states:::sns:publish",
		"Parameters": {"TopicArn": "arn:aws:sns:us-east-1:123456789012:ops", "Message": "late"}, "ResultPath": "$.l", "Next": "Bad"}, "Tell": {`, 1)
	outside := compare(t, text, `"ResultPath": "$.l"`, `"ResultPath": "$.l", "Catch": [{"ErrorEquals": ["Sns.NotFoundException"], "Next": "Good"}]`).Outside()
	require.NotEmpty(t, outside)
	for _, run := range outside {
		require.Contains(t, run.Script, `Sns.NotFoundException at "Late"`)
	}
	behind := `, behind a job that stays RUNNING at "Look"`
	require.Subset(t, scriptsOf(outside), []string{`Sns.NotFoundException at "Late"` + behind, `Sns.NotFoundException at "Late" for ever` + behind})
}

// The code of a request by which an HTTP Task fails is tried where a Catch names it, and breaks nothing.
func TestErrorsOfRequests(t *testing.T) {
	t.Parallel()
	const text = `{"StartAt": "Look", "States": {
		"Look": {"Type": "Task", "Resource": "arn:aws:states:::http:invoke", "Parameters": {"ApiEndpoint": "https://jobs.example.com/1", "Method": "GET",
			"Authentication": {"ConnectionArn": "arn:aws:events:us-east-1:123456789012:connection/jobs/1"}},
			"Catch": [{"ErrorEquals": ["States.Http.StatusCode.404"], "Next": "Good"}], "Next": "Done?"},
		"Done?": {"Type": "Choice", "Default": "Wait", "Choices": [{"Variable": "$.ResponseBody.status", "StringEquals": "done", "Next": "Good"}]},
		"Wait": {"Type": "Wait", "Seconds": 60, "Next": "Look"},
		"Good": {"Type": "Succeed"}}}`
	outside := compare(t, text, `"Catch": [{"ErrorEquals": ["States.Http.StatusCode.404"], "Next": "Good"}], `, "").Outside()
	require.NotEmpty(t, outside)
	for _, run := range outside {
		require.Contains(t, run.Script, `States.Http.StatusCode.404 at "Look"`)
		require.False(t, run.After.IsBroken(), run.Script)
	}
}

// A long way to a loop takes nothing away from how far its runs go.
func TestLoopBehindALongWay(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer(`{"StartAt": "Start"`, `{"StartAt": "Zero"`, `"States": {`, `"States": {"Zero": {"Type": "Pass", "Assign": {"i": 0}, "Next": "Count"},
		"Count": {"Type": "Pass", "Assign": {"i.$": "States.MathAdd($i, 1)"}, "Next": "Enough?"},
		"Enough?": {"Type": "Choice", "Default": "Count", "Choices": [{"Variable": "$i", "NumericGreaterThanEquals": 700, "Next": "Start"}]},`,
		"SUCCEEDED", "SUCCESS").Replace(query)
	require.NotEmpty(t, compare(t, text, "the query failed", "it failed").Outside())
}

// The laps of a loop that counts are not those of one behind it that does not.
func TestLapsOfAnotherLoop(t *testing.T) {
	t.Parallel()
	rule := `{"Variable": "$n", "NumericGreaterThanEquals": 30, "Next": "Wait"}`
	last := strings.NewReplacer(rule+", ", "", `"Next": "Good"}]`, `"Next": "Good"}, `+rule+`]`).Replace(bounded("30", "Wait"))
	text := strings.Replace(last, `"Tell": {"Type"`, `"Wait": {"Type": "Wait", "Seconds": 60, "Next": "Ask"},
		"Ask": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:getJobRun", "Parameters": {"JobName": "j", "RunId": "r"}, "ResultPath": "$.g", "Next": "Which?"},
		"Which?": {"Type": "Choice", "Default": "Wait", "Choices": [{"Variable": "$.g.JobRun.JobRunState", "StringEquals": "SUCCESS", "Next": "Good"}]},
		"Tell": {"Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Wait"}], "Type"`, 1)
	report := compare(t, text, `"NumericGreaterThanEquals": 30, "Next": "Wait"`, `"NumericGreaterThanEquals": 40, "Next": "Bad"`, `"Next": "Ask"`, `"Comment": "kept", "Next": "Ask"`)
	require.Contains(t, scriptsOf(report.Outside(trial.Kind{Sort: trial.Never})), `a job at "Look" that ends after 39 polls`)
}

// A Task that only a failure gets to fails, too.
func TestErrorsBehindAFailure(t *testing.T) {
	t.Parallel()
	report := compare(t, query, `"ResultPath": "$.t"`, `"ResultPath": "$.t", "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Good"}]`)
	outside := report.Outside()
	require.NotEmpty(t, outside)
	for _, run := range outside {
		require.Equal(t, "Tell", run.Kinds[1].Task, run.Script)
		require.Contains(t, run.Script, `at "Tell"`)
		require.Contains(t, run.Script, `, behind status FAILED at "Look"`)
	}
}

// scriptsOf are the titles of runs.
func scriptsOf(runs []trial.Run) []string {
	var titles []string
	for _, run := range runs {
		titles = append(titles, run.Script)
	}
	return titles
}

// A call that asks for several jobs is answered with none and with two, one that lists one id
// with none, and one that asks for one with neither.
func TestSeveralJobs(t *testing.T) {
	t.Parallel()
	const batch = `{"QueryLanguage": "JSONata", "StartAt": "Pause", "States": {
		"Pause": {"Type": "Wait", "Seconds": 30, "Next": "Look"},
		"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:batch:describeJobs", "Arguments": {"Jobs": "{% $states.context.Execution.Input.ids %}"},
			"Output": "{% $states.result.Jobs[0].Status %}", "Next": "Done?"},
		"Done?": {"Type": "Choice", "Default": "Pause", "Choices": [
			{"Condition": "{% $states.input = 'SUCCEEDED' %}", "Next": "Good"}, {"Condition": "{% $states.input = 'FAILED' %}", "Next": "Bad"}]},
		"Bad": {"Type": "Fail", "Error": "JobFailed"}, "Good": {"Type": "Succeed"}}}`
	last := compare(t, batch, "Jobs[0]", "Jobs[-1]")
	require.Subset(t, scriptsOf(last.Outside()), []string{
		`Jobs[0] RUNNING and [1] FAILED at "Look"`, `Jobs[0] SUCCEEDED and [1] FAILED at "Look"`,
		`Jobs[0] FAILED and [1] RUNNING at "Look"`, `Jobs[0] FAILED and [1] SUCCEEDED at "Look"`,
	})
	require.Contains(t, scriptsOf(last.Runs), `no job listed at "Look"`)
	for _, jobs := range []string{`["a"]`, `["{% $states.context.Execution.Input.id %}"]`} {
		one := strings.Replace(batch, `"{% $states.context.Execution.Input.ids %}"`, jobs, 1)
		scripts := scriptsOf(compare(t, one, `"Good"`, `"Well"`).Runs)
		require.NotContains(t, strings.Join(scripts, "\n"), "and [1]")
		require.Contains(t, scripts, `no job listed at "Look"`)
	}
	paths := strings.NewReplacer("athena:getQueryExecution", "batch:describeJobs", `"QueryExecutionId.$": "$.s.QueryExecutionId"`, `"Jobs.$": "States.Array($.s.QueryExecutionId)"`,
		"$.r.QueryExecution.Status.State", "$.r.Jobs[0].Status").Replace(query)
	require.NotContains(t, strings.Join(scriptsOf(compare(t, paths, `"Good"`, `"Well"`).Runs), "\n"), "and [1]")
	two := strings.Replace(paths, "States.Array(", "States.Array('a', ", 1)
	require.Contains(t, strings.Join(scriptsOf(compare(t, two, `"Good"`, `"Well"`).Runs), "\n"), "and [1]")
	require.NotContains(t, scriptsOf(compare(t, query, `"Good"`, `"Well"`).Runs), `no job listed at "Look"`)
}

// A call lists several items where its arguments do not name one, and several parts of one job.
func TestItemsThatDiffer(t *testing.T) {
	t.Parallel()
	const loop = `{"QueryLanguage": "JSONata", "StartAt": "Look", "States": {
		"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:CALL", "Arguments": ARGUMENTS, "Next": "Done?"},
		"Done?": {"Type": "Choice", "Default": "Pause", "Choices": [{"Condition": "{% $states.input.PATH = 'END' %}", "Next": "Good"}]},
		"Pause": {"Type": "Wait", "Seconds": 30, "Next": "Look"}, "Good": {"Type": "Succeed"}}}`
	const (
		instances = "ec2:describeInstances Reservations[0].Instances[0].State.Name running"
		databases = "rds:describeDBInstances DbInstances[0].DbInstanceStatus available"
		tasks     = "ecs:describeTasks Tasks[0].Containers[0].LastStatus STOPPED"
	)
	for name, c := range map[string]struct{ loop, arguments, want string }{
		"several ids":          {instances, `{"InstanceIds": "{% $states.input.ids %}"}`, "Reservations[0] running and [1] pending, Reservations[0].Instances[0] running and [1] pending"},
		"one id":               {instances, `{"InstanceIds": ["{% $states.input.id %}"]}`, ""},
		"one id as expression": {instances, `{"InstanceIds": "{% [$states.input.id] %}"}`, ""},
		"two ids":              {instances, `{"InstanceIds": "{% [$states.input.a, $f(1, 2)] %}"}`, "Reservations[0] running and [1] pending, Reservations[0].Instances[0] running and [1] pending"},
		"no id":                {databases, `{}`, "DbInstances[0] available and [1] creating"},
		"a name":               {databases, `{"DbInstanceIdentifier": "{% $states.input.id %}"}`, ""},
		"a filter of others":   {databases, `{"Filters": [{"Name": "db-cluster-id", "Values": ["{% $states.input.id %}"]}]}`, "DbInstances[0] available and [1] creating"},
		"a filter of one":      {databases, `{"Filters": [{"Name": "db-instance-id", "Values": ["{% $states.input.id %}"]}]}`, ""},
		"parts of one":         {tasks, `{"Cluster": "c", "Tasks": ["{% $states.input.id %}"]}`, "Tasks[0].Containers[0] RUNNING and [1] STOPPED"},
		"parts of several":     {tasks, `{"Cluster": "c", "Tasks": "{% $states.input.ids %}"}`, "Tasks[0] RUNNING and [1] STOPPED, Tasks[0].Containers[0] RUNNING and [1] STOPPED"},
	} {
		part := strings.Fields(c.loop)
		text := strings.NewReplacer("CALL", part[0], "PATH", part[1], "END", part[2], "ARGUMENTS", c.arguments).Replace(loop)
		var got []string
		for _, title := range scriptsOf(compare(t, text, `"Good"`, `"Well"`).Runs) {
			if what, isOfItems := strings.CutSuffix(title, ` at "Look"`); isOfItems && strings.Contains(what, " and [1] ") {
				got = append(got, what)
			}
		}
		if c.want == "" {
			require.Empty(t, got, name)
		} else {
			require.Subset(t, got, strings.Split(c.want, ", "), name)
		}
	}
}

// A job ends after a status that is on the way to its end.
func TestEndingBeforeTheEnd(t *testing.T) {
	t.Parallel()
	spark := strings.NewReplacer("athena:startQueryExecution", "emrserverless:startJobRun", `{"QueryString": "SELECT 1"}`, `{"ApplicationId": "a", "ExecutionRoleArn": "r", "ClientToken": "t"}`,
		"athena:getQueryExecution", "emrserverless:getJobRun", `"QueryExecutionId.$": "$.s.QueryExecutionId"`, `"ApplicationId": "a", "JobRunId.$": "$.s.JobRunId"`,
		"$.r.QueryExecution.Status.State", "$.r.JobRun.State", "SUCCEEDED", "SUCCESS").Replace(query)
	report := compare(t, spark, `"Choices": [`, `"Choices": [{"Variable": "$.r.JobRun.State", "StringEquals": "CANCELLING", "Next": "Bad"},`)
	require.Contains(t, scriptsOf(report.Outside()), `status CANCELLED at "Look" after CANCELLING`)
	require.Empty(t, report.Outside(trial.Kind{Sort: trial.Status, Value: "CANCELLING"}))
}

// Of two polls in a loop one ends while the other goes on.
func TestTwoPolls(t *testing.T) {
	t.Parallel()
	second := `"Other": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution",
		"Parameters": {"QueryExecutionId": "q"}, "ResultPath": "$.o", "Next": "Both?"},
	"Both?": {"Type": "Choice", "Default": "Pause", "Choices": [{"Variable": "$.o.QueryExecution.Status.State", "StringEquals": "SUCCEEDED", "Next": "Done?"}]}, "Done?": {`
	two := strings.NewReplacer(`"Next": "Done?"}`, `"Next": "Other"}`, `"Done?": {`, second).Replace(query)
	report := compare(t, two, `"Default": "Pause", "Choices": [{"Variable": "$.o`, `"Default": "Pause", "Choices": [{"And": [
		{"Variable": "$.o.QueryExecution.Status.State", "StringEquals": "RUNNING"}, {"Variable": "$.r.QueryExecution.Status.State", "StringEquals": "CANCELLED"}], "Next": "Bad"},
		{"Variable": "$.o`)
	require.Equal(t, []string{`status CANCELLED at "Look", behind a job at "Other" that ends after 3 polls`}, slices.Compact(scriptsOf(report.Outside())))
}

// What differs between two runs of one machine is compared by its type.
func TestVolatile(t *testing.T) {
	t.Parallel()
	named := strings.Replace(query, `"Message": "it failed"`, `"Message.$": "$$.Execution.Name", "Subject.$": "States.UUID()"`, 1)
	require.Empty(t, compare(t, named, "States.UUID()", "States.Format('{}', States.UUID())").Outside())
	require.NotEmpty(t, compare(t, named, "States.UUID()", "States.MathAdd(1, 2)").Outside())
}

// The usual answers of a run are told once, though its parts have the same.
func TestUsualAnswersOfParts(t *testing.T) {
	t.Parallel()
	text := strings.Replace(chain(7), `"Seconds": 30, "Next": "Look 3"},`, `"Seconds": 30, "Next": "Log"},
		"Log": {"Type": "Task", "Resource": "arn:aws:states:::sns:publish", "Parameters": {"TopicArn": "t", "Message": "m"}, "ResultPath": null, "Next": "Look 3"},`, 1)
	for _, run := range compare(t, text, `"Default": "Pause 3", "Choices": [`, `"Default": "Pause 3", "Choices": [{"Variable": "$.x", "IsPresent": true, "Next": "Bad"},`).Runs {
		for i, k := range run.Usual {
			require.NotContains(t, run.Usual[:i], k, run.Script)
		}
	}
}

// A call that is made again sends what it sent before.
func TestAttempts(t *testing.T) {
	t.Parallel()
	retried := strings.Replace(query, `"ResultPath": "$.s"`, `"Retry": [{"ErrorEquals": ["States.ALL"]}], "ResultPath": "$.s"`, 1)
	report := compare(t, retried, `"QueryString": "SELECT 1"`, `"QueryString.$": "States.Format('SELECT 1 -- {}', States.UUID())"`)
	found := false
	for _, run := range report.Runs {
		for _, d := range run.Differences {
			found = found || d.What == trial.Retry
		}
	}
	require.True(t, found)
}

// A Retry that only the new machine has is followed to its last attempt: the machine before polls
// on, and so would the new one in a run of few events.
func TestRetryOfTheNewMachine(t *testing.T) {
	t.Parallel()
	all := `{"ErrorEquals": ["States.ALL"], "ResultPath": null, "Next": "Pause"}]`
	caught := strings.Replace(query, `"ResultPath": "$.r"`, `"Catch": [`+all+`, "ResultPath": "$.r"`, 1)
	report := compare(t, caught, `"Catch": [`, `"Retry": [{"ErrorEquals": ["States.Timeout"], "MaxAttempts": 3000, "BackoffRate": 1}], "Catch": [{"ErrorEquals": ["States.Timeout"], "Next": "Bad"}, `)
	outside := report.Outside()
	require.Equal(t, []string{`States.Timeout at "Look" for ever`}, scriptsOf(outside))
	require.Equal(t, trial.PollsOn, outside[0].Before.Status)
	require.Equal(t, "FAILED", outside[0].After.Status)
}

// A loop among others is tried as it is alone, and what follows is compared, too.
func TestLoopAmongOthers(t *testing.T) {
	t.Parallel()
	rule := `{"Variable": "$.r.QueryExecution.Status.State", "StringEquals": "CANCELLED", "Next": "Bad"},`
	at := `"Default": "Pause 3", "Choices": [`
	cancelled := trial.Kind{Task: "Look 3", Sort: trial.Status, Value: "CANCELLED"}
	mend := compare(t, chain(7), at, at+rule)
	require.Empty(t, mend.Objections(cancelled))
	require.NotEmpty(t, mend.Mended(cancelled))
	data := compare(t, chain(7), `"QueryExecutionId.$": "$.s.QueryExecutionId"}, "ResultPath": "$.r", "Next": "Done 3"`,
		`"QueryExecutionId.$": "$.s.QueryExecutionId"}, "ResultPath": "$.q", "Next": "Done 3"`)
	require.NotEmpty(t, data.Objections(cancelled))
}

// What a loop leaves in a variable is seen where a Task behind it reads that, or a state that
// only its failure leads to.
func TestVariableOfALoopBefore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		query, cause, after string
		differs             bool
	}{
		{`"QueryString": "SELECT 3"`, `"Cause": "no"`, `"v": 2`, false},
		{`"QueryString": "SELECT 3"`, `"CausePath": "States.Format('{}', $v)"`, `"v": 2`, true},
		{`"QueryString.$": "States.Format('{}', $v)"`, `"Cause": "no"`, `"v": 2`, true},
		{`"QueryString": "SELECT 3"`, `"Cause": "no"`, `"w": 1`, false},
		{`"QueryString": "SELECT 3"`, `"CausePath": "States.Format('{}', $v)"`, `"w": 1`, true},
	} {
		text := strings.NewReplacer(`"ResultPath": "$.s", "Next": "Pause 2"`, `"Assign": {"v": 1}, "ResultPath": "$.s", "Next": "Pause 2"`, `"QueryString": "SELECT 3"`, c.query,
			`"ResultPath": "$.s", "Next": "Pause 3"`, `"ResultPath": "$.s", "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Caught"}], "Next": "Pause 3"`,
			`"Bad": {`, `"Caught": {"Type": "Fail", "Error": "X", `+c.cause+`}, "Bad": {`).Replace(chain(7))
		found := false
		for _, run := range compare(t, text, `"v": 1`, c.after).Outside() {
			found = found || strings.HasPrefix(run.Script, `States.Timeout at "Start 3"`)
		}
		require.Equal(t, c.differs, found, c)
	}
}

// A machine that begins in a loop is tried from where each machine begins.
func TestLoopAtTheStart(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer(`{"StartAt": "Start 0"`, `{"StartAt": "Look 0"`, `"Start 0": {`, `"Start": {`, `"Default": "Pause 0"`, `"Default": "Start"`).Replace(chain(7))
	report := compare(t, text, `{"StartAt": "Look 0"`, `{"StartAt": "Before"`, `"States": {`, `"States": {"Before": {"Type": "Pass", "Assign": {"n": 0}, "Next": "Look 0"}, `,
		`"Start": {`, `"Start": {"Assign": {"n.$": "States.MathAdd($n, 1)"}, `)
	require.Empty(t, report.Outside())
}

// A member that may differ does not, and what is sent again still does.
func TestExcept(t *testing.T) {
	t.Parallel()
	before, err := asl.Parse([]byte(query))
	require.NoError(t, err)
	after, err := asl.Parse([]byte(strings.Replace(query, `"QueryString": "SELECT 1"`, `"QueryString": "SELECT 1", "ClientRequestToken.$": "$$.Execution.Name"`, 1)))
	require.NoError(t, err)
	o := trial.Options{Models: models.Load, Except: []trial.Member{{Task: "Start", Path: "ClientRequestToken"}}}
	report, err := trial.Compare(t.Context(), before, after, o)
	require.NoError(t, err)
	require.Empty(t, report.Outside())
}

// A loop that takes no time is told from one that polls on.
func TestEndless(t *testing.T) {
	t.Parallel()
	report := compare(t, query, `"Default": "Pause"`, `"Default": "Look"`)
	never := trial.Kind{Task: "Look", Sort: trial.Never, Value: "RUNNING"}
	require.NotEmpty(t, report.Objections(never))
	require.Equal(t, trial.Endless, report.Mended(never)[0].After.Status)
}

// An engine's error names the rule by its number, which a rule in front of it changes: that is no
// difference.
func TestPlaceOfARuleIsNoDifference(t *testing.T) {
	t.Parallel()
	const text = `{"QueryLanguage": "JSONata", "StartAt": "Look", "States": {
		"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Arguments": {"QueryExecutionId": "q"}, "Next": "Done?"},
		"Done?": {"Type": "Choice", "Choices": [{"Condition": "{% $states.input.missing %}", "Next": "Good"}], "Default": "Look"},
		"Good": {"Type": "Succeed"}}}`
	const other = `[{"Condition": "{% $states.input.QueryExecution.Status.State = 'NONE' and false %}", "Next": "Good"}, `
	report := compare(t, text, `"Choices": [`, `"Choices": `+other)
	broken := 0
	for _, r := range report.Runs {
		require.Empty(t, r.Differences, r.Script)
		if r.Before.IsBroken() {
			broken++
		}
	}
	require.NotZero(t, broken)
}

// A count and its limit that the input gives are drawn so that the loop turns.
func TestInputWithWhichTheLoopTurns(t *testing.T) {
	t.Parallel()
	for seed, names := range [][2]string{{"count", "limit"}, {"polls", "most"}, {"n", "max"}, {"tries", "allowed"}} {
		bounded := strings.NewReplacer(
			`"Default": "Pause"`, `"Default": "More?"`,
			`"Tell": {`, `"More?": {"Type": "Choice", "Default": "Add", "Choices": [{"Variable": "$.`+names[0]+`.of", "NumericGreaterThanEqualsPath": "$.`+names[1]+`", "Next": "Bad"}]},
				"Add": {"Type": "Pass", "Parameters": {"of.$": "States.MathAdd($.`+names[0]+`.of, 1)"}, "ResultPath": "$.`+names[0]+`", "Next": "Pause"}, "Tell": {`,
		).Replace(query)
		report := compare(t, bounded, "it failed", "oh")
		require.True(t, slices.ContainsFunc(report.Runs, func(r trial.Run) bool { return r.Before.Polls > 2 }), seed)
	}
}

// What the new machine alone compares is tried, too, each member with its own patterns.
func TestComparisonsOfTheNewMachine(t *testing.T) {
	t.Parallel()
	const of = `{"Variable": "$.r.QueryExecution.`
	compared := func(rules string) *trial.Report { return compare(t, query, `"Choices": [`, `"Choices": [`+rules) }
	statuses := compared(of + `Status.State", "StringEquals": "ARCHIVED", "Next": "Bad"}, `).Outside()
	require.NotEmpty(t, statuses)
	for _, run := range statuses {
		require.True(t, slices.ContainsFunc(run.Kinds, func(k trial.Kind) bool { return k.Value == "ARCHIVED" }), run.Script)
	}
	besides := map[string]bool{}
	for _, run := range compared(`{"And": [` + of + `WorkGroup", "StringMatches": "late*"}, ` + of + `Status.State", "StringEquals": "FAILED"}], "Next": "Good"},
		{"And": [` + of + `Query", "StringMatches": "DROP*"}, ` + of + `Status.State", "StringEquals": "FAILED"}], "Next": "Good"}, `).Runs {
		for _, k := range run.Kinds {
			if k.Beside != "" {
				besides[k.Beside] = true
			}
		}
	}
	require.Equal(t, map[string]bool{"QueryExecution.WorkGroup like late*": true, "QueryExecution.Query like DROP*": true}, besides)
}

// A second poll of the first job hides that a rule takes a status for a success; the last job
// has none behind it.
func TestStatusOfTheLastJob(t *testing.T) {
	t.Parallel()
	const text = `{"StartAt": "First", "States": {
		"First": {"Type": "Pass", "Result": 0, "ResultPath": "$.i", "Next": "Start"},
		"Start": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:startQueryExecution",
			"Parameters": {"QueryString": "SELECT 1"}, "ResultPath": "$.s", "Next": "Look"},
		"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution",
			"Parameters": {"QueryExecutionId.$": "$.s.QueryExecutionId"}, "ResultPath": "$.r", "Next": "Done?"},
		"Done?": {"Type": "Choice", "Default": "More?", "Choices": [
			{"Or": [{"Variable": "$.r.QueryExecution.Status.State", "StringEquals": "QUEUED"}, {"Variable": "$.r.QueryExecution.Status.State", "StringEquals": "RUNNING"}],
			"Next": "Pause"},
			{"Variable": "$.r.QueryExecution.Status.State", "StringMatches": "*ED", "Next": "More?"}]},
		"Pause": {"Type": "Wait", "Seconds": 30, "Next": "Look"},
		"More?": {"Type": "Choice", "Default": "Good", "Choices": [{"Variable": "$.i", "NumericLessThan": 1, "Next": "Second"}]},
		"Second": {"Type": "Pass", "Parameters": {"i.$": "States.MathAdd($.i, 1)"}, "Next": "Start"},
		"Good": {"Type": "Succeed"}}}`
	polls := compare(t, text, `"Default": "More?"`, `"Default": "Pause"`).Outside()
	require.NotEmpty(t, polls)
	require.True(t, slices.ContainsFunc(polls, func(run trial.Run) bool {
		return len(run.Kinds) == 1 && run.Kinds[0].Sort == trial.Status && run.Kinds[0].Value == trial.UnknownValue
	}), scriptsOf(polls))
}
