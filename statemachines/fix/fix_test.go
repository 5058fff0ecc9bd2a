package fix_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/source"
	"github.com/jobpoller/jobpoller/tests/race"
)

// machine is a definition with a loop on an Athena query: the fields of the poll, of
// the Wait and of the Choice besides those that it needs, and further states.
func machine(poll, wait, choice, states string) string {
	text := machineWith(`, "ResultPath": "$.q"`+poll, wait, choice, states)
	return strings.ReplaceAll(text, "$.QueryExecution.Status", "$.q.QueryExecution.Status")
}

func machineWith(poll, wait, choice, states string) string {
	return `{
  "Comment": "kept",
  "StartAt": "Start",
  "States": {
    "Start":   {"Type": "Pass", "Result": {"id": "q"}, "Next": "Wait"},
    "Wait": {"Type": "Wait", "Seconds": 5, "Next": "Get"` + wait + `},
    "Get": {"Type": "Task", "Comment": "asks", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution",
      "Parameters": {"QueryExecutionId.$": "$.id"}, "Next": "Done?"` + poll + `},
    "Done?": {"Type": "Choice", "Choices": [
      {"Variable": "$.QueryExecution.Status.State", "StringEquals": "SUCCEEDED", "Next": "Report"},
      {"Variable": "$.QueryExecution.Status.State", "StringEquals": "FAILED", "Next": "Failed"}
    ], "Default": "Wait"` + choice + `},
    "Report":  {"Type": "Succeed"},
    "Failed":  {"Type": "Fail", "Error": "E"}` + states + `
  }
}
`
}

func apply(t *testing.T, text string, o fix.Options) (string, []fix.Loop) {
	t.Helper()
	o.Models = models.Load
	fixed, loops, err := fix.Apply(t.Context(), []byte(text), o)
	require.NoError(t, err)
	return string(fixed), loops
}

func TestTextAroundStays(t *testing.T) {
	t.Parallel()
	before := machine("", "", "", "")
	after, loops := apply(t, before, fix.Options{MaxWait: time.Hour})
	require.Len(t, loops, 1)
	require.Empty(t, loops[0].Refused)
	require.Equal(t, time.Hour, loops[0].MaxWait)
	for _, line := range []string{
		`  "Comment": "kept",`,
		`    "Start":   {"Type": "Pass", "Result": {"id": "q"}, "Next": "Get begins"},`,
		`    "Report":  {"Type": "Succeed"},`,
		`    "Failed":  {"Type": "Fail", "Error": "E"}`,
		`      "Comment": "asks",`,
	} {
		require.Contains(t, after, "\n"+line+"\n")
	}
	m, err := asl.Parse([]byte(after))
	require.NoError(t, err)
	require.Empty(t, lint.Check(m, lint.Options{Off: []string{lint.PollNeedless}}))
	require.Len(t, lint.Loops(m, lint.Options{}), 1)

	// A loop that is right is replaced by itself: there is nothing left to find.
	for _, r := range loops[0].Routes {
		switch r.Status {
		case "SUCCEEDED":
			require.Equal(t, "Report", r.After)
		case "FAILED":
			require.Equal(t, "Failed", r.After)
		case "CANCELLED":
			require.Equal(t, "Failed", r.After)
		}
	}
}

// Tabs and one line stay what they are, in a flow inside of another, too.
func TestStyles(t *testing.T) {
	t.Parallel()
	var flat strings.Builder
	flatten(&flat, machine("", "", "", ""))
	for _, c := range race.OneIn(3, []struct{ before, has, hasNot string }{
		{`{"StartAt": "Each", "States": {"Each": {"Type": "Map", "End": true, "ItemProcessor": ` + machine("", "", "", "") + `}}}`, `"Next": "Get begins"}`, "\t"},
		{flat.String(), `"Next": "Get begins"`, "\n"},
		{strings.ReplaceAll(machine("", "", "", ""), "  ", "\t"), "\n\t", "\n "},
	}) {
		after, loops := apply(t, c.before, fix.Options{})
		require.Empty(t, loops[0].Refused)
		require.Contains(t, after, c.has)
		require.NotContains(t, after, c.hasNot)
	}
}

func flatten(b *strings.Builder, text string) {
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimSpace(line) + " ")
	}
}

// What comes behind the loop gets the same data, whatever the poll makes of it.
func TestData(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ poll, path, states string }{
		"ResultPath":     {`, "ResultPath": "$.a.b"`, "$.a.b.QueryExecution.Status.State", ""},
		"ResultSelector": {`, "ResultSelector": {"id.$": "$.QueryExecution.QueryExecutionId", "s.$": "$.QueryExecution.Status.State"}`, "$.s", ""},
		"both":           {`, "ResultPath": "$.r", "ResultSelector": {"s": {"t.$": "$.QueryExecution.Status.State"}, "n": 1}`, "$.r.s.t", ""},
		"a catcher": {
			`, "ResultPath": "$.a.b", "Catch": [{"ErrorEquals": ["States.ALL"], "ResultPath": "$.error", "Next": "Caught"}]`, "$.a.b.QueryExecution.Status.State",
			`, "Caught": {"Type": "Fail", "CausePath": "$.error.Cause"}`,
		},
	} {
		if !race.Takes(name, 12) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := strings.ReplaceAll(machineWith(c.poll, "", "", c.states), `"$.QueryExecution.Status.State", "StringEquals"`, `"`+c.path+`", "StringEquals"`)
			_, loops := apply(t, before, fix.Options{Strategy: compile.Loop})
			require.Empty(t, loops[0].Refused)
			after, loops := apply(t, before, fix.Options{})
			require.Empty(t, loops[0].Refused)
			if c.states != "" {
				require.Contains(t, after, `"Next": "Caught"`)
				require.Contains(t, after, `$merge([$getInput, {\"error\": $states.errorOutput}])`)
			} else {
				require.NotContains(t, after, "Catch")
			}
		})
	}
}

// What else the poll does, the new one does, too, in each strategy.
func TestPollFields(t *testing.T) {
	t.Parallel()
	text := machine(`, "Assign": {"x.$": "$.QueryExecution"}, "Credentials": {"RoleArn.$": "$.role"},
      "Catch": [{"ErrorEquals": ["States.Timeout"], "Assign": {"y.$": "$.Cause"}, "Next": "Report"}]`, "", "", "")
	text = strings.ReplaceAll(text, `{"id": "q"}`, `{"id": "q", "role": "arn:aws:iam::123456789012:role/r"}`)
	for strategy, parts := range map[compile.Strategy][]string{
		compile.Variables: {`"x": "{% $states.result.QueryExecution %}"`, `"RoleArn": "{% $getInput.role %}"`, `"y": "{% $states.errorOutput.Cause %}"`},
		compile.RetryTask: {`"x": "{% $states.result.QueryExecution %}"`, `"RoleArn": "{% $getInput.role %}"`, `"y": "{% $states.errorOutput.Cause %}"`},
		compile.Loop:      {`"x.$": "$.QueryExecution"`, `"RoleArn.$": "$.role"`, `"y.$": "$.Cause"`, `"ResultPath": "$.q"`, `"Seconds": 5`},
	} {
		if !race.Takes(string(strategy), 12) {
			continue
		}
		after, loops := apply(t, text, fix.Options{Strategy: strategy})
		require.Empty(t, loops[0].Refused)
		for _, part := range parts {
			require.Contains(t, after, part, strategy)
		}
	}
	_, _, err := fix.Apply(t.Context(), []byte(text), fix.Options{Strategy: compile.LambdaLoop})
	require.ErrorIs(t, err, fix.ErrStrategy)
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	const look = `{"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId.$": "$.id"}`
	for want, text := range map[string]string{
		"no success of athena:StartQueryExecution leaves the loop": machine("", `, "InputPath": "$.a"`, "", ""),
		`the success SUCCEEDED of athena:StartQueryExecution leads to the Fail state "Failed"`: strings.NewReplacer(
			`"SUCCEEDED", "Next": "Report"`, `"SUCCEEDED", "Next": "Failed"`, `"FAILED", "Next": "Failed"`, `"FAILED", "Next": "Report"`,
		).Replace(machine("", "", "", "")),
		`"Done?" `: strings.Replace(machine("", "", `, "Assign": {"x": 1}`, ""), `"Report":  {"Type": "Succeed"}`, `"Report":  {"Type": "Pass", "Parameters": {"x.$": "$x"}, "End": true}`, 1),
		`begins at the Choice "Done?", and a compiled loop begins with a poll or a Wait: lead to "Get" first`: strings.NewReplacer(`"Pass", "Result": {"id": "q"}, "Next": "Wait"`,
			`"Task", "Resource": "arn:aws:states:::aws-sdk:athena:startQueryExecution", "Parameters": {"QueryString": "SELECT 1"}, "Next": "Done?"`, `"Report":  {"Type": "Succeed"}`, `"Report":  `+look+`, "End": true}`).Replace(machine("", "", "", "")),
		`begins at the Choice "Done?", with the answer of "First": lead from there to "Get"`: strings.Replace(machine("", "", "", `, "First": `+look+`, "ResultPath": "$.q", "Next": "Done?"}`),
			`"q"}, "Next": "Wait"`, `"q"}, "Next": "First"`, 1),
		`"Again" leads back into the loop at the Choice "Any left?", and a compiled loop waits for one job`: strings.NewReplacer(`"SUCCEEDED", "Next": "Report"`, `"SUCCEEDED", "Next": "Again"`).Replace(
			machine("", "", "", `, "Again": {"Type": "Pass", "Next": "Any left?"}, "Any left?": {"Type": "Choice", "Choices": [{"Variable": "$.q.QueryExecution.Query", "IsPresent": true, "Next": "Get"}], "Default": "Report"}`)),
		`"Next one" leads back into the loop at the Choice "Which?", and a compiled loop waits for one job`: strings.NewReplacer(`"SUCCEEDED", "Next": "Report"`, `"SUCCEEDED", "Next": "Next one"`, `"FAILED", "Next": "Failed"`, `"FAILED", "Next": "Which?"`).Replace(
			machine("", "", "", `, "Next one": {"Type": "Pass", "Next": "Which?"}, "Which?": {"Type": "Choice", "Choices": [{"Variable": "$.q.QueryExecution.Query", "IsPresent": true, "Next": "Get"},
				{"Variable": "$.q.QueryExecution.WorkGroup", "IsPresent": true, "Next": "Report"}], "Default": "Failed"}`)),
		"does more than poll: \"Log\"": strings.Replace(machine("", "", "", `, "Log": {"Type": "Pass", "Next": "Get"}`), `"Seconds": 5, "Next": "Get"`, `"Seconds": 5, "Next": "Log"`, 1),
		`does more than poll: "Log" is a Task`: strings.Replace(machine("", "", "", `, "Log": {"Type": "Task", "Resource": "arn:aws:states:::sns:publish",
      "Parameters": {"TopicArn": "arn:aws:sns:us-east-1:123456789012:t", "Message": "it runs"}, "ResultPath": null, "Next": "Get"}`), `"Seconds": 5, "Next": "Get"`, `"Seconds": 5, "Next": "Log"`, 1),
		`does more than poll: "Note" is a Task`: strings.Replace(machine("", "", "", `, "Note": {"Type": "Task", "Resource": "arn:aws:states:::sns:publish",
      "Parameters": {"TopicArn": "arn:aws:sns:us-east-1:123456789012:t", "Message": "it runs"}, "Assign": {"noted": true}, "ResultPath": null, "Next": "Get"}`), `"Seconds": 5, "Next": "Get"`, `"Seconds": 5, "Next": "Note"`, 1),
		`nothing shows that a new loop is right: "Get": no trial run gets there`: strings.NewReplacer(
			`"Next": "Wait"`, `"Next": "Name"`, `"States": {`, `"States": {"Name": {"Type": "Pass", "Parameters": {"n.$": "States.Format('{} {}', 'a')"}, "ResultPath": "$.n", "Next": "Wait"}, `,
		).Replace(machine("", "", "", "")),
	} {
		after, loops := apply(t, text, fix.Options{})
		require.Len(t, loops, 1, want)
		require.Contains(t, loops[0].Refused, want)
		require.Equal(t, text, after)
	}
}

// A value that a template gives stays in use.
func TestPlaceholderOfTheWait(t *testing.T) {
	t.Parallel()
	text := []byte(strings.Replace(machine("", "", "", ""), `"Seconds": 5`, `"Seconds": ${Delay}`, 1))
	read := func(file []byte) (*source.Definition, error) {
		values := map[string]string{}
		if bytes.Contains(file, []byte("${Delay}")) {
			values["Delay"] = "5"
		}
		return source.LoadOne(t.Context(), source.Stdin, source.Options{Stdin: bytes.NewReader(file), Values: values})
	}
	after, loops, err := fix.ApplyFile(t.Context(), text, read, fix.Options{Models: models.Load})
	require.NoError(t, err)
	require.Equal(t, "the new loop has its own delays, and nothing in it takes the value of ${Delay}: say the longest delay", loops[0].Refused)
	require.Equal(t, text, after)
	for _, said := range race.OneIn(2, []fix.Options{{MaxDelay: time.Minute}, {Schedule: &pollcore.Planned{Delays: []time.Duration{time.Minute}, Then: time.Minute}, Strategy: compile.Variables}}) {
		said.Models = models.Load
		_, loops, err = fix.ApplyFile(t.Context(), text, read, said)
		require.NoError(t, err)
		require.Empty(t, loops[0].Refused)
	}
}

// A Choice that only stands behind the loop stays; one inside that looks at more
// than the answer keeps the loop as it is.
func TestChoiceOnOtherData(t *testing.T) {
	t.Parallel()
	const more = `"More?": {"Type": "Choice", "Choices": [{"Variable": "$.more", "IsPresent": true, "Next": "Failed"}], "Default": "Report"}`
	behind := strings.Replace(machine("", "", "", ",\n    "+more), `"SUCCEEDED", "Next": "Report"`, `"SUCCEEDED", "Next": "More?"`, 1)
	after, loops := apply(t, behind, fix.Options{})
	require.Empty(t, loops[0].Refused)
	require.Contains(t, after, more)
	require.Equal(t, "More?", loops[0].Routes[0].After)

	inside := strings.Replace(machine("", "", "", ""), `"Choices": [`, `"Choices": [{"Variable": "$.more", "IsPresent": true, "Next": "Report"},`, 1)
	after, loops = apply(t, inside, fix.Options{})
	require.Equal(t, `a rule of "Done?" leads to "Report" by data that "Get" does not give: $.more`, loops[0].Refused)
	require.Equal(t, inside, after)
}

// A loop that reads a number is tried with one, and stays for no other reason than its own.
func TestNumericVariable(t *testing.T) {
	t.Parallel()
	text := `{"QueryLanguage": "JSONata", "StartAt": "Start", "States": {
  "Start": {"Type": "Pass", "Assign": {"polls": 0, "pause": 10}, "Next": "Wait"},
  "Wait": {"Type": "Wait", "Seconds": "{% $pause %}", "Next": "Get"},
  "Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Arguments": {"QueryExecutionId": "{% $states.context.Execution.Input.id %}"},
    "Assign": {"polls": "{% $polls + 1 %}"}, "Next": "Done?"},
  "Done?": {"Type": "Choice", "Default": "Wait", "Choices": [
    {"Condition": "{% $states.input.QueryExecution.Status.State = 'SUCCEEDED' %}", "Next": "Report"},
    {"Condition": "{% $states.input.QueryExecution.Status.State in ['FAILED', 'CANCELLED'] %}", "Next": "Failed"}]},
  "Report": {"Type": "Succeed"},
  "Failed": {"Type": "Fail", "Error": "E"}}}`
	_, loops := apply(t, strings.Replace(text, `"Error": "E"`, `"Error": "E", "Cause": "{% $string($polls) %}"`, 1), fix.Options{Strategy: compile.Variables})
	require.Equal(t, `"Get" sets the variable "polls" from its value of the turn before, which a new loop does not keep, and "Failed" reads it: `+
		`let no state but the Choices of the loop read it`, loops[0].Refused)
	after, loops := apply(t, text, fix.Options{Strategy: compile.Variables})
	require.Empty(t, loops[0].Refused)
	require.NotContains(t, after, "$polls + 1")
	_, loops = apply(t, strings.Replace(text, "$polls + 1", "$pause + 1", 1), fix.Options{Strategy: compile.Variables})
	require.Empty(t, loops[0].Refused)
	require.Equal(t, "Report", loops[0].Trials[0].Before.Exit)
}

// A Task beside the loop that no input leads to is named.
func TestNotTried(t *testing.T) {
	t.Parallel()
	text := strings.ReplaceAll(machine("", "", "", `,
    "Which": {"Type": "Choice", "Choices": [{"Variable": "$.id", "StringEquals": "r", "Next": "Tell"}], "Default": "Wait"},
    "Tell": {"Type": "Task", "Resource": "arn:aws:states:::sns:publish", "ResultPath": null, "Next": "Wait",
      "Parameters": {"TopicArn": "arn:aws:sns:us-east-1:123456789012:t", "Message": "m"}}`), `"q"}, "Next": "Wait"`, `"q"}, "Next": "Which"`)
	_, loops := apply(t, text, fix.Options{})
	require.Empty(t, loops[0].Refused)
	require.Equal(t, []string{`"Tell": no trial run gets there`}, loops[0].NotTried)
	_, loops = apply(t, machine("", "", "", ""), fix.Options{})
	require.Empty(t, loops[0].NotTried)
}

func TestOnly(t *testing.T) {
	t.Parallel()
	text := machine("", "", "", "")
	after, loops := apply(t, text, fix.Options{Only: []string{"Other"}})
	require.Empty(t, loops)
	require.Equal(t, text, after)
	_, _, err := fix.Apply(t.Context(), []byte("{"), fix.Options{Models: models.Load})
	require.Error(t, err)
}

func TestLoopInJSON(t *testing.T) {
	t.Parallel()
	_, loops := apply(t, machine("", "", "", ""), fix.Options{MaxWait: time.Hour})
	text, err := json.Marshal(loops[0])
	require.NoError(t, err)
	require.Contains(t, string(text), `"maxWaitSeconds":3600`)
	require.Contains(t, string(text), `"lateSeconds":`)
}

// A diff says how to make the second text of the first.
func TestDiff(t *testing.T) {
	t.Parallel()
	require.Empty(t, fix.Diff("a", "b", []byte("x\n"), []byte("x\n")))
	require.Equal(t, "--- a\n+++ b\n@@ -1,1 +1,2 @@\n x\n+y\n", fix.Diff("a", "b", []byte("x\n"), []byte("x\ny\n")))
	require.Equal(t, "--- a\n+++ b\n@@ -0,0 +1,1 @@\n+y\n\\ No newline at end of file\n", fix.Diff("a", "b", nil, []byte("y")))
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		a, b := randomText(random), randomText(random)
		require.Equal(t, b, patch(t, a, fix.Diff("a", "b", []byte(a), []byte(b))), "%q %q", a, b)
	}
}

func randomText(random *rand.Rand) string {
	var b strings.Builder
	for range random.IntN(30) {
		fmt.Fprintf(&b, "%d\n", random.IntN(4))
	}
	return b.String()
}

// patch applies a diff.
func patch(t *testing.T, text, diff string) string {
	t.Helper()
	lines := strings.SplitAfter(text, "\n")
	var out strings.Builder
	at := 0
	for line := range strings.Lines(diff) {
		var start, count, newStart, newCount int
		if n, _ := fmt.Sscanf(line, "@@ -%d,%d +%d,%d @@", &start, &count, &newStart, &newCount); n == 4 {
			for from := max(start-1, 0) + min(1, max(0, 1-count)); at < from && count > 0 || count == 0 && at < start; at++ {
				out.WriteString(lines[at])
			}
			continue
		}
		switch {
		case strings.HasPrefix(line, "---"), strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "\\"):
		case line[0] == '+':
			out.WriteString(line[1:])
		default:
			require.Equal(t, lines[at], line[1:])
			if line[0] == ' ' {
				out.WriteString(line[1:])
			}
			at++
		}
	}
	for ; at < len(lines); at++ {
		out.WriteString(lines[at])
	}
	return out.String()
}

// A loop that leaves for a success by another member than the status stays: a compiled
// loop does not read that member. A Choice behind the loop may read what it likes.
func TestEndByAnotherMember(t *testing.T) {
	t.Parallel()
	with := func(rule, selector string) string {
		return strings.NewReplacer(`"Choices": [`, `"Choices": [`+rule, `"ResultPath": "$.job"`, `"ResultPath": "$.job"`+selector).Replace(training(`, "ResultPath": null`, map[bool]string{true: `, "OK": {"Type": "Succeed"}`}[strings.Contains(rule, `"OK"`)]))
	}
	const byMore = `Completed leads to %q or "Report" by more than the status`
	for name, c := range map[string]struct{ text, want string }{
		"a member": {with(`{"Variable": "$.job.SecondaryStatus", "StringEquals": "MaxRuntimeExceeded", "Next": "OK"},`, ""), fmt.Sprintf(byMore, "OK")},
		"a member that is selected": {strings.ReplaceAll(with(`{"Variable": "$.job.s", "StringEquals": "MaxRuntimeExceeded", "Next": "OK"},`,
			`, "ResultSelector": {"s.$": "$.SecondaryStatus", "t.$": "$.TrainingJobStatus"}`), "$.job.TrainingJobStatus", "$.job.t"), fmt.Sprintf(byMore, "OK")},
		"a number beside the status": {with(`{"And": [{"Variable": "$.job.TrainingJobStatus", "StringEquals": "Completed"},
			{"Variable": "$.job.BillableTimeInSeconds", "NumericEquals": 0}], "Next": "Failed"},`, ""), fmt.Sprintf(byMore, "Failed")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, strategy := range []compile.Strategy{"", compile.Variables, compile.Loop} {
				after, loops := apply(t, c.text, fix.Options{Strategy: strategy})
				require.Contains(t, loops[0].Refused, c.want)
				require.Equal(t, c.text, after)
			}
		})
	}
	behind := strings.NewReplacer(`"Next": "Report"`, `"Next": "Which"`).Replace(training(`, "ResultPath": null`, `,
    "Which": {"Type": "Choice", "Choices": [{"Variable": "$.job.SecondaryStatus", "StringEquals": "MaxRuntimeExceeded", "Next": "Failed"}], "Default": "Report"}`))
	_, loops := apply(t, behind, fix.Options{})
	require.Empty(t, loops[0].Refused)
}

// The new loop polls when a schedule says, in however many phases a strategy holds it.
func TestFixFollowsASchedule(t *testing.T) {
	t.Parallel()
	schedule := pollcore.Planned{Delays: []time.Duration{690 * time.Second, 20 * time.Second, 3 * time.Second, 3 * time.Second}, Then: 11 * time.Second}
	for _, strategy := range race.OneIn(3, []compile.Strategy{"", compile.Variables, compile.RetryTask}) {
		_, loops := apply(t, machine("", "", "", ""), fix.Options{Strategy: strategy, Schedule: &schedule, JobRuns: 12 * time.Minute})
		require.Empty(t, loops[0].Refused)
		require.Equal(t, cmp.Or(strategy, compile.Variables), loops[0].Strategy)
		for _, trial := range loops[0].Trials {
			require.Equal(t, 727*time.Second, trial.After.Lasts, strategy) // 690, 710, 713, 716, 727
			require.InDelta(t, 5, trial.After.Calls, 0, strategy)
			require.Equal(t, 7*time.Second, trial.After.Late, strategy)
		}
	}
	for _, strategy := range []compile.Strategy{compile.Loop, compile.SyncTask} {
		_, _, err := fix.Apply(t.Context(), []byte(machine("", "", "", "")), fix.Options{Strategy: strategy, Schedule: &schedule, Models: models.Load})
		require.ErrorIs(t, err, fix.ErrSchedule)
	}
}

// A loop on an optimized integration becomes one on the SDK's, and both are tried.
func TestFixOfAnOptimizedIntegration(t *testing.T) {
	t.Parallel()
	text := strings.ReplaceAll(machine("", "", "", ""), "aws-sdk:athena:getQueryExecution", "athena:getQueryExecution")
	after, loops := apply(t, text, fix.Options{Strategy: compile.Variables, JobRuns: 12 * time.Minute})
	require.Empty(t, loops[0].Refused)
	require.Contains(t, after, "aws-sdk:athena:getQueryExecution")
	require.InDelta(t, 144, loops[0].Trials[0].Before.Calls, 0)
	require.Positive(t, loops[0].Trials[0].After.Calls)
}

// Whenever it is cancelled, fix says so, and refuses no loop for it.
func TestCancelled(t *testing.T) {
	t.Parallel()
	for n := 1; ; n += 1 + n/race.Of(4, 1) {
		ctx, cancel := context.WithCancel(t.Context())
		calls := 0
		load := func(service string) (*catalog.Service, error) {
			if calls++; calls == n {
				cancel()
			}
			return models.Load(service)
		}
		_, loops, err := fix.Apply(ctx, []byte(machine("", "", "", "")), fix.Options{MaxWait: 48 * time.Hour, JobRuns: time.Minute, Models: load})
		cancel()
		if err == nil {
			require.Empty(t, loops[0].Refused)
		} else {
			require.ErrorIs(t, err, context.Canceled)
		}
		if calls < n {
			require.NoError(t, err)
			return
		}
	}
}

// A loop that looks like a compiled one once another is replaced says so.
func TestLoopBesideAnother(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer(`"Output": {"id": "q"}`, `"Output": {"id": "q"}, "Assign": {"GetArguments": {"QueryExecutionId": "q"}}`, `"Report": {"Type": "Succeed"}`, `"Report": {"Type": "Wait", "Seconds": 5, "Next": "Look"},
		"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Arguments": "{% $GetArguments %}", "Next": "Over?"},
		"Over?": {"Type": "Choice", "Choices": [{"Condition": "{% $states.input.QueryExecution.Status.State = 'SUCCEEDED' %}", "Next": "End"}], "Default": "Report"}, "End": {"Type": "Succeed"}`,
	).Replace(queryInJSONata("", "", ""))
	_, loops := apply(t, text, fix.Options{})
	require.Len(t, loops, 2)
	require.Empty(t, loops[0].Refused)
	require.Equal(t, "the loop changed with another that was replaced", loops[1].Refused)
}

// What only a later call leads to is no success of the loop, however many of its statuses lead to one failure.
func TestSuccessesOfLaterCalls(t *testing.T) {
	t.Parallel()
	_, loops := apply(t, `{"QueryLanguage": "JSONata", "StartAt": "Start", "TimeoutSeconds": 7200, "States": {
  "Start": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:cloudformation:createStack",
    "Arguments": {"StackName": "s", "TemplateURL": "u"}, "Assign": {"stack": "{% $states.result.StackId %}"}, "Next": "Wait"},
  "Wait": {"Type": "Wait", "Seconds": 15, "Next": "Describe"},
  "Describe": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:cloudformation:describeStacks", "Arguments": {"StackName": "{% $stack %}"},
    "Output": "{% $states.result.Stacks[0].StackStatus %}", "Next": "Status?"},
  "Status?": {"Type": "Choice", "Choices": [
    {"Condition": "{% $states.input = 'CREATE_COMPLETE' %}", "Next": "Up"},
    {"Condition": "{% $states.input in ['CREATE_IN_PROGRESS', 'REVIEW_IN_PROGRESS'] %}", "Next": "Wait"}
  ], "Default": "Tell"},
  "Tell": {"Type": "Pass", "Next": "Down"},
  "Up": {"Type": "Succeed"},
  "Down": {"Type": "Fail"}}}`, fix.Options{})
	require.Len(t, loops, 1)
	require.NotContains(t, loops[0].Refused, "the execution can only fail")
}

// A loop that fails by Default on what only a later call leads to can be replaced: after
// createStack no UPDATE_FAILED comes, which AWS's waiter takes for a success.
func TestStatusesOfLaterCalls(t *testing.T) {
	t.Parallel()
	after, loops := apply(t, `{"StartAt": "Start", "TimeoutSeconds": 7200, "States": {
  "Start": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:cloudformation:createStack",
    "Parameters": {"StackName.$": "$.name", "TemplateURL.$": "$.url"}, "ResultPath": "$.stack", "Next": "Wait"},
  "Wait": {"Type": "Wait", "Seconds": 15, "Next": "Describe"},
  "Describe": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:cloudformation:describeStacks",
    "Parameters": {"StackName.$": "$.name"}, "ResultPath": "$.s", "Retry": [{"ErrorEquals": ["States.TaskFailed"]}], "Next": "Status?"},
  "Status?": {"Type": "Choice", "Choices": [
    {"Variable": "$.s.Stacks[0].StackStatus", "StringMatches": "*_IN_PROGRESS", "Next": "Wait"},
    {"Variable": "$.s.Stacks[0].StackStatus", "StringEquals": "CREATE_COMPLETE", "Next": "Up"}
  ], "Default": "Down"},
  "Up": {"Type": "Succeed"},
  "Down": {"Type": "Fail"}}}`, fix.Options{})
	require.Len(t, loops, 1)
	require.Empty(t, loops[0].Refused)
	require.Contains(t, after, "UPDATE_FAILED")
	for _, r := range loops[0].Routes {
		if r.Status == "CREATE_COMPLETE" || r.Status == "UPDATE_FAILED" {
			require.Equal(t, r.Before, r.After, r.Status)
		}
	}
}
