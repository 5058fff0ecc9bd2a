package fix_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/tests/race"
)

// A new loop waits as long as the old one, and ends before its machine does. A note says
// where it waits less.
func TestMaxWait(t *testing.T) {
	t.Parallel()
	limit := func(seconds int) string { return fmt.Sprintf(`"TimeoutSeconds": %d, "StartAt"`, seconds) }
	for name, c := range map[string]struct {
		timeout  string
		seconds  int // of the Wait
		given    time.Duration
		want     time.Duration
		wantNote string
	}{
		"a history that fills soon":  {`"StartAt"`, 5, 0, 13885 * time.Second, ""},
		"a history that fills late":  {`"StartAt"`, 60, 0, 24 * time.Hour, "the new loop waits 24h, the old one 46h17m, until its history was full: change that with --max-wait"},
		"a limit of two hours":       {limit(7200), 60, 0, 110 * time.Minute, "the new loop waits 1h50m, to end before the machine does, 2h after its start. The loop gives up a job that ends later: change that with --max-wait"},
		"a limit of two days":        {limit(172800), 120, 0, 48*time.Hour - 10*time.Minute, "the new loop waits 47h50m, to end before the machine does, 48h after its start. The loop gives up a job that ends later: change that with --max-wait"},
		"a max wait below the limit": {limit(7200), 60, time.Hour, time.Hour, ""},
		"a max wait up to the limit": {limit(7200), 60, 2 * time.Hour, 2 * time.Hour, "the machine ends 2h after its start, maybe before this loop does with its max wait of 2h"},
		"a time that does not show":  {`"TimeoutSeconds": "${limit}", "StartAt"`, 60, 0, 24 * time.Hour, "the definition does not say how long the old loop waited. The new one waits 24h: change that with --max-wait"},
		"a max wait without a limit": {`"StartAt"`, 60, 72 * time.Hour, 72 * time.Hour, ""},
		"a limit of a few minutes":   {limit(600), 20, 0, 450 * time.Second, "the new loop waits 7m30s, to end before the machine does, 10m after its start. The loop gives up a job that ends later: change that with --max-wait"},
	} {
		if !race.Takes(name, 12) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.NewReplacer(`"StartAt"`, c.timeout, `"Seconds": 60`, fmt.Sprintf(`"Seconds": %d`, c.seconds)).Replace(training(`, "ResultPath": null`, ""))
			for _, strategy := range []compile.Strategy{compile.SyncTask, compile.Variables} {
				_, loops := apply(t, text, fix.Options{Strategy: strategy, MaxWait: c.given})
				require.Empty(t, loops[0].Refused)
				require.Equal(t, c.want, loops[0].MaxWait)
				notes := strings.Join(loops[0].Notes, "; ")
				if c.wantNote == "" {
					require.NotRegexp(t, "the new loop waits|max wait of|The new one waits", notes)
				} else {
					require.Contains(t, notes, c.wantNote)
				}
			}
		})
	}
}

// A bound of the old loop stays, unless the machine has no time left behind it.
func TestMaxWaitOfABoundedLoop(t *testing.T) {
	t.Parallel()
	const text = `{"TimeoutSeconds": 7200, "StartAt": "Zero", "States": {
  "Zero": {"Type": "Pass", "Assign": {"n": 0}, "Next": "Pause"},
  "Pause": {"Type": "Wait", "Seconds": 30, "Assign": {"n.$": "States.MathAdd($n, 1)"}, "Next": "Look"},
  "Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId.$": "$.id"}, "ResultPath": "$.q", "Next": "Done?"},
  "Done?": {"Type": "Choice", "Choices": [
    {"Variable": "$.q.QueryExecution.Status.State", "StringEquals": "SUCCEEDED", "Next": "Good"},
    {"Variable": "$.q.QueryExecution.Status.State", "StringEquals": "FAILED", "Next": "Bad"},
    {"Variable": "$n", "NumericGreaterThanEquals": POLLS, "Next": "Late"}
  ], "Default": "Pause"},
  "Good": {"Type": "Succeed"}, "Bad": {"Type": "Fail"}, "Late": {"Type": "Fail", "Error": "Late"}}}`
	for polls, c := range map[string]struct {
		given, want time.Duration
		note        string
	}{
		"100": {0, 50 * time.Minute, ""},
		"101": {3 * time.Hour, 110 * time.Minute, "the new loop waits 1h50m, and not 3h, to end before the machine does, 2h after its start"},
		"102": {115 * time.Minute, 115 * time.Minute, "the machine ends 2h after its start, maybe before this loop does"},
		"230": {0, 115 * time.Minute, ""},
		"239": {0, 110 * time.Minute, "the new loop waits 1h50m, to end before the machine does, 2h after its start; the old one waited 1h59m30s. The loop gives up a job that ends later"},
	} {
		t.Run(polls, func(t *testing.T) {
			t.Parallel()
			_, loops := apply(t, strings.Replace(text, "POLLS", polls, 1), fix.Options{Strategy: compile.Variables, MaxWait: c.given})
			require.Empty(t, loops[0].Refused)
			require.Equal(t, c.want, loops[0].MaxWait)
			notes := strings.Join(loops[0].Notes, "; ")
			if c.note == "" {
				require.NotContains(t, notes, "the new loop waits")
			} else {
				require.Contains(t, notes, c.note)
			}
		})
	}
}

// The time before a loop, and other loops, leave it less of the machine's.
func TestMaxWaitBesideOthers(t *testing.T) {
	t.Parallel()
	loop := func(n int, next string) string {
		return fmt.Sprintf(`"Wait %[1]d": {"Type": "Wait", "Seconds": 30, "Next": "Look %[1]d"},
			"Look %[1]d": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId.$": "$.id"}, "ResultPath": "$.q", "Next": "Done %[1]d?"},
			"Done %[1]d?": {"Type": "Choice", "Choices": [{"Variable": "$.q.QueryExecution.Status.State", "StringEquals": "SUCCEEDED", "Next": "%[2]s"},
				{"Variable": "$.q.QueryExecution.Status.State", "StringEquals": "FAILED", "Next": "Bad"}], "Default": "Wait %[1]d"}`, n, next)
	}
	const bad, hour = `, "Good": {"Type": "Succeed"}, "Bad": {"Type": "Fail"}}`, `"Hour": {"Type": "Wait", "Seconds": 3600, "Next": "%s"}, `
	flow := func(start, states string) string { return `"StartAt": "` + start + `", "States": {` + states + bad }
	limited := func(flow string) string { return `{"TimeoutSeconds": 7200, ` + flow + "}" }
	within := func(before, outer, inner, kind string) string {
		return limited(fmt.Sprintf(`"StartAt": "%s", "States": {%s%s, "Last": {"Type": "Succeed"}}`, before, fmt.Sprintf(hour, "Each"),
			fmt.Sprintf(outer, `{"ProcessorConfig": {`+kind+`}, `+inner+"}")))
	}
	each := `"Each": {"Type": "Map", "ItemProcessor": %s, "Next": "Last"}`
	inline, express, standard := `"Mode": "INLINE"`, `"Mode": "DISTRIBUTED", "ExecutionType": "EXPRESS"`, `"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"`
	one := flow("Wait 1", loop(1, "Good"))
	for name, c := range map[string]struct {
		text string
		want []time.Duration
		note string
	}{
		"a Wait before":          {limited(flow("Hour", fmt.Sprintf(hour, "Wait 1")+loop(1, "Good"))), []time.Duration{50 * time.Minute}, "2h after its start (the Wait states before the loop take 1h)"},
		"a Wait behind":          {limited(flow("Wait 1", loop(1, "Hour")+", "+fmt.Sprintf(hour, "Good")[:len(fmt.Sprintf(hour, "Good"))-2])), []time.Duration{110 * time.Minute}, "2h after its start. "},
		"two loops":              {limited(flow("Wait 1", loop(1, "Wait 2")+", "+loop(2, "Good"))), []time.Duration{50 * time.Minute, 59*time.Minute + 30*time.Second}, "2h after its start (2 loops share that time)"},
		"a Wait before a Map":    {within("Hour", each, one, inline), []time.Duration{50 * time.Minute}, "(the Wait states before the loop take 1h)"},
		"a Wait before children": {within("Hour", each, one, standard), []time.Duration{50 * time.Minute}, "(the Wait states before the loop take 1h)"},
		"children of Express":    {within("Hour", each, one, express), []time.Duration{4*time.Minute + 30*time.Second}, "before the child execution does, 5m after its start. "},
		"a Parallel before": {
			limited(flow("Both", `"Both": {"Type": "Parallel", "Branches": [{"StartAt": "Short", "States": {"Short": {"Type": "Wait", "Seconds": 60, "End": true}}},
				{"StartAt": "Long", "States": {"Long": {"Type": "Wait", "Seconds": 3600, "End": true}}}], "ResultPath": null, "Next": "Wait 1"}, `+loop(1, "Good"))),
			[]time.Duration{50 * time.Minute},
			"(the Wait states before the loop take 1h)",
		},
		"a Map before": {
			limited(flow("All", `"All": {"Type": "Map", "ItemsPath": "$.all", "ItemProcessor": {"StartAt": "Long", "States": {"Long": {"Type": "Wait", "Seconds": 3600, "End": true}}},
				"ResultPath": null, "Next": "Wait 1"}, `+loop(1, "Good"))),
			[]time.Duration{50 * time.Minute},
			"(the Wait states before the loop take 1h)",
		},
		"a cycle before": {
			limited(flow("Hour", fmt.Sprintf(hour, "X")+`"X": {"Type": "Choice", "Choices": [{"Variable": "$.x", "IsPresent": true, "Next": "Wait 1"}], "Default": "Y"},
				"Y": {"Type": "Choice", "Choices": [{"Variable": "$.y", "IsPresent": true, "Next": "X"}], "Default": "Wait 1"}, `+loop(1, "Good"))),
			[]time.Duration{50 * time.Minute},
			"(the Wait states before the loop take 1h)",
		},
		"a Wait inside of Express": {
			within("Hour", each, strings.NewReplacer("3600", "120", "Hour", "Pause").Replace(flow("Hour", fmt.Sprintf(hour, "Wait 1")+loop(1, "Good"))), express), []time.Duration{150 * time.Second}, "before the child execution does, 5m after its start (the Wait states before the loop take 2m)",
		},
	} {
		if !race.Takes(name, 12) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, loops := apply(t, c.text, fix.Options{Strategy: compile.Variables})
			require.Len(t, loops, len(c.want))
			for i, l := range loops {
				require.Empty(t, l.Refused)
				require.Equal(t, c.want[i], l.MaxWait)
				for _, job := range l.Jobs {
					require.Less(t, job, c.want[i])
				}
			}
			require.Contains(t, strings.Join(loops[0].Notes, "; "), c.note)
		})
	}
}

// A machine that ends before its loop begins keeps the loop, and so does one that ends right behind
// that, unless the user gives the time.
func TestMachineEndsBeforeItsLoop(t *testing.T) {
	t.Parallel()
	text := strings.Replace(machine("", "", "", `, "Nap": {"Type": "Wait", "Seconds": 7300, "Next": "Wait"}`), `"Next": "Wait"},`, `"Next": "Nap"},`, 1)
	for _, c := range []struct {
		limit  int
		given  time.Duration
		reason string
	}{
		{7200, 0, "the machine ends 2h after its start, before the loop begins: raise TimeoutSeconds"},
		{7200, 10 * time.Minute, `nothing shows that a new loop is right: "Get": no trial run gets there`},
		{7320, 0, "the machine ends 2h2m after its start (the Wait states before the loop take 2h1m40s), too early for a loop of 1m: raise TimeoutSeconds, or pass --max-wait"},
		{7320, 10 * time.Minute, ""},
		{9000, 0, ""},
	} {
		limited := strings.Replace(text, `"StartAt"`, fmt.Sprintf(`"TimeoutSeconds": %d, "StartAt"`, c.limit), 1)
		_, loops := apply(t, limited, fix.Options{Strategy: compile.Variables, MaxWait: c.given})
		require.Equal(t, c.reason, loops[0].Refused)
	}
}

// The trials of a machine with a limit end there, too.
func TestTrialEndsWithTheMachine(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer(`"StartAt"`, `"TimeoutSeconds": 7200, "StartAt"`, `"StringEquals": "Stopped"`, `"StringEquals": "stopped"`).Replace(training(`, "ResultPath": null`, ""))
	_, loops := apply(t, text, fix.Options{})
	require.Empty(t, loops[0].Refused)
	for _, trial := range loops[0].Trials {
		if trial.Status == "Stopped" {
			require.Equal(t, "States.Timeout", trial.Before.Error)
			require.Equal(t, 2*time.Hour, trial.Before.Lasts)
			return
		}
	}
	require.Fail(t, "no trial of Stopped")
}

// An Express workflow has five minutes, in which both loops see the end of a job. One
// that waits longer than that stays, with the reason.
func TestExpress(t *testing.T) {
	t.Parallel()
	text := training(`, "ResultPath": null`, "")
	_, loops := apply(t, text, fix.Options{Express: true})
	require.Empty(t, loops[0].Refused)
	require.Equal(t, 270*time.Second, loops[0].MaxWait)

	slow := strings.Replace(text, `"Seconds": 60`, `"Seconds": 400`, 1)
	_, loops = apply(t, slow, fix.Options{Express: true})
	require.Equal(t, "no success of sagemaker:CreateTrainingJob leaves the loop: with Completed it fails with "+
		"States.Timeout: the execution ends before the loop sees the end of the job", loops[0].Refused)
}

// A branch that fails in time ends the new loop as it ends the old one, and both are measured
// until then: the new loop waits longer than that.
func TestMaxWaitBesideABranchThatFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		wait, fail string // of the timer
		want       time.Duration
		err        string // with which the old loop ends
		note       string
	}{
		"a literal":                    {`"Seconds": 2400`, `"Error": "TookTooLong"`, 50 * time.Minute, "TookTooLong", ""},
		"of a while":                   {`"Seconds": 14400`, `"Error": "TookTooLong"`, 5 * time.Hour, "TookTooLong", ""},
		"of an error that is computed": {`"Seconds": 2400`, `"ErrorPath": "States.Format('Too{}', 'kTooLong')"`, 50 * time.Minute, "", ""},
		"of a path": {
			`"SecondsPath": "$$.Execution.Input.most"`, `"Error": "TookTooLong"`, 24 * time.Hour, "",
			`the branch with "TimeUp" may end the new loop earlier, as it ends the old one: change its max wait of 24h with --max-wait`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := `{"StartAt": "Start", "States": {
				"Start": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:startQueryExecution", "Parameters": {"QueryString": "SELECT 1"},
					"ResultSelector": {"id.$": "$.QueryExecutionId"}, "Next": "Race"},
				"Race": {"Type": "Parallel", "Next": "Done", "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Late"}], "Branches": [
					{"StartAt": "Look", "States": {
						"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId.$": "$.id"},
							"ResultPath": "$.q", "Next": "Ready?"},
						"Ready?": {"Type": "Choice", "Default": "Pause", "Choices": [
							{"Variable": "$.q.QueryExecution.Status.State", "StringEquals": "SUCCEEDED", "Next": "Good"},
							{"Variable": "$.q.QueryExecution.Status.State", "StringEquals": "FAILED", "Next": "Bad"}]},
						"Pause": {"Type": "Wait", "Seconds": 60, "Next": "Look"},
						"Good": {"Type": "Succeed"}, "Bad": {"Type": "Fail", "Error": "QueryFailed"}}},
					{"StartAt": "Timer", "States": {
						"Timer": {"Type": "Wait", ` + c.wait + `, "Next": "TimeUp"},
						"TimeUp": {"Type": "Fail", ` + c.fail + `}}}]},
				"Done": {"Type": "Succeed"}, "Late": {"Type": "Fail", "Error": "Late"}}}`
			_, loops := apply(t, text, fix.Options{Strategy: compile.Variables})
			require.Empty(t, loops[0].Refused)
			require.Equal(t, c.want, loops[0].MaxWait)
			require.Contains(t, strings.Join(loops[0].Notes, "; "), c.note)
			i := slices.IndexFunc(loops[0].Trials, func(trial fix.Trial) bool { return trial.Status == "CANCELLED" })
			if before := loops[0].Trials[i].Before; c.note == "" {
				require.Equal(t, "Late", before.Exit, "%+v", before)
				require.Equal(t, c.err, before.Error)
				require.Less(t, before.Lasts, c.want)
			}
		})
	}
}
