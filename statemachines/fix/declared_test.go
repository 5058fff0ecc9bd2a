package fix_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/trial"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
	"github.com/jobpoller/jobpoller/tests/race"
)

// changesOf lists what a new loop does otherwise with the statuses of a job: "STATUS: before -> after".
func changesOf(l fix.Loop) []string {
	var all []string
	for _, c := range l.Changes {
		text := c.Kind.Value
		if c.Kind.Pattern != "" {
			text = c.Kind.Pattern
		}
		switch {
		case c.Bare || c.Kind.Sort == trial.Fails:
			continue
		case c.Kind.Sort == trial.Never:
			text = "stays " + text
		}
		all = append(all, text+": "+c.Before+" -> "+c.After)
	}
	return all
}

// Texts that only a message has are no statuses of the job, and a text that a status has to contain is a pattern.
func TestTextsOfMessages(t *testing.T) {
	t.Parallel()
	const loop = `{"QueryLanguage": "JSONata", "TimeoutSeconds": 7200, "StartAt": "Look", "States": {
		"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:transcribe:getTranscriptionJob",
			"Arguments": {"TranscriptionJobName": "{% $states.context.Execution.Input.job %}"},
			"Assign": {"is": "{% $states.result.TranscriptionJob.TranscriptionJobStatus %}",
				"why": "{% $exists($states.result.TranscriptionJob.FailureReason) ? $states.result.TranscriptionJob.FailureReason : 'nobody says: FAILED' %}"}, "Next": "Done?"},
		"Done?": {"Type": "Choice", "Default": "Bad", "Choices": [{"Condition": "{% $is = 'COMPLETED' %}", "Next": "Good"},
			{"Condition": "{% CONDITION %}", "Next": "Nap"}]},
		"Nap": {"Type": "Wait", "Seconds": 20, "Next": "Look"}, "Good": {"Type": "Succeed"},
		"Bad": {"Type": "Fail", "Error": "Bad", "Cause": "{% 'status ' & $is & ', because ' & $join([$why, ' (FAILED)']) %}"}}}`
	late := []string{"stays IN_PROGRESS: polls on until TimeoutSeconds -> fails JobPoller.TimedOut", "stays QUEUED: polls on until TimeoutSeconds -> fails JobPoller.TimedOut"}
	other := []string{trial.UnknownValue + ": fails Bad -> polls on", "stays " + trial.UnknownValue + ": fails Bad -> fails JobPoller.TimedOut"}
	for condition, more := range map[string][]string{
		`$is in ['QUEUED', 'IN_PROGRESS']`:              nil,
		`$is = 'QUEUED' or $contains($is, 'PROGRESS')`:  {"stays *PROGRESS*: polls on until TimeoutSeconds -> fails JobPoller.TimedOut"},
		`$is = 'QUEUED' or $contains($is, /progress/i)`: {"stays /progress/i: polls on until TimeoutSeconds -> fails JobPoller.TimedOut"},
	} {
		if !race.Takes(condition, 12) {
			continue
		}
		t.Run(condition, func(t *testing.T) {
			t.Parallel()
			_, loops := apply(t, strings.Replace(loop, "CONDITION", condition, 1), fix.Options{Strategy: compile.Variables})
			require.Len(t, loops, 1)
			require.Empty(t, loops[0].Refused)
			found := changesOf(loops[0])
			for _, row := range slices.Concat(more, late, other) {
				require.Contains(t, found, row)
			}
			for _, row := range found {
				require.NotContains(t, row, "says")
				require.NotContains(t, row, "because")
				require.NotContains(t, row, "(FAILED)")
			}
		})
	}
}

// A text that the job does not have as a status ends the old loop, and the new one asks again: that is declared
// also where both end alike then.
func TestOtherTextThatSucceeds(t *testing.T) {
	t.Parallel()
	const loop = `{"StartAt": "Look", "States": {
		"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:textract:getDocumentAnalysis", "Parameters": {"JobId.$": "$.id", "MaxResults": 1},
			"ResultSelector": {"is.$": "$.JobStatus"}, "ResultPath": "$.now", "Next": "Done?"},
		"Done?": {"Type": "Choice", "Default": "Nap", "Choices": [{"Variable": "$.now.is", RULE, "Next": "Good"},
			{"Variable": "$.now.is", "StringEquals": "PARTIAL_SUCCESS", "Next": "Good"}, {"Variable": "$.now.is", "StringEquals": "FAILED", "Next": "Bad"}]},
		"Nap": {"Type": "Wait", "Seconds": 20, "Next": "Look"}, "Good": {"Type": "Pass", "Result": "done", "End": true}, "Bad": {"Type": "Fail", "Error": "Bad"}}}`
	for rule, row := range map[string]string{
		`"StringMatches": "SUCC*"`:         "SUCC*: succeeds -> polls on",
		`"StringMatches": "*CEEDED"`:       "*CEEDED: succeeds -> polls on",
		`"StringGreaterThanEquals": "SUC"`: trial.UnknownValue + ": succeeds -> polls on",
		`"StringEquals": "SUCCEEDED"`:      "",
	} {
		if !race.Takes(rule, 12) {
			continue
		}
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			_, loops := apply(t, strings.Replace(loop, "RULE", rule, 1), fix.Options{Strategy: compile.Variables})
			require.Len(t, loops, 1)
			require.Empty(t, loops[0].Refused)
			if row == "" {
				require.NotContains(t, strings.Join(changesOf(loops[0]), "\n"), "succeeds -> polls on")
			} else {
				require.Contains(t, changesOf(loops[0]), row)
			}
		})
	}
}

// A row is about the last answer that both machines got: an end of the job behind it is of no run.
func TestRowOfTheLastAnswer(t *testing.T) {
	t.Parallel()
	const loop = `{"QueryLanguage": "JSONata", "StartAt": "Look", "States": {
		"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:eks:describeNodegroup",
			"Arguments": {"ClusterName": "{% $states.context.Execution.Input.cluster %}", "NodegroupName": "{% $states.context.Execution.Input.group %}"},
			"Output": "{% $states.result.Nodegroup.Status %}", "Next": "Done?"},
		"Done?": {"Type": "Choice", "Default": "Good", "Choices": [{"Condition": "{% $states.input in ['CREATING', 'UPDATING'] %}", "Next": "Nap"},
			{"Condition": "{% $states.input = 'CREATE_FAILED' %}", "Next": "Bad"}]},
		"Nap": {"Type": "Wait", "Seconds": 30, "Next": "Look"}, "Good": {"Type": "Succeed"}, "Bad": {"Type": "Fail", "Error": "Bad"}}}`
	_, loops := apply(t, loop, fix.Options{Strategy: compile.Variables})
	require.Len(t, loops, 1)
	require.Empty(t, loops[0].Refused)
	found := changesOf(loops[0])
	require.Contains(t, found, "DELETING: succeeds -> fails Bad")
	for _, row := range found {
		require.NotRegexp(t, `^(ACTIVE|CREATE_FAILED): `, row)
	}
}

// The job of a trial runs with a status for which the loop asks again, and not with another one of the entry.
func TestStatusOfARunningJob(t *testing.T) {
	t.Parallel()
	const loop = `{"QueryLanguage": "JSONata", "StartAt": "Nap", "States": {
		"Nap": {"Type": "Wait", "Seconds": 30, "Next": "Look"},
		"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:eks:describeCluster", "Arguments": {"Name": "{% $states.context.Execution.Input.cluster %}"},
			"Output": "{% $states.result.Cluster.Status %}", "Next": "Done?"},
		"Done?": {"Type": "Choice", "Default": "Bad", "Choices": [{"Condition": "{% $states.input in ['UPDATING', 'PENDING'] %}", "Next": "Nap"},
			{"Condition": "{% $states.input = 'ACTIVE' %}", "Next": "Good"}]},
		"Good": {"Type": "Succeed"}, "Bad": {"Type": "Fail", "Error": "Bad"}}}`
	_, loops := apply(t, loop, fix.Options{Strategy: compile.Variables})
	require.Len(t, loops, 1)
	require.Empty(t, loops[0].Refused)
	require.Contains(t, changesOf(loops[0]), "CREATING: fails Bad -> polls on")
}

// A loop is tried with the lists that the states before it set.
func TestListOfDelays(t *testing.T) {
	t.Parallel()
	const loop = `{"QueryLanguage": "JSONata", "StartAt": "Begin", "States": {
		"Begin": {"Type": "Pass", "Assign": {"delays": [20, 20, 40, 40, 60, 60, 60, 60], "n": 0}, "Next": "Nap"},
		"Nap": {"Type": "Wait", "Seconds": 30, "Next": "Look"},
		"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:getJobRun", "Arguments": {"JobName": "j", "RunId": "{% $states.context.Execution.Input.run %}"},
			"Assign": {"n": "{% $n + 1 %}"}, "Output": "{% $states.result.JobRun.JobRunState %}", "Next": "Done?"},
		"Done?": {"Type": "Choice", "Default": "Nap", "Choices": [{"Condition": "{% $states.input = 'SUCCEEDED' %}", "Next": "Good"},
			{"Condition": "{% $states.input in ['FAILED', 'ERROR', 'TIMEOUT', 'STOPPED', 'EXPIRED'] %}", "Next": "Bad"},
			{"Condition": "{% $n >= $count($delays) %}", "Next": "Late"}]},
		"Good": {"Type": "Succeed"}, "Bad": {"Type": "Fail", "Error": "Bad"}, "Late": {"Type": "Fail", "Error": "Late"}}}`
	_, loops := apply(t, loop, fix.Options{Strategy: compile.Variables})
	require.Len(t, loops, 1)
	require.Empty(t, loops[0].Refused)
}

// A bound that only one status of a running job has is no bound of the new loop.
func TestBoundOfOneStatus(t *testing.T) {
	t.Parallel()
	const loop = `{"QueryLanguage": "JSONata", "StartAt": "Begin", "States": {
		"Begin": {"Type": "Pass", "Assign": {"n": 0}, "Next": "Nap"},
		"Nap": {"Type": "Wait", "Seconds": 30, "Next": "Look"},
		"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Arguments": {"QueryExecutionId": "{% $states.context.Execution.Input.run %}"},
			"Assign": {"n": "{% $n + 1 %}"}, "Output": "{% $states.result.QueryExecution.Status.State %}", "Next": "Done?"},
		"Done?": {"Type": "Choice", "Default": "Bad", "Choices": [{"Condition": "{% $states.input = 'QUEUED' and $n > 40 %}", "Next": "Full"},
			{"Condition": "{% $states.input in ['QUEUED', 'RUNNING'] %}", "Next": "Nap"}, {"Condition": "{% $states.input = 'SUCCEEDED' %}", "Next": "Good"}]},
		"Good": {"Type": "Succeed"}, "Bad": {"Type": "Fail", "Error": "Bad"}, "Full": {"Type": "Fail", "Error": "Full"}}}`
	const full, rule = `"Next": "Full"}`, `{"Condition": "{% $states.input = 'QUEUED' and $n > 40 %}", "Next": "Full"}`
	edit := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(loop) }
	for name, c := range map[string]struct{ text, reason string }{
		"the status alone is counted": {loop, `the loop leads to "Full" by a count for QUEUED alone, and nothing bounds it for other statuses: put a Choice on the way back that looks at the count alone`},
		"beside a bound": {
			edit(rule, rule+`, {"Condition": "{% $n > 80 %}", "Next": "Late"}`, `"Full": {`, `"Late": {"Type": "Fail", "Error": "Late"}, "Full": {`),
			`nothing leads to "Late" any more: the old loop leads RUNNING of athena:StartQueryExecution there, with which the new one polls on. Lead a failure or a bound of the loop there, too`,
		},
		"a status that the job does not have": {edit("'QUEUED' and", "'ODD' and"), `nothing leads to "Full" any more: in a trial, no status of athena:StartQueryExecution alone leads there`},
		"one leads there, and the count elsewhere": {
			edit("athena:getQueryExecution", "glue:getJobRun", `{"QueryExecutionId": `, `{"JobName": "j", "RunId": `, "QueryExecution.Status.State", "JobRun.JobRunState", `['QUEUED', 'RUNNING']`, `['WAITING', 'STARTING', 'RUNNING']`,
				rule, strings.NewReplacer("QUEUED", "WAITING", full, `"Next": "Bad"}, {"Condition": "{% $states.input = 'STOPPING' %}", "Next": "Full"}`).Replace(rule)),
			`nothing leads to "Full" any more: the old loop leads STOPPING of glue:StartJobRun there, with which the new one polls on`,
		},
	} {
		if !race.Takes(name, 12) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, loops := apply(t, c.text, fix.Options{Strategy: compile.Variables})
			require.Len(t, loops, 1)
			require.Contains(t, loops[0].Refused, c.reason)
		})
	}
}

// A loop that looks at more than the status stays: a compiled one does not tell such answers apart.
func TestLoopOnMoreThanTheStatus(t *testing.T) {
	t.Parallel()
	const loop = `{"QueryLanguage": "JSONata", "StartAt": "Nap", "States": {
		"Nap": {"Type": "Wait", "Seconds": 60, "Next": "Look"},
		"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:getJobRun", "Arguments": {"JobName": "j", "RunId": "{% $states.context.Execution.Input.run %}"},
			"Assign": {"is": "{% $states.result.JobRun.JobRunState %}", "spent": "{% $exists($states.result.JobRun.ExecutionTime) ? $states.result.JobRun.ExecutionTime : 0 %}",
				"why": "{% $exists($states.result.JobRun.ErrorMessage) ? $states.result.JobRun.ErrorMessage : '' %}"}, "Next": "Done?"},
		"Done?": {"Type": "Choice", "Default": "Nap", "Choices": [{"Condition": "{% $is = 'SUCCEEDED' %}", "Next": "Good"}, RULE,
			{"Condition": "{% $is in ['FAILED', 'ERROR', 'TIMEOUT', 'STOPPED', 'EXPIRED'] %}", "Next": "Bad"}]},
		"Good": {"Type": "Succeed"}, "Bad": {"Type": "Fail", "Error": "Bad"}, "Other": {"Type": "Fail", "Error": "Other"}}}`
	const alone = ": a compiled loop looks at the status alone"
	rule := func(condition, next string) string {
		return `{"Condition": "{% ` + condition + ` %}", "Next": "` + next + `"}`
	}
	for name, c := range map[string]struct{ rule, reason string }{
		"a message by a regular expression": {rule(`$contains($why, /^No new data/)`, "Good"), "and JobRun.ErrorMessage like /^No new data/, the execution succeeds, and with the new loop it fails Bad" + alone},
		"a message by a text":               {rule(`$contains($why, 'no new data')`, "Good"), "and JobRun.ErrorMessage like *no new data*, the execution succeeds, and with the new loop it fails Bad" + alone},
		"a whole message":                   {rule(`$why = 'No new data'`, "Good"), "and JobRun.ErrorMessage No new data, the execution succeeds, and with the new loop it fails Bad" + alone},
		"a number":                          {rule(`$spent > 500`, "Bad"), "and JobRun.ExecutionTime 501, the execution fails Bad, and with the new loop it polls on" + alone},
		"a message while the job runs":      {rule(`$is = 'RUNNING' and $contains($why, 'stuck')`, "Bad"), "with status RUNNING and JobRun.ErrorMessage like *stuck*, the execution fails Bad, and with the new loop it polls on" + alone},
		"a state of its own while it runs":  {rule(`$is = 'RUNNING' and $contains($why, 'stuck')`, "Other"), `RUNNING may lead to "Other" by more than the status, which is all that a new loop looks at`},
		"a failure by its message":          {rule(`$is = 'FAILED' and $contains($why, 'memory')`, "Other"), `FAILED leads to "Bad" or "Other" by more than the status, which is all that a new loop looks at`},
		"a status that nobody knows":        {rule(`$is = 'ODD'`, "Other"), `in a trial, no status of glue:StartJobRun alone leads there, and a new loop looks at nothing else`},
		"a status on the way to an end":     {rule(`$is = 'STOPPING'`, "Other"), `nothing leads to "Other" any more: the old loop leads STOPPING of glue:StartJobRun there, with which the new one polls on`},
		"a status that runs":                {rule(`$is = 'RUNNING'`, "Other"), `nothing leads to "Other" any more: the old loop leads RUNNING of glue:StartJobRun there, with which the new one polls on`},
		"a status that runs, and a message": {rule(`$is = 'RUNNING' and $contains($why, 'stuck')`, "Bad") + "," + rule(`$is = 'ODD'`, "Other"), `in a trial, no status of glue:StartJobRun alone leads there`},
		"a message of any other status": {
			rule(`$is in ['FAILED', 'ERROR', 'TIMEOUT', 'STOPPED', 'EXPIRED']`, "Bad") + "," + rule(`$is in ['STARTING', 'RUNNING', 'STOPPING', 'WAITING']`, "Nap") + "," + rule(`$contains($why, 'stuck')`, "Other"),
			`in a trial, no status of glue:StartJobRun alone leads there`,
		},
		"a message that leads the same way": {rule(`$is = 'FAILED' and $contains($why, 'memory')`, "Bad"), ""},
	} {
		if !race.Takes(name, 12) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(loop, "RULE", c.rule, 1)
			if !strings.Contains(c.rule, "Other") {
				text = strings.Replace(text, `, "Other": {"Type": "Fail", "Error": "Other"}`, "", 1)
			}
			_, loops := apply(t, text, fix.Options{Strategy: compile.Variables})
			require.Len(t, loops, 1)
			if c.reason == "" {
				require.Empty(t, loops[0].Refused)
			} else {
				require.Contains(t, loops[0].Refused, c.reason)
			}
		})
	}
}

// A job that ends with a part of the work leads where it led: the author says whether that is enough.
func TestPartOfTheWork(t *testing.T) {
	t.Parallel()
	const loop = `{"QueryLanguage": "JSONata", "StartAt": "Look", "States": {
		"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:translate:describeTextTranslationJob", "Arguments": {"JobId": "{% $states.context.Execution.Input.job %}"},
			"Output": "{% $states.result.TextTranslationJobProperties.JobStatus %}", "Next": "Done?"},
		"Done?": {"Type": "Choice", "Default": "Nap", "Choices": [{"Condition": "{% $states.input in ['COMPLETED', 'COMPLETED_WITH_ERROR'] %}", "Next": "Good"},
			{"Condition": "{% $states.input in ['FAILED', 'STOPPED'] %}", "Next": "Bad"}]},
		"Nap": {"Type": "Wait", "Seconds": 30, "Next": "Look"}, "Good": {"Type": "Succeed"}, "Bad": {"Type": "Fail", "Error": "Bad"}}}`
	for text, exit := range map[string]string{loop: "Good", strings.Replace(loop, `'COMPLETED', 'COMPLETED_WITH_ERROR'`, `'COMPLETED'`, 1): "Bad"} {
		if !race.Takes(exit, 12) {
			continue
		}
		t.Run(exit, func(t *testing.T) {
			t.Parallel()
			_, loops := apply(t, text, fix.Options{Strategy: compile.Variables})
			require.Len(t, loops, 1)
			require.Empty(t, loops[0].Refused)
			i := slices.IndexFunc(loops[0].Routes, func(r fix.Route) bool { return r.Status == "COMPLETED_WITH_ERROR" })
			require.Equal(t, exit, loops[0].Routes[i].After)
		})
	}
}

// The bound of a loop is in the Choices that lead where it leads, and not in one for calls that fail.
func TestPlaceOfTheBound(t *testing.T) {
	t.Parallel()
	const loop = `{"QueryLanguage": "JSONata", "StartAt": "Begin", "States": {
		"Begin": {"Type": "Pass", "Assign": {"n": 0}, "Next": "Nap"},
		"Nap": {"Type": "Wait", "Seconds": 15, "Next": "Look"},
		"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:ssm:getCommandInvocation",
			"Arguments": {"CommandId": "{% $states.context.Execution.Input.command %}", "InstanceId": "i-1"},
			"Retry": [{"ErrorEquals": ["Ssm.InvocationDoesNotExistException"], "IntervalSeconds": 5, "MaxAttempts": 3}],
			"Assign": {"n": "{% $n + 1 %}"}, "Output": "{% $states.result.Status %}", "Next": "Done?"},
		"Done?": {"Type": "Choice", "Default": "Nap", "Choices": [{"Condition": "{% $states.input = 'Success' %}", "Next": "Good"},
			{"Condition": "{% $states.input in ['Failed', 'TimedOut', 'Cancelled'] %}", "Next": "Bad"}, {"Condition": "{% $n > 100 %}", "Next": "Late"}]},
		"Good": {"Type": "Succeed"}, "Bad": {"Type": "Fail", "Error": "Bad"}, "Late": {"Type": "Fail", "Error": "Late"}}}`
	after, loops := apply(t, loop, fix.Options{Strategy: compile.Variables})
	require.Len(t, loops, 1)
	require.Empty(t, loops[0].Refused)
	require.Contains(t, after, `"Look has time left"`)
	m, err := asl.Parse([]byte(after))
	require.NoError(t, err)
	tables := lint.Loops(m, lint.Options{})
	require.Len(t, tables, 1)
	require.Equal(t, "Late", tables[0].Bound.Route)
	require.Equal(t, []string{"Done?"}, tables[0].Bound.At)
}

// A reason why a finding stays says what is so.
func TestReasonsOfFindings(t *testing.T) {
	t.Parallel()
	const again = `{"StartAt": "Go", "States": {
		"Go": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:startQueryExecution", "Parameters": {"QueryString": "SELECT 1", "ClientRequestToken.$": "States.UUID()"}, "ResultPath": "$.q", "Next": "Zero"},
		"Zero": {"Type": "Pass", "Result": 0, "ResultPath": "$.c.n", "Next": "Nap"},
		"Nap": {"Type": "Wait", "Seconds": 20, "Next": "Look"},
		"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId.$": "$.q.QueryExecutionId"}, "ResultPath": "$.d",
			"Catch": [{"ErrorEquals": ["States.ALL"], "ResultPath": "$.e", "Next": "Go"}], "Next": "Count"},
		"Count": {"Type": "Pass", "Parameters": {"n.$": "States.MathAdd($.c.n, 1)"}, "ResultPath": "$.c", "Next": "Done?"},
		"Done?": {"Type": "Choice", "Default": "Nap", "Choices": [{"Variable": "$.d.QueryExecution.Status.State", "StringEquals": "SUCCEEDED", "Next": "Good"},
			{"Variable": "$.d.QueryExecution.Status.State", "StringMatches": "*ED", "Next": "Bad"}, {"Variable": "$.c.n", "NumericGreaterThan": 90, "Next": "Bad"}]},
		"Good": {"Type": "Succeed"}, "Bad": {"Type": "Fail", "Error": "Bad"}}}`
	const hidden = `{"QueryLanguage": "JSONata", "StartAt": "Go", "TimeoutSeconds": 3600, "States": {
		"Go": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:emr:runJobFlow", "Arguments": {"Name": "one", "Instances": {"KeepJobFlowAliveWhenNoSteps": true}},
			"Assign": {"id": "{% $states.result.JobFlowId %}"}, "Next": "Nap"},
		"Nap": {"Type": "Wait", "Seconds": 20, "Next": "Look"},
		"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:emr:describeCluster", "Arguments": {"ClusterId": "{% $id %}"},
			"Assign": {"is": "{% $states.result.Cluster.Status.State %}"}, "Next": "Done?"},
		"Done?": {"Type": "Choice", "Default": "Bad", "Choices": [{"Condition": "{% $contains($is, /ING$/) %}", "Next": "Nap"},
			{"Condition": "{% $is in ['WAITING', 'RUNNING'] %}", "Next": "Good"}]},
		"Good": {"Type": "Succeed"}, "Bad": {"Type": "Fail", "Error": "Bad"}}}`
	const unknown = `{"StartAt": "Nap", "States": {
		"Nap": {"Type": "Wait", "Seconds": 20, "Next": "Look"},
		"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:workmail:describeMailboxExportJob", "Parameters": {"OrganizationId": "o", "JobId.$": "$.id"}, "ResultPath": "$.d", "Next": "Done?"},
		"Done?": {"Type": "Choice", "Default": "Nap", "Choices": [{"Variable": "$.told", "StringEquals": "completed", "Next": "Good"}]},
		"Good": {"Type": "Succeed"}}}`
	rule := func(back string) string {
		return strings.Replace(unknown, `"Default": "Nap", "Choices": [`, `"Default": "Good", "Choices": [`+back, 1)
	}
	const counted = `{"QueryLanguage": "JSONata", "StartAt": "Zero", "States": {
		"Zero": {"Type": "Pass", "Assign": {"n": 0}, "Next": "Nap"},
		"Nap": {"Type": "Wait", "Seconds": 20, "Next": "Look"},
		"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:workmail:describeMailboxExportJob", "Arguments": {"OrganizationId": "o", "JobId": "{% $states.input.id %}"},
			"Assign": {"is": "{% $states.input.told %}", "n": "{% $n + 1 %}"}, "Next": "Done?"},
		"Done?": {"Type": "Choice", "Default": "Zero", "Choices": [{"Condition": "{% $is = 'completed' %}", "Next": "Good"}, {"Condition": "{% $n > 50 %}", "Next": "Good"}]},
		"Good": {"Type": "Succeed"}}}`
	const byDefault = `{"QueryLanguage": "JSONata", "StartAt": "Zero", "States": {
		"Zero": {"Type": "Pass", "Assign": {"n": 0}, "Next": "Nap"},
		"Nap": {"Type": "Wait", "Seconds": 20, "Next": "Look"},
		"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:workmail:describeMailboxExportJob", "Arguments": {"OrganizationId": "o", "JobId": "{% $states.input.id %}"},
			"Assign": {"is": "{% $states.input.told %}"}, "Next": "Done?"},
		"Done?": {"Type": "Choice", "Default": "Nap", "Assign": {"n": "{% $n + 1 %}"}, "Choices": [{"Condition": "{% $is = 'active' and $n < 100 %}", "Next": "Nap"},
			{"Condition": "{% $is = 'completed' %}", "Next": "Good"}]},
		"Good": {"Type": "Succeed"}}}`
	const mapped = `{"QueryLanguage": "JSONata", "StartAt": "Nap", "TimeoutSeconds": 7200, "States": {
		"Nap": {"Type": "Wait", "Seconds": 20, "Next": "Look"},
		"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:codebuild:batchGetBuilds", "Arguments": {"Ids": ["{% $states.input.id %}"]}, "Retry": [{"ErrorEquals": ["States.TaskFailed"]}],
			"Output": {"id": "{% $states.input.id %}", "v": "{% $states.result.Builds[0].BuildStatus = 'SUCCEEDED' ? 'good' : $states.result.Builds[0].BuildStatus in ['FAILED','FAULT'] ? 'bad' : 'wait' %}"}, "Next": "Done?"},
		"Done?": {"Type": "Choice", "Default": "Nap", "Choices": [{"Condition": "{% $states.input.v = 'good' %}", "Next": "Good"}, {"Condition": "{% $states.input.v = 'bad' %}", "Next": "Bad"}]},
		"Good": {"Type": "Succeed"}, "Bad": {"Type": "Fail", "Error": "Bad"}}}`
	const word = `{"StartAt": "Nap", "TimeoutSeconds": 7200, "States": {
		"Nap": {"Type": "Wait", "Seconds": 20, "Next": "Look"},
		"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:route53domains:getOperationDetail", "Parameters": {"OperationId.$": "$.id"}, "ResultPath": "$.now", "Next": "Done?"},
		"Done?": {"Type": "Choice", "Default": "Nap", "Choices": [{"Variable": "$.now.Status", "StringEquals": "HALFWAY", "Next": "Good"},
			{"Variable": "$.now.Status", "StringEquals": "FAILED", "Next": "Bad"}]},
		"Good": {"Type": "Succeed"}, "Bad": {"Type": "Fail", "Error": "Bad"}}}`
	const early = `{"QueryLanguage": "JSONata", "StartAt": "Go", "States": {
		"Go": {"Type": "Pass", "Assign": {"t0": "{% $millis() %}"}, "Next": "Nap"},
		"Nap": {"Type": "Wait", "Seconds": 20, "Next": "Look"},
		"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Arguments": {"QueryExecutionId": "q"},
			"Assign": {"is": "{% $states.result.QueryExecution.Status.State %}"}, "Next": "Done?"},
		"Done?": {"Type": "Choice", "Default": "Nap", "Choices": [{"Condition": "{% $is = 'SUCCEEDED' %}", "Next": "Good"},
			{"Condition": "{% $is in ['FAILED', 'CANCELLED'] or $millis() - $t0 > 7200 %}", "Next": "Bad"}]},
		"Good": {"Type": "Succeed"}, "Bad": {"Type": "Fail", "Error": "Bad"}}}`
	const child = `{"StartAt": "Ask", "TimeoutSeconds": 3600, "States": {
		"Ask": {"Type": "Task", "Resource": "arn:aws:states:::states:startExecution.sync", "Parameters": {"StateMachineArn": "arn:aws:states:us-east-1:123456789012:stateMachine:look"},
			"Retry": [{"ErrorEquals": ["States.TaskFailed"]}], "ResultPath": "$.r", "Next": "Done?"},
		"Done?": {"Type": "Choice", "Default": "Nap", "Choices": [{"Variable": "$.r.Output.state", "StringEquals": "done", "Next": "Good"}]},
		"Nap": {"Type": "Wait", "Seconds": 20, "Next": "Ask"}, "Good": {"Type": "Succeed"}}}`
	for name, c := range map[string]struct {
		text, rule string
		maxWait    time.Duration
		reason     string
	}{
		"a count that each turn sets anew": {counted, lint.UnboundedLoop, 0, `fix knows no job that "Look" polls, so it cannot try a bound: "Look" adds to a number in the loop: let no other state of the loop set that anew`},
		"a status that the machine maps to words of its own": {mapped, lint.StatusPollsOn, 0, `"Done?" compares words of its own, and not the status: ` +
			"let the state that computes them make one of TIMED_OUT, STOPPED, too"},
		"a count of the Default alone":                {byDefault, lint.UnboundedLoop, 0, `"Done?" counts by its own Assign, which works with its Default alone`},
		"an error that starts the job again":          {again, lint.UnboundedLoop, 0, `an error of "Look" leads to "Go", which starts another job, and no bound of the polls counts that`},
		"an error that starts it again, with a bound": {again, lint.UnboundedLoop, time.Hour, `an error of "Look" leads to "Go", which starts another job, and no bound of the polls counts that`},
		"a rule behind one that takes its status":     {hidden, lint.StatusPollsOn, 0, `the rule of "Done?" that leads to "Good" names WAITING, but another rule takes it first`},
		"a word like several values":                  {word, typecheck.EnumValue, 0, `only you know which value is meant: $.now.Status is never "HALFWAY": its values are ERROR, `},
		"a time in seconds":                           {early, lint.EarlyBound, 0, "only you know how long a job may run: times of JSONata are in milliseconds: if you mean 7200 seconds, write 7200000"},
		"a loop that looks at no answer": {unknown, lint.UnboundedLoop, 0, `fix knows no job that "Look" polls, so it cannot try a bound: ` +
			`count the turns by Assign in "Nap", and leave the loop by a rule of "Done?" behind the others`},
		"a member of a text": {child, typecheck.UnknownMember, 0, "a text has no members: parse it first, by States.StringToJson in JSONPath or $parse in JSONata. " +
			`If it is the Output of "Ask", end its Resource in .sync:2, which gives an object`},
		"a rule that leads back": {
			rule(`{"Variable": "$.told", "StringEquals": "active", "Next": "Nap"},`), lint.UnboundedLoop, 0,
			`count the turns by Assign in "Nap", and put a Choice in front of it that leaves the loop by the count`,
		},
		"a rule and the default that lead back": {
			strings.Replace(unknown, `"Choices": [`, `"Choices": [{"Variable": "$.told", "StringEquals": "active", "Next": "Nap"},`, 1),
			lint.UnboundedLoop, 0, `count the turns by Assign in "Nap", and put a Choice in front of it that leaves the loop by the count`,
		},
	} {
		if !race.Takes(name, 12) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, repairOf(t, c.text, c.rule, c.maxWait).Reason, c.reason)
		})
	}
}

// A status at which only the old loop is left is declared where a second wait behind it never ends: both poll on.
func TestLoopLeftForOneWithoutEnd(t *testing.T) {
	t.Parallel()
	const loop = `{"StartAt": "Look", "States": {
		"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:textract:getDocumentAnalysis", "Parameters": {"JobId.$": "$.id", "MaxResults": 1},
			"ResultSelector": {"is.$": "$.JobStatus"}, "ResultPath": "$.now", "Next": "Done?"},
		"Done?": {"Type": "Choice", "Default": "Nap", "Choices": [{"Variable": "$.now.is", "StringMatches": "SUCC*", "Next": "Query"},
			{"Variable": "$.now.is", "StringEquals": "PARTIAL_SUCCESS", "Next": "Query"}, {"Variable": "$.now.is", "StringEquals": "FAILED", "Next": "Bad"}]},
		"Nap": {"Type": "Wait", "Seconds": 20, "Next": "Look"},
		"Query": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId": "q"}, "ResultPath": "$.q",
			"Next": "Queried?"},
		"Queried?": {"Type": "Choice", "Choices": [{"Variable": "$.q.QueryExecution.Status.State", "StringEquals": "FAILED", "Next": "Good"}], "Default": "Rest"},
		"Rest": {"Type": "Wait", "Seconds": 20, "Next": "Query"},
		"Good": {"Type": "Succeed"}, "Bad": {"Type": "Fail", "Error": "Bad"}}}`
	_, loops := apply(t, loop, fix.Options{Strategy: compile.Variables})
	require.Len(t, loops, 2)
	require.Empty(t, loops[0].Refused)
	require.Contains(t, changesOf(loops[0]), "SUCC*: leaves the loop, and polls on -> polls on")
}

// A status like a pattern of the machine, which the old loop takes at its bound alone, is declared where the machine
// polls for one job after another.
func TestPatternAtTheBoundOfOneOfSeveralJobs(t *testing.T) {
	t.Parallel()
	const loop = `{"StartAt": "First", "States": {
		"First": {"Type": "Pass", "Result": 0, "ResultPath": "$.i", "Next": "More?"},
		"More?": {"Type": "Choice", "Choices": [{"Variable": "$.i", "NumericLessThan": 2, "Next": "Zero"}], "Default": "Good"},
		"Zero": {"Type": "Pass", "Result": 0, "ResultPath": "$.polls", "Next": "Start"},
		"Start": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:entityresolution:startMatchingJob", "Parameters": {"WorkflowName": "w"}, "ResultPath": "$.job", "Next": "Nap"},
		"Nap": {"Type": "Wait", "Seconds": 60, "Next": "Ask"},
		"Ask": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:entityresolution:getMatchingJob",
			"Parameters": {"WorkflowName": "w", "JobId.$": "$.job.JobId"}, "ResultSelector": {"is.$": "$.Status"}, "ResultPath": "$.seen", "Next": "Fork"},
		"Fork": {"Type": "Choice", "Default": "Stuck", "Choices": [
			{"And": [{"Not": {"Variable": "$.seen.is", "StringMatches": "*ED"}}, {"Variable": "$.polls", "NumericLessThan": 180}], "Next": "Tick"},
			{"Variable": "$.seen.is", "StringMatches": "SUCCEED*", "Next": "Step"}, {"Variable": "$.seen.is", "StringMatches": "FAIL*", "Next": "Broken"},
			{"Variable": "$.polls", "NumericLessThan": 180, "Next": "Tick"}]},
		"Tick": {"Type": "Pass", "Parameters": {"n.$": "States.MathAdd($.polls, 1)"}, "ResultPath": "$.t", "Next": "Tock"},
		"Tock": {"Type": "Pass", "InputPath": "$.t.n", "ResultPath": "$.polls", "Next": "Nap"},
		"Step": {"Type": "Pass", "Parameters": {"i.$": "States.MathAdd($.i, 1)"}, "Next": "More?"},
		"Good": {"Type": "Succeed"}, "Broken": {"Type": "Fail", "Error": "Broken"}, "Stuck": {"Type": "Fail", "Error": "Stuck"}}}`
	_, loops := apply(t, loop, fix.Options{Strategy: compile.Variables})
	require.Len(t, loops, 1)
	require.Empty(t, loops[0].Refused)
	require.Contains(t, changesOf(loops[0]), "stays SUCCEED*: succeeds -> fails Stuck")
	require.Contains(t, changesOf(loops[0]), "stays FAIL*: fails Broken -> fails Stuck")
}
