package fix_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/trial"
	"github.com/jobpoller/jobpoller/tests/race"
)

// jobLoop is a loop on a CodeBuild build that counts its polls: RULES and OTHERWISE are of its Choice,
// and BEHIND are states that it leads to.
const jobLoop = `{"StartAt": "Zero", "States": {
	"Zero": {"Type": "Pass", "Assign": {"n": 0}, "Next": "Pause"},
	"Pause": {"Type": "Wait", "Seconds": 40, "Next": "Look"},
	"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:codebuild:batchGetBuilds", "Parameters": {"Ids.$": "States.Array($.id)"},
		"ResultSelector": {"is.$": "$.Builds[0].BuildStatus"}, "ResultPath": "$.b", "Assign": {"n.$": "States.MathAdd($n, 1)"}, "Next": "Which"},
	"Which": {"Type": "Choice", "Choices": [RULES], "Default": "OTHERWISE"},
	BEHIND
	"Done": {"Type": "Succeed"}, "Broken": {"Type": "Fail", "Error": "Broken"}}}`

const (
	isDone   = `{"Variable": "$.b.is", "StringEquals": "SUCCEEDED", "Next": "Done"}`
	isBroken = `{"Or": [{"Variable": "$.b.is", "StringEquals": "FAILED"}, {"Variable": "$.b.is", "StringEquals": "FAULT"}], "Next": "Broken"}`
	hasLeft  = `{"Variable": "$n", "NumericLessThan": 25, "Next": "Pause"}`
	isOver   = `{"Variable": "$n", "NumericGreaterThanEquals": 25, "Next": "AFTER"}`
	tells    = `"Tell": {"Type": "Task", "Resource": "arn:aws:states:::sns:publish", "Parameters": {"TopicArn.$": "$.topic", "Message": "late"}, "ResultPath": null, "Next": "Slow"},
		"Slow": {"Type": "Fail", "Error": "Slow"},`
)

// The new loop leads where the bound of the old one led, be that a success, other work or a failure.
func TestBoundOfTheAuthor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ rules, otherwise, behind, late, of string }{
		"the Default fails":           {isDone + "," + isBroken + "," + hasLeft, "Slow", `"Slow": {"Type": "Fail", "Error": "Slow"},`, "fails Slow", ""},
		"the Default calls":           {isDone + "," + isBroken + "," + hasLeft, "Tell", tells, "fails Slow", ""},
		"a rule calls":                {isDone + "," + isBroken + "," + strings.Replace(isOver, "AFTER", "Tell", 1), "Pause", tells, "fails Slow", ""},
		"the Default goes on":         {isDone + "," + isBroken + "," + hasLeft, "Done", "", "succeeds", ""},
		"a rule goes on":              {isDone + "," + isBroken + "," + strings.Replace(isOver, "AFTER", "Done", 1), "Pause", "", "succeeds", ""},
		"the Default is the failure":  {isDone + "," + isBroken + "," + hasLeft, "Broken", "", "fails Broken", "Broken"},
		"the Default takes the error": {isDone + "," + hasLeft, "Slow", `"Slow": {"Type": "Pass", "Next": "Broken"},`, "fails Broken", "new"},
	} {
		if !race.Takes(name, 12) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.NewReplacer("RULES", c.rules, "OTHERWISE", c.otherwise, "BEHIND", c.behind).Replace(jobLoop)
			after, loops := apply(t, text, fix.Options{Strategy: compile.Variables})
			require.Len(t, loops, 1)
			require.Empty(t, loops[0].Refused)
			require.NotContains(t, after, "JobPoller.TimedOut")
			require.InDelta(t, 1000, loops[0].MaxWait.Seconds(), 60)
			for _, change := range loops[0].Changes { // a job that runs ends at the bound as it did
				require.False(t, change.Kind.Sort == trial.Never && change.Kind.Value == "IN_PROGRESS", "%v", change)
			}
			_, loops = apply(t, after, fix.Options{})
			require.Empty(t, loops, "the new loop is a compiled one")
			for _, r := range loopsOf(t, text)[0].Routes {
				if r.Status == "STOPPED" { // polls on to the bound
					require.Empty(t, r.Before)
					require.Equal(t, map[string]string{"": "Broken", "Broken": "Broken", "new": "Look failed"}[c.of], r.After)
				}
			}
		})
	}
}

func loopsOf(t *testing.T, text string) []fix.Loop {
	t.Helper()
	_, loops := apply(t, text, fix.Options{Strategy: compile.Variables})
	return loops
}

// A success that only the bound ends is none that leaves the loop.
func TestSuccessThatPollsOn(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer("RULES", strings.Replace(isDone, "SUCCEEDED", "SUCCESS", 1)+","+isBroken+","+hasLeft, "OTHERWISE", "Tell", "BEHIND", tells).Replace(jobLoop)
	loops := loopsOf(t, text)
	require.Len(t, loops, 1)
	require.Contains(t, loops[0].Refused, "with SUCCEEDED it polls on")
}

// A success that a misspelt rule leads to the work of failures is one that the execution fails with.
func TestSuccessThatFails(t *testing.T) {
	t.Parallel()
	running := `{"Variable": "$.b.is", "StringEquals": "IN_PROGRESS", "Next": "Pause"}`
	text := strings.NewReplacer("RULES", strings.Replace(isDone, "SUCCEEDED", "SUCCESS", 1)+","+running, "OTHERWISE", "Tell", "BEHIND", tells).Replace(jobLoop)
	text = strings.Replace(text, `, "Broken": {"Type": "Fail", "Error": "Broken"}`, "", 1)
	loops := loopsOf(t, text)
	require.Len(t, loops, 1)
	require.Contains(t, loops[0].Refused, `leads to "Tell", from where the execution can only fail: repair the loop first, without --replace`)

	// A Task that ends the execution may fail by its Catch alone.
	rules := strings.Replace(isDone, `"Done"`, `"Last"`, 1) + "," + isBroken
	ends := strings.Replace(tells, `"Tell": {"Type": "Task", `, `"Last": {"Type": "Task", "End": true, "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Slow"}], `, 1)
	text = strings.NewReplacer("RULES", rules, "OTHERWISE", "Pause", "BEHIND", strings.Replace(ends, `, "Next": "Slow"},`, `},`, 1)).Replace(jobLoop)
	text = strings.Replace(text, `"Done": {"Type": "Succeed"}, `, "", 1)
	require.Empty(t, loopsOf(t, text)[0].Refused)
}

// Of several Fail states, one that most failures lead to takes those that polled on.
func TestFailStateOfMost(t *testing.T) {
	t.Parallel()
	stopped := `{"Variable": "$.b.is", "StringEquals": "STOPPED", "Next": "Halted"}`
	fault := strings.NewReplacer("FAILED", "FAULT").Replace(isBroken)
	for name, c := range map[string]struct{ rules, timedOut string }{
		"two of one and one of another": {isDone + "," + isBroken + "," + stopped, "Broken"},
		"one of each":                   {isDone + "," + fault + "," + stopped, "Look failed"},
	} {
		if !race.Takes(name, 12) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.NewReplacer("RULES", c.rules, "OTHERWISE", "Pause", "BEHIND", `"Halted": {"Type": "Fail", "Error": "Halted"},`).Replace(jobLoop)
			loops := loopsOf(t, text)
			require.Len(t, loops, 1)
			require.Empty(t, loops[0].Refused)
			require.Contains(t, loops[0].Routes, fix.Route{Status: "TIMED_OUT", After: c.timedOut, Meaning: lint.MeansFailure})
			require.Contains(t, loops[0].Routes, fix.Route{Status: "STOPPED", Before: "Halted", After: "Halted", Meaning: lint.MeansFailure})
		})
	}
}

// A call that is not made again fails the execution by its own error, as before, whatever the language.
func TestCallThatFailsAsBefore(t *testing.T) {
	t.Parallel()
	const text = `{"StartAt": "Pause", "States": {
		"Pause": {"Type": "Wait", "Seconds": 30, "Next": "Look"},
		"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:sagemaker:describeImageVersion", "Parameters": {"ImageName.$": "$.name"}, "ResultPath": "$.e",
			"Retry": [{"ErrorEquals": ["SageMaker.SageMakerException"], "MaxAttempts": 3}], "Next": "Which"},
		"Which": {"Type": "Choice", "Choices": [{"Variable": "$.e.ImageVersionStatus", "StringEquals": "CREATED", "Next": "Done"},
			{"Variable": "$.e.ImageVersionStatus", "StringEquals": "CREATE_FAILED", "Next": "Broken"}], "Default": "Pause"},
		"Done": {"Type": "Succeed"}, "Broken": {"Type": "Fail", "Error": "Broken"}}}`
	for _, c := range race.OneIn(3, []struct {
		strategy compile.Strategy
		from     string
	}{{compile.Variables, "$states.input.error"}, {compile.RetryTask, "$states.input.error"}, {compile.Loop, "$lookFailure"}}) {
		after, loops := apply(t, text, fix.Options{Strategy: c.strategy})
		require.Len(t, loops, 1)
		require.Empty(t, loops[0].Refused, c.strategy)
		require.NotContains(t, after, "JobPoller.Failed", c.strategy)
		require.Contains(t, after, `"{% `+c.from+`.Error %}"`, c.strategy)
		require.Contains(t, after, `"{% `+c.from+`.Cause %}"`, c.strategy)
	}
}

// What differs for an answer without optional members alone is said to be of such an answer.
func TestChangeOfBareAnswers(t *testing.T) {
	t.Parallel()
	selects := strings.Replace(jobLoop, `"is.$": "$.Builds[0].BuildStatus"`, `"is.$": "$.Builds[0].BuildStatus", "phase.$": "$.Builds[0].CurrentPhase"`, 1)
	text := strings.NewReplacer("RULES", isDone+","+isBroken+","+hasLeft, "OTHERWISE", "Broken", "BEHIND", "").Replace(selects)
	for _, c := range loopsOf(t, text)[0].Changes {
		if c.Kind.Sort == trial.Status && c.Kind.Value != "" {
			require.Equal(t, strings.HasPrefix(c.Before, "fails States."), c.Bare, "%v", c)
		}
	}
}

// The new loop keeps a first Wait whose length the data say.
func TestFirstWaitOfTheData(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ old, wait string }{
		"a path":          {`"SecondsPath": "$.pause"`, `"Seconds": "{% $states.input.pause %}"`},
		"a selected path": {`"InputPath": "$.times", "OutputPath": "$", "SecondsPath": "$.pause"`, ""},
		"an expression":   {`"QueryLanguage": "JSONata", "Seconds": "{% $states.input.pause * 2 %}"`, `"Seconds": "{% $states.input.pause * 2 %}"`},
	} {
		if !race.Takes(name, 12) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.NewReplacer("RULES", isDone+","+isBroken, "OTHERWISE", "Pause", "BEHIND", "", `"Seconds": 40`, c.old).Replace(jobLoop)
			after, loops := apply(t, text, fix.Options{Strategy: compile.Variables})
			require.Len(t, loops, 1)
			if c.wait == "" {
				require.NotEmpty(t, loops[0].Refused)
				return
			}
			require.Empty(t, loops[0].Refused)
			m, err := asl.Parse([]byte(after))
			require.NoError(t, err)
			first := m.State("Look waits first")
			require.NotNil(t, first)
			_, own, _ := strings.Cut(after, `"Look waits first": {`)
			own, _, _ = strings.Cut(own, `"Next"`)
			require.Contains(t, own, c.wait)
			_, loops = apply(t, text, fix.Options{Strategy: compile.Loop})
			require.Contains(t, loops[0].Refused, `"Pause"`)
		})
	}
}
