package fix_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/tests/race"
)

// A loop that may ask for several jobs stays where the new one would look at the first alone.
func TestSeveralJobs(t *testing.T) {
	t.Parallel()
	const loop = `{"StartAt": "Begin", "States": {
		"Begin": {"Type": "Pass", "QueryLanguage": "JSONata", "Assign": {"id": "1", "ids": ["1", "2"]}, "Next": "Look"},
		"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:CALL", ARGUMENTS, "Next": "Done?"},
		"Done?": CHOICE, "Pause": {"Type": "Wait", "Seconds": 15, "Next": "Look"},
		"Failed": {"Type": "Fail", "Error": "ItFailed"}, "Good": {"Type": "Succeed"}}}`
	const (
		first = `{"Type": "Choice", "Default": "Pause", "Choices": [{"Variable": "$.look.PATH", "StringEquals": "SUCCEEDED", "Next": "Good"},
			{"Variable": "$.look.PATH", "StringEquals": "FAILED", "Next": "Failed"}]}`
		all = `{"Type": "Choice", "QueryLanguage": "JSONata", "Default": "Good", "Choices": [{"Condition": "{% 'FAILED' in $seen %}", "Next": "Failed"},
			{"Condition": "{% $count($seen[$ = 'SUCCEEDED']) < $count($seen) %}", "Next": "Pause"}]}`
		asks = `"ResultPath": "$.look", "Parameters": `
		sees = `"QueryLanguage": "JSONata", "Assign": {"seen": "{% [$states.result.Jobs.Status] %}"}, "Output": "{% $states.input %}", "Arguments": `
	)
	job, build := strings.ReplaceAll(first, "PATH", "Jobs[0].Status"), strings.ReplaceAll(first, "PATH", "Builds[0].BuildStatus")
	for name, c := range map[string]struct {
		call, arguments, choice string
		stays                   bool
	}{
		"a list of the input":               {"batch:describeJobs", sees + `{"Jobs": "{% $states.input.ids %}"}`, all, true},
		"two jobs":                          {"batch:describeJobs", sees + `{"Jobs": ["{% $states.input.a %}", "{% $states.input.b %}"]}`, all, true},
		"a list in brackets":                {"batch:describeJobs", sees + `{"Jobs": "{% [$ids] %}"}`, all, true},
		"an item of a list in brackets":     {"batch:describeJobs", sees + `{"Jobs": "{% [$ids[0]] %}"}`, all, false},
		"a text in brackets":                {"batch:describeJobs", sees + `{"Jobs": "{% [$id] %}"}`, all, false},
		"the first of a list":               {"batch:describeJobs", asks + `{"Jobs.$": "$.ids"}`, job, true},
		"two jobs, by an array":             {"batch:describeJobs", asks + `{"Jobs.$": "States.Array($.a, $.b)"}`, job, true},
		"builds of a list in brackets":      {"codebuild:batchGetBuilds", strings.Replace(sees, "Jobs.Status", "Builds.BuildStatus", 1) + `{"Ids": "{% [$ids] %}"}`, all, true},
		"builds of a text in brackets":      {"codebuild:batchGetBuilds", strings.Replace(sees, "Jobs.Status", "Builds.BuildStatus", 1) + `{"Ids": "{% [$id] %}"}`, all, false},
		"builds of a list":                  {"codebuild:batchGetBuilds", asks + `{"Ids.$": "$.ids"}`, build, true},
		"one job":                           {"batch:describeJobs", asks + `{"Jobs.$": "States.Array($.id)"}`, job, false},
		"one job, written":                  {"batch:describeJobs", asks + `{"Jobs": ["1"]}`, job, false},
		"one build":                         {"codebuild:batchGetBuilds", asks + `{"Ids.$": "States.Array($.id)"}`, build, false},
		"several tasks, all of which count": {"ecs:describeTasks", asks + `{"Cluster": "c", "Tasks.$": "$.ids"}`, strings.ReplaceAll(strings.ReplaceAll(first, "PATH", "Tasks[0].LastStatus"), "SUCCEEDED", "STOPPED"), false},
	} {
		if !race.Takes(name, 12) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, loops := apply(t, strings.NewReplacer("CALL", c.call, "ARGUMENTS", c.arguments, "CHOICE", c.choice).Replace(loop), fix.Options{})
			require.Len(t, loops, 1)
			if c.stays {
				require.Contains(t, loops[0].Refused, `"Look" may ask for several jobs`)
				return
			}
			require.NotContains(t, loops[0].Refused, "several jobs")
		})
	}
}
