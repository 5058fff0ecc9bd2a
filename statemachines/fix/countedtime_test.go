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

// The delays of a list of JSONPath are as good as those of JSONata: the loop is tried with the list that the definition has,
// and with one that is long enough where the input has it.
func TestTimeOfListedDelays(t *testing.T) {
	t.Parallel()
	machine := func(begin, item, last string) string {
		return `{"StartAt": "Begin", "States": {` + begin + `,
		"Zero": {"Type": "Pass", "Parameters": {"i": 0, "max.$": "` + last + `"}, "ResultPath": "$.k", "Next": "Look"},
		"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId.$": "$$.Execution.Input.id"},
			"ResultPath": "$.d", "Next": "Done?"},
		"Done?": {"Type": "Choice", "Default": "Pick", "Choices": [{"Variable": "$.d.QueryExecution.Status.State", "StringEquals": "SUCCEEDED", "Next": "Good"},
			{"Variable": "$.d.QueryExecution.Status.State", "StringMatches": "*ED", "Next": "Bad"},
			{"Variable": "$.k.i", "NumericGreaterThanEqualsPath": "$.k.max", "Next": "Late"}]},
		"Pick": {"Type": "Pass", "Parameters": {"s.$": "` + item + `", "i.$": "States.MathAdd($.k.i, 1)", "max.$": "$.k.max"}, "ResultPath": "$.k", "Next": "Nap"},
		"Nap": {"Type": "Wait", "SecondsPath": "$.k.s", "Next": "Look"},
		"Good": {"Type": "Succeed"}, "Bad": {"Type": "Fail", "Error": "Bad"}, "Late": {"Type": "Fail", "Error": "Late"}}}`
	}
	const list = 31 * time.Minute
	const get, length = "States.ArrayGetItem($.naps, $.k.i)", "States.ArrayLength($.naps)"
	for name, c := range map[string]struct {
		text string
		wait time.Duration
	}{
		"a Result":      {machine(`"Begin": {"Type": "Pass", "Result": [60, 120, 240, 480, 960], "ResultPath": "$.naps", "Next": "Zero"}`, get, length), list},
		"Parameters":    {machine(`"Begin": {"Type": "Pass", "Parameters": {"naps": [60, 120, 240, 480, 960]}, "Next": "Zero"}`, get, length), list},
		"a call":        {machine(`"Begin": {"Type": "Pass", "Next": "Zero"}`, "States.ArrayGetItem(States.Array(60, 120, 240, 480, 960), $.k.i)", "States.MathAdd(5, 0)"), list},
		"the input":     {machine(`"Begin": {"Type": "Pass", "Next": "Zero"}`, get, length), 0},
		"a fixed count": {machine(`"Begin": {"Type": "Pass", "Next": "Zero"}`, get, "States.MathAdd(5, 0)"), 0},
	} {
		if !race.Takes(name, 12) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, loops := apply(t, c.text, fix.Options{Strategy: compile.Variables})
			require.Len(t, loops, 1)
			require.Empty(t, loops[0].Refused)
			require.Equal(t, c.wait == 0, strings.Contains(strings.Join(loops[0].Notes, "; "), "does not say how long"))
			if c.wait > 0 {
				require.Equal(t, c.wait, loops[0].MaxWait)
			}
			for _, trial := range loops[0].Trials {
				require.NotEmpty(t, trial.Before.Exit, trial.Before.Cause)
			}
			for _, row := range loops[0].Changes {
				require.NotContains(t, row.Kind.String(), "RUNNING")
			}
		})
	}
}
