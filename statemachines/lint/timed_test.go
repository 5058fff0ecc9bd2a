package lint_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/tests/race"
)

// timed is a loop that a time ends.
type timed struct {
	seconds   int // until that
	delay     string
	compare   string // ">" or ">="
	waits     bool   // before the first poll
	first     bool   // the time is looked at before the status
	outer     bool   // the loop stands in one over several jobs
	fromStart bool   // the time that has passed is compared, not a deadline
	flag      string // the state that compares, for a flag; empty if the Choice does
}

// text is the definition of the loop.
func (c timed) text() string {
	enter := "Get"
	if c.waits {
		enter = "Wait"
	}
	over := fmt.Sprintf("$millis() %s $until", c.compare)
	set := fmt.Sprintf(`"until": "{%% $millis() + %d %%}"`, c.seconds*1000)
	if c.fromStart {
		over = fmt.Sprintf("$millis() - $until %s %d", c.compare, c.seconds*1000)
		set = `"until": "{% $millis() %}"`
	}
	done := `{"Condition": "{% $d.Status = 'SUCCEEDED' %}", "Next": "Next"}, {"Condition": "{% $d.Status = 'FAILED' %}", "Next": "Ko"}`
	flag := map[string]string{c.flag: fmt.Sprintf(`, "late": "{%% %s %%}"`, over)}
	late := fmt.Sprintf(`{"Condition": "{%% %s %%}", "Next": "Late"}`, over)
	if c.flag != "" {
		late = `{"Condition": "{% $late %}", "Next": "Late"}`
	}
	rules := []string{done, late}
	if c.first {
		rules = []string{late, done}
	}
	next, turns := `"Next": {"Type": "Succeed"}`, ""
	begin := "Begin"
	if c.outer {
		turns = `"Jobs?": {"Type": "Choice", "Choices": [{"Condition": "{% $left = 0 %}", "Next": "Ok"}], "Default": "Begin"}, "Ok": {"Type": "Succeed"},`
		next = `"Next": {"Type": "Pass", "Assign": {"left": "{% $left - 1 %}"}, "Next": "Jobs?"}`
		begin = "Jobs?"
	}
	return fmt.Sprintf(`{"QueryLanguage": "JSONata", "StartAt": "Ready", "States": {
		"Ready": {"Type": "Pass", "Assign": {"left": 3, "n": 0, "late": false}, "Next": %q}, %s
		"Begin": {"Type": "Pass", "Assign": {%s, "n": 0}, "Next": %q},
		"Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:sfn:describeExecution", "Arguments": {"ExecutionArn": "{%% 'e' & $left %%}"},
			"Assign": {"d": "{%% $states.result %%}" %s}, "Retry": [{"ErrorEquals": ["States.TaskFailed"]}], "Next": "Done?"},
		"Done?": {"Type": "Choice", "Choices": [%s], "Default": "Wait"},
		"Wait": {"Type": "Wait", %s, "Assign": {"n": "{%% $n + 1 %%}" %s}, "Next": "Get"},
		%s, "Ko": {"Type": "Fail"}, "Late": {"Type": "Fail", "Error": "Late"}}}`,
		begin, turns, set, enter, flag["Get"], strings.Join(rules, ", "), c.delay, flag["Wait"], next)
}

// requireTrue runs the loop, and requires that lint says how many polls and transitions it takes, and how long.
func (c timed) requireTrue(t *testing.T) {
	t.Helper()
	m, err := asl.Parse([]byte(c.text()))
	require.NoError(t, err, c.text())
	var visits int
	ran, err := sim.Run(t.Context(), m, []byte("{}"), sim.Options{Handler: func(context.Context, sim.Call) (sim.Reply, error) {
		return sim.Reply{Output: map[string]any{"Status": "RUNNING"}}, nil
	}})
	require.NoError(t, err)
	for _, name := range []string{"Get", "Done?", "Wait"} {
		visits += ran.Visits[name]
	}
	require.Equal(t, "Late", ran.Error, ran.Cause)
	bound := lint.Loops(m, lint.Options{})[0].Bound
	require.Equal(t, lint.ByTime, bound.Kind, "%+v", c)
	require.Equal(t, ran.Calls["Get"], bound.Polls, "%+v", c)
	require.Equal(t, visits, bound.Transitions, "%+v", c)
	require.InDelta(t, ran.Stop.Sub(ran.Start), bound.After, float64(time.Second), "%+v", c)
}

// How many polls and transitions a time allows, and how long they take, is what a run of the machine
// shows, with whatever delays.
func TestTimedPollsAreThoseOfARun(t *testing.T) {
	t.Parallel()
	delays := []string{
		`"Seconds": 45`, `"Seconds": 60`, `"Seconds": 7`, `"Seconds": "{% $min([300, 20 * $power(2, $n)]) %}"`,
		`"Timestamp": "{% $fromMillis($millis() + 50000) %}"`, `"Seconds": "{% [10, 20, 40, 80][$min([$n, 3])] %}"`,
	}
	var all []timed
	for i, seconds := range []int{1, 5, 44, 45, 46, 60, 90, 600, 601, 3599, 3600, 7245, 10800} {
		for n, delay := range delays {
			for bits := range 16 {
				if draw := i + n + bits; draw%5 == 0 {
					flag := []string{"", "", "Get", "Wait"}[draw/5%4]
					all = append(all, timed{seconds, delay, []string{">", ">="}[draw%2], bits&1 > 0, bits&2 > 0, bits&4 > 0, bits&8 > 0, flag})
				}
			}
		}
	}
	for _, c := range race.OneIn(6, all) {
		c.requireTrue(t)
	}
}
