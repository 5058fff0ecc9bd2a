package trial

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// countingLoop polls some 2,000 times at most. It counts in JSONPath.
const countingLoop = `{"StartAt": "First", "States": {
	"First": {"Type": "Pass", "Assign": {"n": 0}, "Next": "Look"},
	"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId": "q"}, "ResultPath": "$.r", "Next": "Done?"},
	"Done?": {"Type": "Choice", "Default": "Pause", "Choices": [
		{"Variable": "$.r.QueryExecution.Status.State", "StringEquals": "SUCCEEDED", "Next": "Good"},
		{"Variable": "$n", "NumericGreaterThanEquals": 2000, "Next": "Bad"}]},
	"Pause": {"Type": "Wait", "Seconds": 30, "Assign": {"n.$": "States.MathAdd($n, 1)"}, "Next": "Look"},
	"Bad": {"Type": "Fail", "Error": "Late"}, "Good": {"Type": "Succeed"}}}`

// jsonataLoop counts down, and tells how far.
const jsonataLoop = `{"QueryLanguage": "JSONata", "StartAt": "First", "States": {
	"First": {"Type": "Pass", "Assign": {"left": 1500}, "Next": "Look"},
	"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Arguments": {"QueryExecutionId": "q"},
		"Output": "{% $states.result.QueryExecution.Status.State %}", "Next": "Done?"},
	"Done?": {"Type": "Choice", "Default": "Pause", "Choices": [
		{"Condition": "{% $states.input = 'SUCCEEDED' %}", "Next": "Good"}, {"Condition": "{% $left <= 0 %}", "Next": "Bad"}]},
	"Pause": {"Type": "Wait", "Seconds": 30, "Assign": {"left": "{% $left - 1 %}"}, "Next": "Look"},
	"Bad": {"Type": "Fail", "Error": "Late"}, "Good": {"Type": "Succeed"}}}`

// playLoop runs a machine on a job that runs for so many polls, 0 for ever, or whose polls
// fail, lap by lap if every one is to be run.
func playLoop(t *testing.T, text string, polls int, fails, every bool) *observed {
	t.Helper()
	m, err := asl.Parse([]byte(text))
	require.NoError(t, err)
	p, err := newPair(m, m, Options{Models: models.Load})
	require.NoError(t, err)
	running := *p.before.callees["Look"].running
	if fails {
		running = answer{failure: &sim.TaskError{Name: "Athena.InternalServerException"}}
	}
	s := &script{task: "Look", answers: []answer{running}, forever: polls == 0}
	for range polls - 1 {
		s.answers = append(s.answers, running)
	}
	p.before.branches = every // whose laps are not looked at
	o, err := p.before.run(t.Context(), s, []byte("{}"), usual, part{}, p.options)
	require.NoError(t, err)
	return o
}

// A run that skips laps ends as one that takes each of them.
func TestSkippedLaps(t *testing.T) {
	t.Parallel()
	const more = `"Any more?": {"Type": "Choice", "Default": "Pause", "Choices": [{"Variable": "$n", "NumericGreaterThanEquals": 2000, "Next": "Bad"}]}, "Pause":`
	for name, c := range map[string]struct {
		text  string
		edit  []string
		polls int
		fails bool
		all   bool // each lap is taken
	}{
		"a bound":                             {text: countingLoop},
		"a bound in JSONata":                  {text: jsonataLoop},
		"a job that ends":                     {text: countingLoop, polls: 1234},
		"a job that ends just below a bound":  {text: countingLoop, polls: 2000},
		"a job that ends in JSONata":          {text: jsonataLoop, polls: 1499},
		"a job in a loop that does not count": {text: countingLoop, edit: []string{`, "Assign": {"n.$": "States.MathAdd($n, 1)"}`, ""}, polls: 1234},
		"steps of seven":                      {text: countingLoop, edit: []string{"($n, 1)", "($n, 7)"}},
		"one value of several":                {text: countingLoop, edit: []string{"NumericGreaterThanEquals", "NumericEquals"}},
		"a time limit":                        {text: countingLoop, edit: []string{`{"StartAt"`, `{"TimeoutSeconds": 40000, "StartAt"`}},
		"a full history":                      {text: countingLoop, edit: []string{"2000,", "20000,"}},
		"a bound of another loop":             {text: countingLoop, edit: []string{`{"Variable": "$n"`, `{"Variable": "$n", "NumericEquals": 900, "Next": "Rest"}, {"Variable": "$n"`, `"Bad":`, `"Rest": {"Type": "Wait", "Seconds": 3000, "Next": "Pause"}, "Bad":`}},
		"a wait that grows":                   {text: countingLoop, edit: []string{`"Seconds": 30`, `"SecondsPath": "$n"`}, all: true},
		"an argument that counts":             {text: countingLoop, edit: []string{`"QueryExecutionId": "q"`, `"QueryExecutionId.$": "States.Format('{}', $n)"`}, all: true},
		"a retry": {text: countingLoop, fails: true, edit: []string{`"ResultPath": "$.r", "Next": "Done?"`, `"ResultPath": "$.r", "Next": "Done?",
			"Retry": [{"ErrorEquals": ["States.ALL"], "MaxAttempts": 2}], "Catch": [{"ErrorEquals": ["States.ALL"], "ResultPath": null, "Next": "Any more?"}]`, `"Pause":`, more}},
		"a retry after a random time": {text: countingLoop, fails: true, all: true, edit: []string{`"ResultPath": "$.r", "Next": "Done?"`, `"ResultPath": "$.r", "Next": "Done?",
			"Retry": [{"ErrorEquals": ["States.ALL"], "MaxAttempts": 2, "JitterStrategy": "FULL"}], "Catch": [{"ErrorEquals": ["States.ALL"], "ResultPath": null, "Next": "Any more?"}]`, `"Pause":`, more}},
		"sums up and down": {text: countingLoop, all: true, edit: []string{`"Type": "Choice",`, `"Type": "Choice", "Assign": {"n.$": "States.MathAdd($n, -9)"},`, "($n, 1)", "($n, 10)"}},
		"a clock":          {text: jsonataLoop, edit: []string{"$left <= 0", "$millis() - $toMillis($states.context.Execution.StartTime) > 9000000"}, all: true},
		"a call in each lap": {text: countingLoop, all: true, edit: []string{`"Next": "Look"},
	"Bad"`, `"Next": "Tell"}, "Tell": {"Type": "Task", "Resource": "arn:aws:states:::sns:publish", "Parameters": {"TopicArn": "t", "Message": "on"}, "ResultPath": null, "Next": "Look"},
	"Bad"`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.NewReplacer(c.edit...).Replace(c.text)
			require.Equal(t, len(c.edit) > 0, text != c.text)
			each, skipped := playLoop(t, text, c.polls, c.fails, true), playLoop(t, text, c.polls, c.fails, false)
			require.Equal(t, c.all, skipped.visits["Look"] == each.visits["Look"])
			if !c.all {
				require.Less(t, skipped.visits["Look"], 60)
			}
			each.visits, skipped.visits = nil, nil
			require.Equal(t, each, skipped)
		})
	}
}

// A state reads a clock if what it does may differ from lap to lap.
func TestReadsClock(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`"x.$": "$$.State.EnteredTime"`:                      true,
		`"x.$": "$$"`:                                        true,
		`"x.$": "$$['State']"`:                               true,
		`"x.$": "$$.Execution.StartTime"`:                    true,
		`"x.$": "$$.Execution.Id"`:                           false,
		`"x": "{% $states %}"`:                               true,
		`"x": "{% $states.context.Execution.RedriveTime %}"`: true,
		`"x": "{% $states.input.now %}"`:                     false,
		`"x": "{% $now() %}"`:                                true,
		`"TimestampPath": "$.t"`:                             true,
	} {
		known := &Known{clocks: map[string]bool{}}
		require.Equal(t, want, known.readsClock(text), text)
	}
}

// runEnd is where a run of equal answers ends.
func TestRunEnd(t *testing.T) {
	t.Parallel()
	a, b := answer{text: "a"}, answer{text: "b"}
	for _, c := range []struct {
		answers []answer
		forever bool
		want    []int // for each answer, and the one behind them
	}{
		{[]answer{a, a, b, b}, false, []int{2, 2, 4, 4, 5}},
		{[]answer{a, a, b, b}, true, []int{2, 2, 5, 5, 5}},
		{[]answer{a, {}}, false, []int{1, 3, 3}},
		{nil, false, []int{1}},
	} {
		s := &script{answers: c.answers, forever: c.forever}
		for n, want := range c.want {
			require.Equal(t, want, s.runEnd(n), "%v %d", c, n)
		}
	}
}

// A counter is a variable that nothing reads but what adds a number and what compares it with
// one.
func TestCounters(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text, variable string
		edit           []string
		limits         []int64
	}{
		"JSONPath":                {text: countingLoop, variable: "n", limits: []int64{2000}},
		"JSONata":                 {text: jsonataLoop, variable: "left", limits: []int64{0}},
		"without a bound":         {text: countingLoop, variable: "n", edit: []string{`$n", "NumericGreaterThanEquals": 2000`, `$.x", "IsPresent": true`}, limits: nil},
		"a sum of another":        {text: countingLoop, edit: []string{`{"n.$": "States`, `{"m.$": "States`}},
		"a sum that is no number": {text: countingLoop, edit: []string{"($n, 1)", "($n, $.s)"}},
		"a product":               {text: jsonataLoop, edit: []string{"$left - 1", "$left * 2"}},
		"a test of presence":      {text: countingLoop, edit: []string{`"NumericGreaterThanEquals": 2000`, `"IsPresent": false`}},
		"a fraction":              {text: countingLoop, edit: []string{"2000,", "2000.5,"}},
		"a path":                  {text: countingLoop, edit: []string{`"NumericGreaterThanEquals": 2000`, `"NumericGreaterThanEqualsPath": "$.most"`}},
		"an output":               {text: jsonataLoop, edit: []string{`"Bad": {"Type": "Fail", "Error": "Late"}`, `"Bad": {"Type": "Pass", "Output": {"left": "{% $left - 1 %}"}, "End": true}`}},
		"sums up and down":        {text: countingLoop, edit: []string{`"Type": "Choice",`, `"Type": "Choice", "Assign": {"n.$": "States.MathAdd($n, -9)"},`}},
		"two in a condition":      {text: jsonataLoop, edit: []string{"$left <= 0", "$left <= 0 and $states.input = 'x'"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			document, err := jsontree.Parse([]byte(strings.NewReplacer(c.edit...).Replace(c.text)))
			require.NoError(t, err)
			found := findCounters(document.Root)
			if c.variable == "" {
				require.NotContains(t, found, "n")
				require.NotContains(t, found, "left")
				return
			}
			require.Contains(t, found, c.variable)
			require.Equal(t, c.limits, found[c.variable].limits)
		})
	}
}

// A run that stops at equal laps says what ends the execution as one that takes each of them: the history, or TimeoutSeconds.
func TestWhatEndsEqualLaps(t *testing.T) {
	t.Parallel()
	unbounded := strings.Replace(countingLoop, `, "Assign": {"n.$": "States.MathAdd($n, 1)"}`, "", 1)
	for _, limit := range []string{"60", "3000", "83200", "83280", "83340", "83400", "900000"} {
		text := strings.Replace(unbounded, `{"StartAt"`, `{"TimeoutSeconds": `+limit+`, "StartAt"`, 1)
		each, stopped := playLoop(t, text, 0, false, true), playLoop(t, text, 0, false, false)
		require.Equal(t, each.Status == string(sim.StatusTimedOut), stopped.TimesOut || stopped.Status == string(sim.StatusTimedOut), limit)
	}
}
