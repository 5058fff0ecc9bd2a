package trial_test

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/trial"
)

var update = flag.Bool("update", false, "write the golden files")

// asked is a loop whose poll is a function that nobody knows.
const asked = `{"StartAt": "Look", "States": {
	"Look": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "look", "Payload.$": "$"},
		"ResultSelector": {"now.$": "$.Payload.now"}, "ResultPath": "$.r", "Next": "Done?"},
	"Done?": {"Type": "Choice", "Default": "Pause", "Choices": [
		{"Variable": "$.r.now", "StringEquals": "BROKEN", "Next": "Bad"}, {"Variable": "$.r.now", "StringEquals": "DONE", "Next": "Good"}]},
	"Pause": {"Type": "Wait", "Seconds": 30, "Next": "Look"},
	"Bad": {"Type": "Fail", "Error": "Broken"}, "Good": {"Type": "Succeed"}}}`

// modelled is a loop whose poll has a member that the service's model lists the values of, and no entry in the catalogue.
var modelled = strings.NewReplacer(`"Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "look", "Payload.$": "$"}`,
	`"Resource": "arn:aws:states:::aws-sdk:transfer:listFileTransferResults", "Parameters": {"ConnectorId": "c", "TransferId.$": "$.id"}`,
	"$.Payload.now", "$.FileTransferResults[0].StatusCode", "BROKEN", "FAILED", "DONE", "COMPLETED").Replace(asked)

// The statuses of a job that nobody knows are those that either machine compares. One runs with which the machines ask
// again, and one has ended.
func TestStatusesThatMachinesCompare(t *testing.T) {
	t.Parallel()
	const failFast, running = `"Default": "Pause"`, `"Choices": [{"Variable": "$.r.now", "StringEquals": "RUNNING", "Next": "Pause"},`
	caught := strings.Replace(asked, `"ResultPath": "$.r"`, `"ResultPath": "$.r", "Catch": [{"ErrorEquals": ["States.Timeout"], "ResultPath": "$.e", "Next": "Pause"}]`, 1)
	fast := strings.NewReplacer(failFast, `"Default": "Bad"`, `"Choices": [`, running).Replace(asked)
	for name, c := range map[string]struct {
		text string
		edit []string
	}{
		"a failure that succeeds":      {asked, []string{`"Bad": {"Type": "Fail", "Error": "Broken"}`, `"Bad": {"Type": "Succeed"}`}},
		"a new rule":                   {asked, []string{`"Choices": [`, `"Choices": [{"Variable": "$.r.now", "StringEquals": "LOST", "Next": "Bad"}, `}},
		"a new rule of another member": {asked, []string{`"Choices": [`, `"Choices": [{"Variable": "$.r.why", "StringEquals": "LOST", "Next": "Bad"}, `, `"now.$": "$.Payload.now"`, `"now.$": "$.Payload.now", "why.$": "$.Payload.why"`}},
		"another word":                 {asked, []string{"DONE", "FINISHED"}},
		"a Default that polls on":      {strings.Replace(caught, failFast, `"Default": "Bad"`, 1), []string{`"Default": "Bad"`, failFast}},
		"a rule that polls on": {
			strings.NewReplacer(failFast, `"Default": "Bad"`, `"Choices": [`, strings.Replace(running, "Pause", "Bad", 1)).Replace(caught),
			[]string{`"RUNNING", "Next": "Bad"`, `"RUNNING", "Next": "Pause"`},
		},
		"a Default that fails": {fast, []string{`"DONE"`, `"FINISHED"`}},
		"no status succeeds":   {strings.Replace(asked, `"Good": {"Type": "Succeed"}`, `"Good": {"Type": "Fail", "Error": "Gone"}`, 1), []string{"Broken", "Failed"}},
		"a bound that succeeds": {strings.NewReplacer(`"StartAt": "Look"`, `"StartAt": "Zero"`, `"States": {`, `"States": {"Zero": {"Type": "Pass", "Assign": {"n": 0}, "Next": "Look"},`,
			`"Type": "Wait"`, `"Type": "Wait", "Assign": {"n.$": "States.MathAdd($n, 1)"}`, `"Choices": [`, `"Choices": [{"Variable": "$n", "NumericGreaterThan": 3, "Next": "Good"},`).Replace(asked), []string{"Broken", "Failed"}},
		"an end that polls elsewhere": {strings.NewReplacer(`"BROKEN", "Next": "Bad"`, `"A_STEP", "Next": "Then"`, `"DONE", "Next": "Good"`, `"DONE", "Next": "Bad"`, `"Good": {"Type": "Succeed"}`,
			`"Then": {"Type": "Wait", "Seconds": 30, "Next": "Ask"}, "Ask": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "ask"}, "ResultPath": "$.a", "Next": "More?"},
			"More?": {"Type": "Choice", "Default": "Then", "Choices": [{"Variable": "$.a.Payload.now", "StringEquals": "OVER", "Next": "Bad"}]}`).Replace(asked), []string{"Broken", "Failed"}},
		"a loop that a Catch closes":    {strings.Replace(caught, failFast, `"Default": "Good"`, 1), []string{"Broken", "Failed"}},
		"an item of a list":             {strings.ReplaceAll(asked, "$.r.now", "$.r.now[0].is"), []string{"Broken", "Failed"}},
		"a number":                      {strings.NewReplacer(`"StringEquals": "BROKEN"`, `"NumericEquals": 7`, `"StringEquals": "DONE"`, `"NumericEquals": 9`).Replace(asked), []string{"Broken", "Failed"}},
		"a text that becomes an object": {asked, []string{`"Choices": [`, `"Choices": [{"Variable": "$.r.now.is", "StringEquals": "LOST", "Next": "Bad"}, `}},
		"an object that becomes a text": {strings.ReplaceAll(asked, "$.r.now", "$.r.now.is"), []string{`"$.r.now.is", "StringEquals": "DONE"`, `"$.r.now", "StringEquals": "DONE"`}},
		"a model":                       {modelled, []string{"Broken", "Failed"}},
		"a new rule of a model":         {modelled, []string{`"Choices": [`, `"Choices": [{"Variable": "$.r.now", "StringEquals": "LOST", "Next": "Bad"}, `}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var lines []string
			for _, run := range compare(t, c.text, c.edit...).Runs {
				isOther := func(k trial.Kind) bool { return k.Task != "Look" || k.Sort == trial.Fails || k.Sort == trial.Bare }
				if !slices.ContainsFunc(run.Kinds, isOther) && !strings.Contains(run.Script, "2 polls") {
					lines = append(lines, run.Script+": "+run.Before.String()+" -> "+run.After.String()+"\n")
				}
			}
			golden := "testdata/status/" + strings.ReplaceAll(name, " ", "-") + ".golden"
			text := strings.Join(lines, "")
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(text), 0o600))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), text, "go test -run TestStatuses -update writes it anew")
		})
	}
}
