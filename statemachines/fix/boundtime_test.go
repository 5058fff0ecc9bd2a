package fix_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/tests/race"
)

// A loop that counts its polls keeps its time where its delays follow from the definition, and a note tells where
// they do not.
func TestTimeOfCountedPolls(t *testing.T) {
	t.Parallel()
	const machine = `{"QueryLanguage": "JSONata", "StartAt": "Begin", "States": {
		"Begin": {"Type": "Pass", "Assign": {"n": 0, "delays": [15, 30, 45, 60], "id": "{% $states.input.id %}", "given": "{% $states.input.delay %}"}, "Next": "Nap"},
		"Nap": {"Type": "Wait", "Seconds": "{% SECONDS %}", "Assign": {"n": "{% $n + 1 %}"}, "Next": "Look"},
		"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Arguments": {"QueryExecutionId": "{% $id %}"},
			"Output": "{% $states.result.QueryExecution.Status.State %}", "Next": "Done?"},
		"Done?": {"Type": "Choice", "Default": "Nap", "Choices": [{"Condition": "{% $states.input = 'SUCCEEDED' %}", "Next": "Good"},
			{"Condition": "{% $states.input in ['FAILED', 'CANCELLED'] %}", "Next": "Bad"}, {"Condition": "{% $n >= 8 %}", "Next": "Late"}]},
		"Good": {"Type": "Succeed"}, "Bad": {"Type": "Fail", "Error": "Bad"}, "Late": {"Type": "Fail", "Error": "Late"}}}`
	const note = "the definition does not say how long the old loop waited for its 8 polls. The new one waits 24h: change that with --max-wait"
	for seconds, wait := range map[string]time.Duration{
		`$n < $count($delays) ? $delays[$n] : 90`:                15*time.Second + 30*time.Second + 45*time.Second + time.Minute + 4*90*time.Second,
		`($i := $min([$n, 3]); [15, 30, 45, 60][$min([$n, 3])])`: 90*time.Second + 5*time.Minute,
		`[15, 30, 45, 60][$min([$n, 3])]`:                        90*time.Second + 5*time.Minute,
		`$min([10 * $power(2, $n), 100])`:                        150*time.Second + 4*100*time.Second,
		`$sum($delays) / 10 + $n`:                                8*15*time.Second + 28*time.Second,
		`20 + $round($random() * 20)`:                            0,
		`$given`:                                                 0,
		`$given > 10 ? 60 : 30`:                                  0,
		`$number($states.context.Execution.Input.delay)`:         0,
	} {
		if !race.Takes(seconds, 12) {
			continue
		}
		t.Run(seconds, func(t *testing.T) {
			t.Parallel()
			_, loops := apply(t, strings.Replace(machine, "SECONDS", seconds, 1), fix.Options{Strategy: compile.Variables})
			require.Len(t, loops, 1)
			require.Empty(t, loops[0].Refused)
			if wait == 0 {
				require.Contains(t, loops[0].Notes, note)
				require.Equal(t, 24*time.Hour, loops[0].MaxWait)
				return
			}
			require.NotContains(t, loops[0].Notes, note)
			require.Equal(t, wait, loops[0].MaxWait)
		})
	}
}
