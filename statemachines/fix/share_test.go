package fix_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

// counted is a loop that counts its polls, with the start of its job, and what its success leads to.
func counted(n string, polls int, success string) string {
	return strings.NewReplacer("#", n, "POLLS", fmt.Sprint(polls), "SUCCESS", success).Replace(`
    "Start #": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:startQueryExecution", "Arguments": {"QueryString": "SELECT #"},
      "Assign": {"id#": "{% $states.result.QueryExecutionId %}", "n#": 0}, "Next": "Wait #"},
    "Wait #": {"Type": "Wait", "Seconds": 300, "Next": "Look #"},
    "Look #": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Arguments": {"QueryExecutionId": "{% $id# %}"},
      "Retry": [{"ErrorEquals": ["States.TaskFailed"], "MaxAttempts": 3}],
      "Assign": {"state#": "{% $states.result.QueryExecution.Status.State %}", "n#": "{% $n# + 1 %}"}, "Next": "Done #"},
    "Done #": {"Type": "Choice", "Choices": [
      {"Condition": "{% $state# = 'SUCCEEDED' %}", "Next": "SUCCESS"},
      {"Condition": "{% $state# in ['FAILED', 'CANCELLED'] %}", "Next": "Failed"},
      {"Condition": "{% $n# >= POLLS %}", "Next": "Late"}], "Default": "Wait #"},`)
}

const sharedEnds = `
    "Good": {"Type": "Succeed"}, "Failed": {"Type": "Fail", "Error": "Failed"}, "Late": {"Type": "Fail", "Error": "Late"}`

// Loops that share a history share its events when compiled ones take their places, and items and rounds that nobody
// can count have as much room as before.
func TestLoopsShareTheirHistory(t *testing.T) {
	t.Parallel()
	const twoLoops = "2 loops share the 25,000 events of the history"
	for name, c := range map[string]struct {
		text, note string
		only       []string
		most       int // events of all loops together
		history    bool
	}{
		"in sequence": {
			text: `{"QueryLanguage": "JSONata", "StartAt": "Start 1", "States": {` + counted("1", 240, "Start 2") + counted("2", 240, "Good") + sharedEnds + `}}`,
			note: twoLoops, most: 24_000,
		},
		"in sequence, and one is replaced": {text: `{"QueryLanguage": "JSONata", "StartAt": "Start 1", "States": {` + counted("1", 600, "Start 2") +
			counted("2", 1500, "Good") + sharedEnds + `}}`, only: []string{"Look 1"}, note: twoLoops, most: 24_000},
		"alone": {text: `{"QueryLanguage": "JSONata", "StartAt": "Start 1", "States": {` + counted("1", 240, "Good") + sharedEnds + `}}`, most: 24_000},
		"for each item": {
			text: `{"QueryLanguage": "JSONata", "StartAt": "Each", "States": {"Each": {"Type": "Map", "Items": "{% $states.input.items %}", "End": true,
			"ItemProcessor": {"StartAt": "Start 1", "States": {` + counted("1", 36, "Good") + sharedEnds + `}}}}}`,
			note: "each item of the Map takes 324 events at most, as with the old loop", most: 324,
		},
		"in each round": {
			text: `{"QueryLanguage": "JSONata", "StartAt": "Begin", "States": {
			"Begin": {"Type": "Pass", "Assign": {"left": "{% $states.input.queries %}"}, "Next": "Any?"},
			"Any?": {"Type": "Choice", "Choices": [{"Condition": "{% $count($left) = 0 %}", "Next": "Good"}], "Default": "Start 1"},
			"Drop": {"Type": "Pass", "Assign": {"left": "{% [$filter($left, function($q, $i) { $i > 0 })] %}"}, "Next": "Any?"},` +
				counted("1", 90, "Drop") + sharedEnds + `}}`,
			note: "each round of the outer loop takes 810 events at most, as with the old loop", most: 810, history: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			after, loops := apply(t, c.text, fix.Options{Only: c.only})
			m, err := asl.Parse([]byte(after))
			require.NoError(t, err)
			events := 0
			for _, l := range lint.Loops(m, lint.Options{}) {
				require.Positive(t, l.Bound.Events)
				events += l.Bound.Events
			}
			require.LessOrEqual(t, events, c.most)
			for _, l := range loops {
				require.Empty(t, l.Refused)
				require.Contains(t, strings.Join(l.Notes, "\n"), "the new loop does not set $n")
				require.Equal(t, c.note != "", strings.Contains(strings.Join(l.Notes, "\n"), "(") && strings.Contains(strings.Join(l.Notes, "\n"), c.note), l.Notes)
				require.Equal(t, c.history, strings.Contains(strings.Join(l.Besides, "\n"), "of the history"), l.Besides)
			}
		})
	}
}

// A loop stays where the bound of the other one leaves its history no events.
func TestNoRoomForALoop(t *testing.T) {
	t.Parallel()
	text := `{"QueryLanguage": "JSONata", "StartAt": "Start 1", "States": {` + counted("1", 60, "Start 2") + counted("2", 2700, "Good") + sharedEnds + `}}`
	after, loops := apply(t, text, fix.Options{Only: []string{"Look 1"}})
	require.Equal(t, text, after)
	require.Len(t, loops, 1)
	require.Contains(t, loops[0].Refused, "the history has no room for the loop: ")
}
