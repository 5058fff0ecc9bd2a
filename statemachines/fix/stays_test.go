package fix_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/statemachines/trial"
	"github.com/jobpoller/jobpoller/tests/race"
)

// A new bound ends a job that stays in any status, not only in the first one of a job that runs.
func TestBoundOfEachStatus(t *testing.T) {
	t.Parallel()
	slow := strings.Replace(machine("", "", "", ""), `"Seconds": 5`, `"Seconds": 90`, 1)
	for name, c := range map[string]struct{ text, before string }{
		"behind TimeoutSeconds": {strings.Replace(slow, `"StartAt"`, `"TimeoutSeconds": 14400, "StartAt"`, 1), "polls on until TimeoutSeconds"},
		"behind no bound":       {slow, "polls on"},
	} {
		if !race.Takes(name, 12) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, loops := apply(t, c.text, fix.Options{Strategy: compile.Variables})
			require.Empty(t, loops[0].Refused)
			for _, status := range []string{"QUEUED", "RUNNING", trial.UnknownValue} {
				i := slices.IndexFunc(loops[0].Changes, func(c fix.Change) bool { return c.Kind.Sort == trial.Never && c.Kind.Value == status })
				require.GreaterOrEqual(t, i, 0, "%s: %v", status, loops[0].Changes)
				require.Equal(t, c.before, loops[0].Changes[i].Before)
				require.Equal(t, "fails JobPoller.TimedOut", loops[0].Changes[i].After)
				require.False(t, loops[0].Changes[i].Bare)
			}
		})
	}
}

// A status that a regular expression takes, and the new loop does not know, is declared.
func TestStatusesOfARegularExpression(t *testing.T) {
	t.Parallel()
	const loop = `{"QueryLanguage": "JSONata", "StartAt": "Pause", "States": {
		"Pause": {"Type": "Wait", "Seconds": 60, "Next": "Look"},
		"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:personalize:describeDatasetImportJob",
			"Arguments": {"DatasetImportJobArn": "{% $states.context.Execution.Input.job %}"}, "Output": "{% {'is': $states.result.DatasetImportJob.Status} %}", "Next": "Done?"},
		"Done?": {"Type": "Choice", "Default": "Pause", "Choices": [{"Condition": "{% CONDITION %}", "Next": "Bad"},
			{"Condition": "{% $states.input.is = 'ACTIVE' %}", "Next": "Good"}]},
		"Good": {"Type": "Succeed"}, "Bad": {"Type": "Fail", "Error": "Bad"}}}`
	for condition, patterns := range map[string][]string{
		`$contains($states.input.is, /FAILED$/)`:                 {"/FAILED$/"},
		`$contains($states.input.is, /(FAILED|STOPPED)$/)`:       {"/(FAILED|STOPPED)$/", "/(FAILED|STOPPED)$/"},
		`$contains($states.input.is, /FAILED/)`:                  {"/FAILED/"},
		`$states.input.is = 'CREATE FAILED'`:                     nil,
		`$contains($states.input.is, /^CREATE FAILED$/)`:         nil, // the status itself
		`$contains($states.input.is, /[A-Z]+ F[A-Z]+D$/)`:        nil, // which text fits is not known
		`$states.input.is = 'CREATE FAILED' or (12 / 2 / 3) = 9`: nil,
	} {
		if !race.Takes(condition, 12) {
			continue
		}
		t.Run(condition, func(t *testing.T) {
			t.Parallel()
			_, loops := apply(t, strings.Replace(loop, "CONDITION", condition, 1), fix.Options{Strategy: compile.Variables})
			require.Len(t, loops, 1)
			var found []string
			for _, c := range loops[0].Changes {
				if c.Kind.Sort == trial.Status && c.Kind.Pattern != "" {
					require.Equal(t, "fails Bad", c.Before)
					require.Equal(t, "polls on", c.After)
					found = append(found, c.Kind.Pattern)
				}
			}
			require.Equal(t, patterns, found, "%v", loops[0])
		})
	}
}

// A loop whose bound ends it at its first poll is not one whose success leads there.
func TestBoundBeforeTheEnd(t *testing.T) {
	t.Parallel()
	const loop = `{"QueryLanguage": "JSONata", "StartAt": "Pause", "States": {
		"Pause": {"Type": "Wait", "Seconds": 300, "Next": "Look"},
		"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution",
			"Arguments": {"QueryExecutionId": "{% $states.context.Execution.Input.id %}"}, "Output": "{% {'is': $states.result.QueryExecution.Status.State} %}", "Next": "Done?"},
		"Done?": {"Type": "Choice", "Default": "Pause", "Choices": [{"Condition": "{% $states.input.is = 'SUCCEEDED' %}", "Next": "Good"},
			{"Condition": "{% $states.input.is in ['FAILED', 'CANCELLED'] %}", "Next": "Bad"},
			{"Condition": "{% $toMillis($now()) - $toMillis($states.context.Execution.StartTime) > 26 * 3600 %}", "Next": "Stop"}]},
		"Stop": {"Type": "Pass", "Next": "Late"}, "Late": {"Type": "Fail", "Error": "Late"},
		"Good": {"Type": "Succeed"}, "Bad": {"Type": "Fail", "Error": "Bad"}}}`
	_, loops := apply(t, loop, fix.Options{})
	require.Len(t, loops, 1)
	require.Contains(t, loops[0].Refused, `a job that still runs at poll 1 leads to "Stop" there, and the loop does not ask again`)
}
