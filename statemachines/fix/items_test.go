package fix_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/statemachines/trial"
	"github.com/jobpoller/jobpoller/tests/race"
)

// A new loop judges all items of an answer. The rows name each answer for which that ends
// otherwise than with the items that the old loop looks at.
func TestItemsOfAnAnswer(t *testing.T) {
	t.Parallel()
	const loop = `{"StartAt": "Start", "States": {
		"Start": {START, "Next": "Look"},
		"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:CALL", "Parameters": ARGUMENTS, "ResultPath": "$.look", "Next": "Done?"},
		"Done?": {"Type": "Choice", "Default": "Pause", "Choices": [RULES]},
		"Pause": {"Type": "Wait", "Seconds": 15, "Next": "Look"}, "Failed": {"Type": "Fail", "Error": "ItFailed"}, "Good": {"Type": "Succeed"}}}`
	const (
		stopped = `{"Variable": "$.look.Tasks[0].LastStatus", "StringEquals": "STOPPED"`
		code    = `{"And": [` + stopped + `}, {"Variable": "$.look.Tasks[0].Containers[0].ExitCode", "NumericEquals": 0}], "Next": "Good"}, ` + stopped + `, "Next": "Failed"}`
		state   = `{"Variable": "$.look.DbInstances[0].DbInstanceStatus", "StringEquals": "available", "Next": "Good"},
			{"Variable": "$.look.DbInstances[0].DbInstanceStatus", "StringEquals": "failed", "Next": "Failed"}`
		one, several = `{"Cluster": "c", "Tasks.$": "States.Array($.run.Tasks[0].TaskArn)"}`, `{"Cluster": "c", "Tasks.$": "$.ids"}`
		run          = `"Type": "Task", "Resource": "arn:aws:states:::ecs:runTask", "Parameters": {"Cluster": "c", "TaskDefinition": "t"}, "ResultPath": "$.run"`
		pass         = `"Type": "Pass"`
	)
	for name, c := range map[string]struct {
		start, call, arguments, rules string
		want                          []string
	}{
		"exit codes of two containers, by the first": {run, "ecs:describeTasks", one, code, []string{
			"Tasks[0].Containers[0] STOPPED and [1] STOPPED-failure: succeeds -> fails ItFailed",
		}},
		"exit codes of two tasks, by the first": {run, "ecs:describeTasks", several, code, []string{
			"Tasks[0] STOPPED and [1] STOPPED-failure: succeeds -> fails ItFailed",
			"Tasks[0] STOPPED and [1] RUNNING: succeeds -> polls on",
			"Tasks[0].Containers[0] STOPPED and [1] STOPPED-failure: succeeds -> fails ItFailed",
		}},
		"two databases, by the first": {pass, "rds:describeDBInstances", `{}`, state, []string{
			"DbInstances[0] available and [1] creating: succeeds -> polls on",
			"DbInstances[0] available and [1] deleted: succeeds -> fails ItFailed",
		}},
		"two tasks, by a member that is a list then": {run, "ecs:describeTasks", several, `{"Variable": "$.look.Tasks[1].LastStatus", "IsPresent": true, "Next": "Pause"}, ` + code, []string{
			"Tasks[0] STOPPED and [1] STOPPED: polls on -> succeeds",
		}},
		"one database": {pass, "rds:describeDBInstances", `{"DbInstanceIdentifier.$": "$.id"}`, state, nil},
	} {
		if !race.Takes(name, 12) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.NewReplacer("START", c.start, "CALL", c.call, "ARGUMENTS", c.arguments, "RULES", c.rules).Replace(loop)
			_, loops := apply(t, text, fix.Options{})
			require.Len(t, loops, 1)
			require.Empty(t, loops[0].Refused)
			var got []string
			for _, change := range loops[0].Changes {
				if change.Kind.Sort == trial.Items {
					got = append(got, change.Kind.Value+": "+change.Before+" -> "+change.After)
				}
			}
			if c.want == nil {
				require.Empty(t, got)
				return
			}
			require.Subset(t, got, c.want)
		})
	}
}
