package fix_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/statemachines/trial"
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
	_, loops := apply(t, loop, fix.Options{Strategy: compile.Variables})
	require.Len(t, loops, 1)
	require.Equal(t, `the loop leads to "Full" by a count or a time for QUEUED alone, and nothing bounds it for other statuses: `+
		`let a rule behind the others look at the count or the time alone`, loops[0].Refused)
}
