package fix_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/statemachines/trial"
	"github.com/jobpoller/jobpoller/tests/race"
)

// severalLoop is a loop whose answers may list several jobs.
const severalLoop = `{"StartAt": "Begin", "States": {
	"Begin": {"Type": "Pass", "QueryLanguage": "JSONata", "Assign": {"id": "1", "ids": ["1", "2"]}, "Next": "Look"},
	"Look": {"Type": "Task", "Resource": "arn:aws:states:::CALL", ARGUMENTS, "Next": "Done?"},
	"Done?": CHOICE, "Pause": {"Type": "Wait", "Seconds": 15, "Next": "Look"},
	"Failed": {"Type": "Fail", "Error": "ItFailed"}, "Good": {"Type": "Succeed"}}}`

// choiceOf is a Choice in JSONata that polls on by Default.
func choiceOf(rules ...string) string {
	var all []string
	for i := 0; i < len(rules); i += 2 {
		all = append(all, `{"Condition": "{% `+rules[i]+` %}", "Next": "`+rules[i+1]+`"}`)
	}
	return `{"Type": "Choice", "QueryLanguage": "JSONata", "Default": "Pause", "Choices": [` + strings.Join(all, ", ") + `]}`
}

// The new loop judges several jobs of one answer as the old one does: no answer about two jobs ends otherwise.
func TestSeveralJobs(t *testing.T) {
	t.Parallel()
	const (
		batch, builds = "aws-sdk:batch:describeJobs", "aws-sdk:codebuild:batchGetBuilds"
		asks          = `"ResultPath": "$.look", "Parameters": `
		sees          = `"QueryLanguage": "JSONata", "Assign": {"seen": "{% [$states.result.Jobs.Status] %}"}, "Output": "{% $states.input %}", "Arguments": `
		invoke        = `"QueryLanguage": "JSONata", "Output": "{% $merge([$states.input, {'look': $states.result.Payload}]) %}", ` +
			`"Arguments": {"FunctionName": "look", "Payload": {"ids": "{% $states.input.ids %}"}}`
		all, atOnce, ended = "all jobs in Jobs have to succeed", ", and one that fails ends the wait", ", and the wait goes on until all have ended"
		whole              = "; an answer that lists fewer than Look asks for polls on"
		first              = "the first job in Jobs decides, as in the old loop"
		anyFailed          = "'FAILED' in $seen"
		allSucceeded       = "$count($seen[$ = 'SUCCEEDED']) = $count($seen)"
		oneRuns            = "$count($seen[$ in ['SUCCEEDED', 'FAILED']]) < $count($seen)"
	)
	path := func(path, success string) string {
		return `{"Type": "Choice", "Default": "Pause", "Choices": [{"Variable": "$.look.` + path + `", "StringEquals": "` + success + `", "Next": "Good"},
			{"Variable": "$.look.` + path + `", "StringEquals": "FAILED", "Next": "Failed"}]}`
	}
	item := func(operator, status, to string) string {
		rule := func(n string) string {
			return `{"Variable": "$.look.Jobs[` + n + `].Status", "StringEquals": "` + status + `"}`
		}
		return `{"` + operator + `": [` + rule("0") + `, ` + rule("1") + `], "Next": "` + to + `"}`
	}
	counts := `{"Type": "Choice", "Default": "Pause", "Choices": [{"Variable": "$.look.failed", "NumericGreaterThan": 0, "Next": "Failed"},
		{"Variable": "$.look.good", "NumericEqualsPath": "$.look.all", "Next": "Good"}]}`
	ids := sees + `{"Jobs": "{% $states.input.ids %}"}`
	for name, c := range map[string]struct{ call, arguments, choice, note string }{
		"one failed, or all succeeded": {batch, ids, choiceOf(anyFailed, "Failed", allSucceeded, "Good"), all + atOnce},
		"all have ended":               {batch, ids, choiceOf(oneRuns, "Pause", anyFailed, "Failed", allSucceeded, "Good"), all + ended},
		"as many as are asked for": {
			batch, ids, choiceOf(anyFailed, "Failed", "$count($seen[$ = 'SUCCEEDED']) = $count($states.input.ids)", "Good"), all + atOnce + whole,
		},
		"a list in a variable":       {batch, sees + `{"Jobs": "{% $ids %}"}`, choiceOf(anyFailed, "Failed", allSucceeded, "Good"), all + atOnce},
		"arguments in an expression": {batch, sees + `"{% {'Jobs': $states.input.ids} %}"`, choiceOf(anyFailed, "Failed", allSucceeded, "Good"), all + atOnce},
		"each by its place": {
			batch, asks + `{"Jobs.$": "States.Array($.a, $.b)"}`,
			`{"Type": "Choice", "Default": "Pause", "Choices": [` + item("Or", "FAILED", "Failed") + `, ` + item("And", "SUCCEEDED", "Good") + `]}`, all + atOnce + whole,
		},
		"counts by filters": {
			batch, asks + `{"Jobs.$": "$.ids"}, "ResultSelector": {"failed.$": "States.ArrayLength($.Jobs[?(@.Status == 'FAILED')])",
				"good.$": "States.ArrayLength($.Jobs[?(@.Status == 'SUCCEEDED')])", "all.$": "States.ArrayLength($.Jobs)"}`, counts, all + atOnce,
		},
		"what the list contains": {
			batch, asks + `{"Jobs.$": "$.ids"}, "ResultSelector": {"bad.$": "States.ArrayContains($.Jobs[*].Status, 'FAILED')",
				"kinds.$": "States.ArrayUnique($.Jobs[*].Status)", "n.$": "States.ArrayLength(States.ArrayUnique($.Jobs[*].Status))"}`,
			`{"Type": "Choice", "Default": "Pause", "Choices": [{"Variable": "$.look.bad", "BooleanEquals": true, "Next": "Failed"}, {"And": [
				{"Variable": "$.look.n", "NumericEquals": 1}, {"Variable": "$.look.kinds[0]", "StringEquals": "SUCCEEDED"}], "Next": "Good"}]}`, all + atOnce,
		},
		"several failures": {
			builds, strings.Replace(sees, "Jobs.Status", "Builds.BuildStatus", 1) + `{"Ids": "{% $states.input.ids %}"}`,
			choiceOf("$count($seen[$ in ['FAILED', 'FAULT', 'STOPPED', 'TIMED_OUT']]) > 0", "Failed", allSucceeded, "Good"),
			"all jobs in Builds have to succeed" + atOnce,
		},
		"failures that poll on beside one that ends": {
			"aws-sdk:ec2:describeImages", strings.Replace(sees, "Jobs.Status", "Images.State", 1) + `{"ImageIds": "{% $states.input.ids %}"}`,
			choiceOf("'failed' in $seen", "Failed", "$count($seen[$ = 'available']) = $count($seen)", "Good"), "all jobs in Images have to succeed" + atOnce,
		},
		"of a function": {
			"lambda:invoke", invoke, choiceOf("$count($states.input.look.jobs[status = 'FAILED']) > 0", "Failed",
				"$count($states.input.look.jobs[status = 'SUCCEEDED']) = $count($states.input.look.jobs)", "Good"),
			"all jobs in Payload.jobs have to succeed" + atOnce,
		},
		"the first of a list":           {batch, asks + `{"Jobs.$": "$.ids"}`, path("Jobs[0].Status", "SUCCEEDED"), first},
		"the first of two":              {batch, asks + `{"Jobs.$": "States.Array($.a, $.b)"}`, path("Jobs[0].Status", "SUCCEEDED"), first},
		"one job":                       {batch, asks + `{"Jobs.$": "States.Array($.id)"}`, path("Jobs[0].Status", "SUCCEEDED"), ""},
		"one job, written":              {batch, asks + `{"Jobs": ["1"]}`, path("Jobs[0].Status", "SUCCEEDED"), ""},
		"one build":                     {builds, asks + `{"Ids.$": "States.Array($.id)"}`, path("Builds[0].BuildStatus", "SUCCEEDED"), ""},
		"an item of a list in brackets": {batch, sees + `{"Jobs": "{% [$ids[0]] %}"}`, choiceOf(anyFailed, "Failed", allSucceeded, "Good"), ""},
		"a text in brackets":            {batch, sees + `{"Jobs": "{% [$id] %}"}`, choiceOf(anyFailed, "Failed", allSucceeded, "Good"), ""},
	} {
		if !race.Takes(name, 12) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, loops := apply(t, strings.NewReplacer("CALL", c.call, "ARGUMENTS", c.arguments, "CHOICE", c.choice).Replace(severalLoop), fix.Options{})
			require.Len(t, loops, 1)
			require.Empty(t, loops[0].Refused)
			if c.note != "" {
				require.Contains(t, loops[0].Notes, c.note)
			} else {
				require.NotContains(t, strings.Join(loops[0].Notes, "\n"), "job")
			}
			for _, change := range loops[0].Changes {
				if !strings.HasSuffix(c.call, "describeImages") { // a failure that polled on ends the wait now
					require.NotEqual(t, trial.Items, change.Kind.Sort, "%v", change)
				}
			}
		})
	}
}

// Where one success is enough, lint keeps the loop, as nobody counts the failures. What a new loop would ask for is said.
func TestSeveralJobsOfWhichOneHasToSucceed(t *testing.T) {
	t.Parallel()
	const failed, failures = "['FAILED', 'FAULT', 'STOPPED', 'TIMED_OUT']", "$count($seen[$ in ['FAILED', 'FAULT', 'STOPPED', 'TIMED_OUT']])"
	for name, c := range map[string]struct{ choice, note string }{
		"at once": {
			choiceOf("'SUCCEEDED' in $seen", "Good", failures+" = $count($seen)", "Failed"), "one of the jobs in Builds has to succeed, and that ends the wait",
		},
		"when all have ended": {
			choiceOf("'IN_PROGRESS' in $seen", "Pause", "'SUCCEEDED' in $seen", "Good", "$count($seen[$ in "+failed+"]) > 0", "Failed"),
			"one of the jobs in Builds has to succeed, and the wait goes on until all have ended",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, loops := apply(t, strings.NewReplacer("CALL", "aws-sdk:codebuild:batchGetBuilds", "CHOICE", c.choice, "ARGUMENTS",
				`"QueryLanguage": "JSONata", "Assign": {"seen": "{% [$states.result.Builds.BuildStatus] %}"}, "Output": "{% $states.input %}", `+
					`"Arguments": {"Ids": "{% $states.input.ids %}"}`).Replace(severalLoop), fix.Options{})
			require.Len(t, loops, 1)
			require.Contains(t, loops[0].Refused, "beside jobs that have succeeded")
			require.Contains(t, loops[0].Notes, c.note)
		})
	}
}

// One failure that the old loop takes for a success does not tell how it judges the others: all jobs have to succeed, and what
// becomes of that failure beside other jobs is said.
func TestSeveralJobsWithAFailureTakenForASuccess(t *testing.T) {
	t.Parallel()
	const ended, failed = "['SUCCEEDED', 'FAILED']", "['FAULT', 'TIMED_OUT', 'STOPPED']"
	choice := choiceOf("$count($seen[$ in "+failed+"]) > 0", "Failed", "$count($seen[$ in "+ended+"]) = $count($seen)", "Good")
	_, loops := apply(t, strings.NewReplacer("CALL", "aws-sdk:codebuild:batchGetBuilds", "CHOICE", choice, "ARGUMENTS",
		`"QueryLanguage": "JSONata", "Assign": {"seen": "{% [$states.result.Builds.BuildStatus] %}"}, "Output": "{% $states.input %}", `+
			`"Arguments": {"Ids": "{% $states.input.ids %}"}`).Replace(severalLoop), fix.Options{})
	require.Len(t, loops, 1)
	require.Empty(t, loops[0].Refused)
	require.Contains(t, loops[0].Notes, "all jobs in Builds have to succeed, and one that fails ends the wait")
	told := map[string]bool{}
	for _, change := range loops[0].Changes {
		if change.Kind.Sort == trial.Items {
			told[change.Kind.Value] = true
		}
	}
	require.Contains(t, told, "Builds[0] SUCCEEDED and [1] FAILED")
	require.NotContains(t, told, "Builds[0] SUCCEEDED and [1] FAULT")
}

// A loop over several jobs stays where nobody can tell how the new one would judge them.
func TestSeveralJobsStay(t *testing.T) {
	t.Parallel()
	const (
		batch  = "aws-sdk:batch:describeJobs"
		sees   = `"QueryLanguage": "JSONata", "Assign": {"seen": "{% [$states.result.Jobs.Status] %}"}, "Output": "{% $states.input %}", "Arguments": `
		invoke = `"QueryLanguage": "JSONata", "Output": "{% $merge([$states.input, {'look': $states.result.Payload}]) %}", ` +
			`"Arguments": {"FunctionName": "look", "Payload": {"ids": "{% $states.input.ids %}"}}`
	)
	for name, c := range map[string]struct{ call, arguments, choice, reason string }{
		"a list in brackets": {
			batch, sees + `{"Jobs": "{% [$ids] %}"}`, choiceOf("'FAILED' in $seen", "Failed", "'SUCCEEDED' in $seen", "Good"),
			`"Look" asks for [$ids], where $ids is a list, which JSONata passes as the list itself: write $ids`,
		},
		"a list that may have jobs or texts": {
			"lambda:invoke", invoke, choiceOf("'FAILED' in $states.input.look.jobs.status", "Failed",
				"$count($states.input.look.jobs.status[$ = 'SUCCEEDED']) = $count($states.input.look.jobs.status)", "Good"),
			`does not say which list in what "Look" returns has them`,
		},
		"as many as one of two lists": {
			"aws-sdk:ec2:describeImages", strings.Replace(sees, "Jobs.Status", "Images.State", 1) + `{"ImageIds": "{% $states.input.ids %}", "Owners": ["self"]}`,
			choiceOf("'failed' in $seen", "Failed", "$count($seen[$ = 'available']) = $count($states.input.ids)", "Good"),
			"cannot tell which argument names them: compare with the number of items in Images",
		},
		"as many as a function is asked for": {
			"lambda:invoke", invoke, choiceOf("$count($states.input.look.jobs[status = 'FAILED']) > 0", "Failed",
				"$count($states.input.look.jobs[status = 'SUCCEEDED']) = $count($states.input.ids)", "Good"),
			"fix cannot tell which argument names them",
		},
		"as another member says": {
			batch, sees + `{"Jobs": "{% $states.input.ids %}"}`, choiceOf("'FAILED' in $seen and $states.input.id = 'all'", "Failed",
				"$count($seen[$ = 'SUCCEEDED']) = $count($seen)", "Good"),
			`by data that "Look" does not give: $states.input.id`,
		},
		"a failure and a count": {
			batch, strings.Replace(sees, `"seen"`, `"n": "{% $exists($n) ? $n + 1 : 1 %}", "seen"`, 1) + `{"Jobs": ["1"]}`,
			choiceOf("'SUCCEEDED' in $seen", "Good", "'FAILED' in $seen and $n > 3", "Failed"), "by a count and by more",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, loops := apply(t, strings.NewReplacer("CALL", c.call, "ARGUMENTS", c.arguments, "CHOICE", c.choice).Replace(severalLoop), fix.Options{})
			require.Len(t, loops, 1)
			require.Contains(t, loops[0].Refused, c.reason)
		})
	}
}
