package simulate_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
)

// planOf plans the jobs of a machine that makes a call and then polls.
func planOf(t *testing.T, resource, describe string, polled *catalog.Entry) *simulate.Plan {
	t.Helper()
	m, err := asl.Parse(fmt.Appendf(nil, `{"StartAt": "Change", "States": {
		"Change": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:%s", "Parameters": {}, "Next": "Wait"},
		"Wait": {"Type": "Wait", "Seconds": 5, "Next": "Look"},
		"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:%s", "Parameters": {}, "Next": "Done?"},
		"Done?": {"Type": "Choice", "Choices": [{"Variable": "$.x", "StringEquals": "y", "Next": "Wait"}], "Default": "Good"},
		"Good": {"Type": "Succeed"}}}`, resource, describe))
	require.NoError(t, err)
	o := simulate.Options{Models: models.Load, Specs: []simulate.Spec{{Spread: mock.Exactly(time.Minute)}}, Polls: map[string]*catalog.Entry{}}
	if polled != nil {
		o.Polls["Look"] = polled
	}
	plan, err := simulate.New(m, o)
	require.NoError(t, err)
	return plan
}

// What a waiter waits for begins with the call that changes the resource, and the status is then that
// of the change. It began with the first poll, and an update of a stack was CREATE_IN_PROGRESS.
func TestAChangeBeginsWithItsCall(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		service, call, describe, entry string
		running                        string
		exists                         bool
	}{
		{"cloudformation", "cloudformation:updateStack", "cloudformation:describeStacks", "StackUpdateComplete", "UPDATE_IN_PROGRESS", true},
		{"cloudformation", "cloudformation:executeChangeSet", "cloudformation:describeStacks", "StackUpdateComplete", "UPDATE_IN_PROGRESS", true},
		{"cloudformation", "cloudformation:deleteStack", "cloudformation:describeStacks", "StackDeleteComplete", "DELETE_IN_PROGRESS", false},
		{"sagemaker", "sagemaker:updateEndpoint", "sagemaker:describeEndpoint", "EndpointInService", "Updating", true},
		{"sagemaker", "sagemaker:createEndpoint", "sagemaker:describeEndpoint", "EndpointInService", "Creating", false},
		{"lambda", "lambda:updateFunctionConfiguration", "lambda:getFunctionConfiguration", "FunctionUpdated", "InProgress", true},
		{"eks", "eks:updateNodegroupConfig", "eks:describeNodegroup", "NodegroupActive", "UPDATING", true},
		{"rds", "rds:createDBInstance", "rds:describeDBInstances", "DBInstanceAvailable", "creating", false},
		{"ssm", "ssm:sendCommand", "ssm:getCommandInvocation", "CommandExecuted", "InProgress", false},
		{"emr", "emr:addJobFlowSteps", "emr:describeStep", "StepComplete", "RUNNING", false},
		{"redshift", "redshift:restoreFromClusterSnapshot", "redshift:describeClusters", "ClusterAvailable", "creating", false},
		{"redshift", "redshift:restoreFromClusterSnapshot", "redshift:describeClusters", "ClusterRestored", "restoring", false},
		{"ec2", "ec2:createDefaultVpc", "ec2:describeVpcs", "VpcAvailable", "pending", false},
		// These begin something else.
		{"cloudformation", "cloudformation:createStackSet", "cloudformation:describeStacks", "StackCreateComplete", "", false},
		{"rds", "rds:createDBSnapshot", "rds:describeDBInstances", "DBInstanceAvailable", "", false},
		{"rds", "rds:deleteDBInstance", "rds:describeDBInstances", "DBInstanceAvailable", "", false},
	} {
		e, err := catalog.Lookup(c.service, c.entry)
		require.NoError(t, err)
		text, err := planOf(t, c.call, c.describe, e).JSON()
		require.NoError(t, err)
		var file map[string]struct {
			Job struct {
				Start map[string]struct {
					Runs    string `json:"runs"`
					Running string `json:"running"`
				} `json:"start"`
				Exists bool `json:"exists"`
			} `json:"job"`
		}
		require.NoError(t, json.Unmarshal(text, &file), string(text))
		require.Equal(t, c.running, file["Look"].Job.Start["Change"].Running, c.call)
		require.Equal(t, c.exists, file["Look"].Job.Exists, c.call)
		if c.running != "" {
			require.Equal(t, "1m", file["Look"].Job.Start["Change"].Runs)
		}
	}
}

// A Task of a loop that no simulated job answers is told, and so is a time that counts for nothing.
func TestTasksThatNoJobStandsBehind(t *testing.T) {
	t.Parallel()
	plan := planOf(t, "workmail:startMailboxExportJob", "workmail:describeMailboxExportJob", nil)
	require.Equal(t, []string{"Look"}, plan.Alike)
	require.Empty(t, plan.Jobs)
	plan = planOf(t, "rds:createDBInstance", "rds:describeDBInstances", nil)
	require.Empty(t, plan.Alike)
	require.Empty(t, plan.Untimed)

	once := `{"StartAt": "Look", "States": {"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:rds:describeDBInstances", "Parameters": {}, "End": true}}}`
	m, err := asl.Parse([]byte(once))
	require.NoError(t, err)
	plan, err = simulate.New(m, simulate.Options{Models: models.Load, Specs: []simulate.Spec{{Spread: mock.Exactly(time.Minute)}}})
	require.NoError(t, err)
	require.Equal(t, []string{"Look"}, plan.Untimed)
}

// A Parallel whose Retry takes the error of a Fail state in it is the loop: the job runs as long as
// the spec says.
func TestARetriedParallelPolls(t *testing.T) {
	t.Parallel()
	const text = `{"StartAt": "Both", "States": {"Both": {"Type": "Parallel", "Retry": [{"ErrorEquals": ["TAKEN"], "IntervalSeconds": 60, "MaxAttempts": 240}],
		"Branches": [{"StartAt": "Look", "States": {
			"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:emr:describeStep", "Parameters": {"ClusterId": "j", "StepId": "s"}, "Next": "Done?"},
			"Done?": {"Type": "Choice", "Choices": [{"Variable": "$.Step.Status.State", "StringEquals": "COMPLETED", "Next": "Good"}], "Default": "Again"},
			"Good": {"Type": "Succeed"}, "Again": RAISES}}], "End": true}}}`
	fails := func(name string) string { return `{"Type": "Fail", "Error": "` + name + `"}` }
	for _, c := range []struct{ taken, raises, runs string }{
		{"NotYet", fails("NotYet"), "12m"},
		{"NotYet", fails("Broken"), "0s"},
		{"NotYet", `{"Type": "Fail"}`, "0s"},
		{"States.ALL", fails("NotYet"), "12m"},
		{"States.ALL", `{"Type": "Fail"}`, "12m"},
		{"States.ALL", `{"Type": "Succeed"}`, "0s"},
		{"States.TaskFailed", fails("NotYet"), "12m"},
		{"States.TaskFailed", fails("States.Timeout"), "0s"},
		{"States.TaskFailed", `{"Type": "Succeed"}`, "0s"},
		{"States.Timeout", fails("States.Timeout"), "12m"},
	} {
		m, err := asl.Parse([]byte(strings.NewReplacer("TAKEN", c.taken, "RAISES", c.raises).Replace(text)))
		require.NoError(t, err)
		plan, err := simulate.New(m, simulate.Options{Models: models.Load, Specs: []simulate.Spec{{Spread: mock.Exactly(12 * time.Minute)}}})
		require.NoError(t, err)
		out, err := plan.JSON()
		require.NoError(t, err)
		require.Contains(t, string(out), `"runs": "`+c.runs+`"`, "%+v", c)
	}
}

// A stop call stops the job that a machine only watches.
func TestAWatchedJobIsStopped(t *testing.T) {
	t.Parallel()
	const text = `{"StartAt": "Look", "States": {
		"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:sagemaker:describeHyperParameterTuningJob", "Parameters": {"HyperParameterTuningJobName": "j"},
			"ResultPath": "$.job", "Next": "Done?"},
		"Done?": {"Type": "Choice", "Choices": [
			{"Variable": "$.job.HyperParameterTuningJobStatus", "StringEquals": "Stopped", "Next": "End"},
			{"Variable": "$.stop", "IsPresent": true, "Next": "Wait"}], "Default": "Stop"},
		"Stop": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:sagemaker:stopHyperParameterTuningJob", "Parameters": {"HyperParameterTuningJobName": "j"},
			"ResultPath": "$.stop", "Next": "Wait"},
		"Wait": {"Type": "Wait", "Seconds": 60, "Next": "Look"},
		"End": {"Type": "Succeed"}}}`
	m, err := asl.Parse([]byte(text))
	require.NoError(t, err)
	plan, err := simulate.New(m, simulate.Options{Models: models.Load, Specs: []simulate.Spec{{Spread: mock.Exactly(time.Hour)}}})
	require.NoError(t, err)
	o := sim.Options{Models: models.Load, Clock: sim.NewVirtualClock(time.Unix(0, 0))}
	require.NoError(t, plan.Apply(m, &o))
	r, err := sim.Run(t.Context(), m, []byte(`{}`), o)
	require.NoError(t, err)
	require.Empty(t, r.Error, r.Cause)
	require.Equal(t, time.Minute, r.Duration())
}

// The answer of a start call has the status of a job that runs, unless the made-up one is of such a job.
func TestStartTellsThatTheJobRuns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ start, describe, reads, answer string }{
		{"codebuild:startBuild", "codebuild:batchGetBuilds", "Build.BuildStatus", `{"Build":{"BuildStatus":"IN_PROGRESS"}}`},
		{"amplify:startJob", "amplify:getJob", "JobSummary.Status", `"Status":"CREATED"`},
	} {
		m, err := asl.Parse(fmt.Appendf(nil, `{"StartAt": "Start", "States": {
			"Start": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:%s", "Parameters": {}, "Next": "Over?"},
			"Over?": {"Type": "Choice", "Choices": [{"Variable": "$.%s", "StringEquals": "SUCCEEDED", "Next": "Good"}], "Default": "Wait"},
			"Wait": {"Type": "Wait", "Seconds": 5, "Next": "Look"},
			"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:%s", "Parameters": {}, "Next": "Over?"},
			"Good": {"Type": "Succeed"}}}`, c.start, c.reads, c.describe))
		require.NoError(t, err)
		plan, err := simulate.New(m, simulate.Options{Models: models.Load, Specs: []simulate.Spec{{Spread: mock.Exactly(time.Minute)}}})
		require.NoError(t, err)
		text, err := plan.JSON()
		require.NoError(t, err)
		require.Contains(t, strings.Join(strings.Fields(string(text)), ""), c.answer)
	}
}
