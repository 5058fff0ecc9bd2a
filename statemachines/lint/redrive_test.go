package lint_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/lint"
)

// A redrive of a ".sync" Task that timed out starts a second job, unless the Task
// catches the time-out, or the service takes no second job of the name or token.
func TestRedriveRestarts(t *testing.T) {
	t.Parallel()
	task := func(resource, parameters, more string) string {
		return states(`"StartAt": "Run",`, `"Run": {"Type": "Task", "Resource": "arn:aws:states:::`+resource+`", "Parameters": {`+parameters+`}`+more+`, "Next": "Done"}`)
	}
	const limit = `, "TimeoutSeconds": 60`
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"a time limit":     {task("glue:startJobRun.sync", `"JobName": "j"`, limit), []string{"redrive-restarts /States/Run/TimeoutSeconds"}},
		"a limit of input": {task("glue:startJobRun.sync", `"JobName": "j"`, `, "TimeoutSecondsPath": "$.t"`), []string{"redrive-restarts /States/Run/TimeoutSecondsPath"}},
		"a token is free":  {task("ecs:runTask.sync", `"TaskDefinition": "d"`, limit), []string{"redrive-restarts /States/Run/TimeoutSeconds"}},
		"a token":          {task("ecs:runTask.sync", `"TaskDefinition": "d", "ClientToken.$": "$$.Execution.Name"`, limit), nil},
		"a name":           {task("sagemaker:createTrainingJob.sync", `"TrainingJobName.$": "$.n"`, limit), nil},
		"no time limit":    {task("glue:startJobRun.sync", `"JobName": "j"`, ""), nil},
		"it is caught":     {task("glue:startJobRun.sync", `"JobName": "j"`, limit+`, "Catch": [{"ErrorEquals": ["States.Timeout"], "Next": "Done"}]`), nil},
		"all are caught":   {task("glue:startJobRun.sync", `"JobName": "j"`, limit+`, "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Done"}]`), nil},
		"failures alone":   {task("glue:startJobRun.sync", `"JobName": "j"`, limit+`, "Catch": [{"ErrorEquals": ["States.TaskFailed"], "Next": "Done"}]`), []string{"redrive-restarts /States/Run/TimeoutSeconds"}},
		"it does not wait": {task("glue:startJobRun", `"JobName": "j"`, limit), nil},
		"nobody knows it":  {task("eks:createCluster.sync", `"Name": "c"`, limit), nil},
	} {
		found := named(check(t, c.text, lint.Options{}))
		require.Equal(t, c.want, nilIfEmpty(found), "%s: %s", name, strings.Join(found, ", "))
	}
}

func nilIfEmpty(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	return list
}
