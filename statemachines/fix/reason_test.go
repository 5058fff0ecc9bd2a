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

// queryInJSONata is a loop in JSONata: the fields of the poll and of the Choice besides
// those that it needs, and rules in front of the others.
func queryInJSONata(poll, rules, choice string) string {
	return `{"QueryLanguage": "JSONata", "StartAt": "Start", "States": {
  "Start": {"Type": "Pass", "Output": {"id": "q"}, "Next": "Wait"},
  "Wait": {"Type": "Wait", "Seconds": 5, "Next": "Get"},
  "Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution",
    "Arguments": {"QueryExecutionId": "{% $states.context.Execution.Input.id %}"}` + poll + `, "Next": "Done?"},
  "Done?": {"Type": "Choice", "Choices": [` + rules + `
    {"Condition": "{% $states.input.QueryExecution.Status.State = 'SUCCEEDED' %}", "Next": "Report"},
    {"Condition": "{% $states.input.QueryExecution.Status.State = 'FAILED' %}", "Next": "Failed"}
  ], "Default": "Wait"` + choice + `},
  "Report": {"Type": "Succeed"},
  "Failed": {"Type": "Fail", "Error": "E"}}}`
}

// A rule that reads what the poll does not give keeps the loop, and one that reads what it
// gives does not, in whatever form.
func TestRulesOnOtherData(t *testing.T) {
	t.Parallel()
	const reason = `by data that "Get" does not give`
	path := func(poll, rule string) string { return addRule(machine(poll, "", "", ""), rule) }
	at := func(resultPath, rule string) string {
		return addRule(strings.ReplaceAll(machineWith(`, "ResultPath": "`+resultPath+`"`, "", "", ""), "$.QueryExecution", resultPath+".QueryExecution"), rule)
	}
	variables := func(poll, rule string) string {
		text := machineWith(`, "Assign": {"s.$": "$.QueryExecution.Status.State"}`+poll, "", "", "")
		return addRule(strings.ReplaceAll(text, "$.QueryExecution.Status.State\", \"StringEquals", "$s\", \"StringEquals"), rule)
	}
	jsonata := func(poll, condition string) string {
		return queryInJSONata(poll, `{"Condition": "{% `+condition+` %}", "Next": "Failed"},`, "")
	}
	moved := func(poll, member, condition string) string {
		return strings.ReplaceAll(jsonata(poll, condition), "$states.input.QueryExecution", "$states.input."+member+".QueryExecution")
	}
	mixed := func(poll, result, condition string) string {
		return strings.NewReplacer(`"Choices"`, `"QueryLanguage": "JSONata", "Choices"`, `"Variable": "$.QueryExecution.Status.State", "StringEquals": "SUCCEEDED"`, `"Condition": "{% `+result+` = 'SUCCEEDED' %}"`,
			`{"Variable": "$.QueryExecution.Status.State", "StringEquals": "FAILED", "Next"`, `{"Condition": "{% `+condition+` %}", "Next": "Failed"}, {"Condition": "{% `+result+` = 'FAILED' %}", "Next"`,
			`{"QueryExecutionId.$": "$.id"}`, `{"QueryExecutionId": "q"}`).Replace(machineWith(poll, "", "", ""))
	}
	const put, whole, assigned = "$states.input.q.QueryExecution.Status.State", "$states.input.QueryExecution.Status.State", "$s"
	for name, c := range map[string]struct {
		text  string
		other bool // it reads other data
	}{
		"a member in an And": {path("", `{"And": [{"Variable": "$.more", "IsPresent": true}, {"Variable": "$.q.QueryExecution.Status.State", "StringEquals": "CANCELLED"}], "Next": "Failed"}`), true},
		"a Not":              {path("", `{"Not": {"Variable": "$.more", "IsPresent": true}, "Next": "Failed"}`), true},
		"a path to compare with": {
			path("", `{"Variable": "$.q.QueryExecution.Status.State", "StringEqualsPath": "$.more", "Next": "Failed"}`), true,
		},
		"a path into the answer to compare with": {
			path("", `{"Variable": "$.q.QueryExecution.Status.State", "StringEqualsPath": "$.q.QueryExecution.Query", "Next": "Failed"}`), false,
		},
		"all data":                   {path("", `{"Variable": "$", "IsString": true, "Next": "Failed"}`), true},
		"a variable":                 {path("", `{"Variable": "$q.x", "IsPresent": true, "Next": "Failed"}`), true},
		"a variable of the poll":     {path(`, "Assign": {"x.$": "$.QueryExecution.Status"}`, `{"Variable": "$x.State", "StringEquals": "CANCELLED", "Next": "Failed"}`), false},
		"the context object":         {at("$.Execution", `{"Variable": "$$.Execution.Input.more", "IsPresent": true, "Next": "Failed"}`), true},
		"a poll without a result":    {variables(`, "ResultPath": null`, `{"Variable": "$.more", "IsPresent": true, "Next": "Failed"}`), true},
		"a poll that drops its data": {variables(`, "OutputPath": null`, `{"Variable": "$.more", "IsPresent": true, "Next": "Failed"}`), true},

		"JSONata on JSONPath: other data":       {mixed(`, "ResultPath": "$.q"`, put, `$states.input.more = 'x'`), true},
		"JSONata on JSONPath: the answer":       {mixed(`, "ResultPath": "$.q"`, put, put+` = 'CANCELLED'`), false},
		"JSONata on JSONPath: the whole answer": {mixed("", whole, whole+` = 'CANCELLED'`), false},
		"JSONata on JSONPath: it gives no data": {mixed(`, "ResultPath": null, "Assign": {"s.$": "$.QueryExecution.Status.State"}`, assigned, `$states.input.more = 'x'`), true},
		"JSONata: what the Wait reads, too": {
			strings.Replace(jsonata(`, "Output": "{% $merge([$states.input, $states.result]) %}"`, `$states.input.pause = 9`), `"Seconds": 5`, `"Seconds": "{% $states.input.pause %}"`, 1), true,
		},

		"JSONata: a literal":                  {queryInJSONata("", `{"Condition": false, "Next": "Failed"},`, ""), false},
		"JSONata: a function":                 {jsonata("", `$exists($states.input.QueryExecution.Status.AthenaError)`), false},
		"JSONata: a bound variable":           {jsonata("", `($s := $states.input.QueryExecution.Status.State; $s = 'CANCELLED')`), false},
		"JSONata: a bound variable, closer":   {jsonata("", `($s:=$states.input.QueryExecution.Status.State;$s='CANCELLED')`), false},
		"JSONata: a variable":                 {jsonata("", `$mode = 'fast'`), true},
		"JSONata: a variable beside others":   {jsonata(`, "Assign": {"s": "{% $states.result.QueryExecution.Status.State %}"}`, `$mode = 'fast'`), true},
		"JSONata: a variable of the poll":     {jsonata(`, "Assign": {"s": "{% $states.result.QueryExecution.Status.State %}"}`, `$s = 'CANCELLED'`), false},
		"JSONata: the input of the execution": {jsonata("", `$states.context.Execution.Input.QueryExecution = 'x'`), true},
		"JSONata: a member that stays":        {moved(`, "Output": {"id": "{% $states.input.id %}", "q": "{% $states.result %}"}`, "q", `$states.input.id = 'x'`), true},
		"JSONata: a member of the answer": {
			moved(`, "Output": {"id": "{% $states.input.id %}", "q": "{% $states.result %}"}`, "q", `$states.input.q.QueryExecution.Status.State = 'CANCELLED'`), false,
		},
		"JSONata: a member that is merged": {
			moved(`, "Output": "{% $merge([$states.input, {'q': $append($states.input.q, $states.result)}]) %}"`, "q", `$states.input.q.QueryExecution.Status.State = 'CANCELLED'`), false,
		},
		"JSONata: a member beside what is merged": {
			moved(`, "Output": "{% $merge([$states.input, {'q': $states.result, 'n': $states.input.more}]) %}"`, "q", `$states.input.more = 'x'`), true,
		},
		"JSONata: an input that is passed on": {
			strings.ReplaceAll(jsonata(`, "Assign": {"s": "{% $states.result.QueryExecution.Status.State %}"}, "Output": "{% $states.input %}"`, `$states.input.more = 'x'`),
				"$states.input.QueryExecution.Status.State", "$s"), true,
		},
	} {
		if !race.Takes(name, 12) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, loops := apply(t, c.text, fix.Options{Strategy: compile.Variables})
			require.Len(t, loops, 1)
			if c.other {
				require.Contains(t, loops[0].Refused, reason)
			} else {
				require.NotContains(t, loops[0].Refused, reason)
			}
		})
	}
}

// database is a loop of machine() on a database.
func database(text string) string {
	return strings.NewReplacer("athena:getQueryExecution", "rds:describeDBInstances", `{"QueryExecutionId.$": "$.id"}`, `{"DbInstanceIdentifier.$": "$.id"}`,
		"$.q.QueryExecution.Status.State", "$.q.DbInstances[0].DbInstanceStatus", "SUCCEEDED", "available", "FAILED", "failed").Replace(text)
}

// addRule puts a rule in front of the others.
func addRule(text, rule string) string {
	return strings.Replace(text, `"Choices": [`, `"Choices": [`+rule+",", 1)
}

// What a start means otherwise in a ".sync" Task keeps it, and what means the same does not.
func TestSyncStart(t *testing.T) {
	t.Parallel()
	const dropped = `, "ResultPath": null`
	plain := training(dropped, "")
	edit := func(text string, pairs ...string) string {
		for i := 0; i < len(pairs); i += 2 {
			require.Contains(t, text, pairs[i])
			text = strings.Replace(text, pairs[i], pairs[i+1], 1)
		}
		return text
	}
	container := strings.NewReplacer("$.Tasks[0].TaskArn", "$.started.Tasks[0].TaskArn", `"ResultPath": "$"`, `"ResultPath": "$.job"`, "$.Tasks[0].LastStatus", "$.job.Tasks[0].LastStatus").Replace(
		tasks(training(`, "ResultPath": "$.started", "Catch": [{"ErrorEquals": ["ECS.ServerException"], "Next": "Failed"}]`, "")))
	ecs := func(count string) string {
		return edit(tasks(training(`, "Catch": [{"ErrorEquals": ["ECS.ServerException"], "Next": "Failed"}]`, "")), `"TaskDefinition": "d"`, `"TaskDefinition": "d", `+count)
	}
	const note = "the Task ecs:runTask.sync tells of one ECS task alone"
	between := func(field string) string {
		text := training(`, "Output": "{% $states.input %}"`, `, "First": {"Type": "Wait", "Seconds": 30, "Next": "Wait"`+field+`}`)
		return inJSONata.Replace(edit(text, `"Next": "Wait"},`, `"Next": "First"},`))
	}
	bounded := func(text string) string {
		return edit(text, `, "Next": "Wait"}`, `, "Assign": {"n": 0}, "Next": "Wait"}`, `"Seconds": 60`, `"Seconds": 60, "Assign": {"n.$": "States.MathAdd($n, 1)"}`,
			`
    ], "Default"`, `, {"Variable": "$n", "NumericGreaterThanEquals": 50, "Next": "Late"}], "Default"`, `"Report": {`, `"Late": {"Type": "Fail", "Error": "Late"}, "Report": {`)
	}
	query := func(text string) string {
		return strings.NewReplacer("athena:getQueryExecution", "transcribe:getTranscriptionJob", "QueryExecutionId", "TranscriptionJobName",
			"QueryExecution.Status.State", "TranscriptionJob.TranscriptionJobStatus", "SUCCEEDED", "COMPLETED").Replace(text)
	}
	for name, c := range map[string]struct{ text, want string }{
		"a waiter":                  {database(machine("", "", "", "")), "Step Functions has no .sync Task for rds:DBInstanceAvailable"},
		"a job without such a Task": {query(machine("", "", "", "")), "Step Functions has no .sync Task for transcribe:StartTranscriptionJob"},
		"no start":                  {edit(training("", ""), `"Type": "Task", "Resource": "arn:aws-cn:states:::sagemaker:createTrainingJob",`+"\n"+`      "Parameters": {"TrainingJobName.$": "$.name", "RoleArn": "arn:aws:iam::123456789012:role/r"}`, `"Type": "Pass"`), "no Task beside the loop starts the job"},
		"a start in the loop":       {edit(plain, `"StartAt": "Train"`, `"StartAt": "Wait"`, `"Failed", "Next": "Failed"`, `"Failed", "Next": "Train"`), "the loop is entered in 2 ways"},
		"a Wait that sets":          {between(`, "Assign": {"x": 1}`), `"First" stands between the start of the job and its loop`},
		"a Wait that selects":       {between(`, "Output": {"name": "{% $states.input.name %}"}`), `"First" stands between the start of the job and its loop`},
		"a Wait that takes a part":  {edit(plain, `"Seconds": 60`, `"Seconds": 60, "InputPath": "$.in"`, `"$.name"}, "ResultPath": "$.job"`, `"$.name"}, "ResultPath": "$.job"`), `"Wait" selects a part of its data`},
		"a start that takes a part": {edit(training(dropped+`, "InputPath": "$.in"`, ""), `{"TrainingJobName.$": "$.name"}`, `{"TrainingJobName.$": "$.in.name"}`), ""},
		"a start that leads to itself": {
			training(dropped+`, "Catch": [{"ErrorEquals": ["States.ALL"], "ResultPath": null, "Next": "Train"}]`, ""),
			`the loop leads back to "Train"`,
		},
		"Credentials":                        {training(dropped+`, "Credentials": {"RoleArn": "arn:aws:iam::123456789012:role/r"}`, ""), `"Train" or "Get" has Credentials`},
		"HeartbeatSeconds":                   {training(dropped+`, "HeartbeatSeconds": 60`, ""), `"Train" has HeartbeatSeconds`},
		"a bound":                            {bounded(plain), ""},
		"a bound of a job by its id":         {bounded(execution(training(`, "ResultPath": "$.started"`, ""))), `"Late" needs the job's id when the time is over, which states:startExecution.sync:2 does not tell then`},
		"two containers":                     {ecs(`"Count": 2`), note},
		"some containers":                    {ecs(`"Count.$": "$.n"`), note},
		"one container":                      {ecs(`"Count": 1`), ""},
		"a list that a later state may read": {container, `from the answer of "Train", and the answer of a .sync Task has none`},
		"Input as text":                      {edit(execution(training(`, "ResultPath": "$.started"`, "")), `"StateMachineArn.$"`, `"Input": "{}", "StateMachineArn.$"`), `"Train" gives the Input as text`},
		"Input by a path":                    {edit(execution(training(`, "ResultPath": "$.started"`, "")), `"StateMachineArn.$"`, `"Input.$": "$.in", "StateMachineArn.$"`), `"Train" gives the Input as text`},
		"Input of the Task":                  {edit(execution(training(`, "ResultPath": "$.started", "ResultSelector": {"ExecutionArn.$": "$.ExecutionArn"}`, "")), "aws-sdk:sfn:startExecution", "states:startExecution", `"StateMachineArn.$"`, `"Input": {"a": 1}, "StateMachineArn.$"`), ""},
		"a time that a later state reads": {edit(execution(training(`, "ResultPath": "$.started"`, "")), "aws-sdk:sfn:startExecution", "states:startExecution",
			`"Report": {"Type": "Succeed"}`, `"Report": {"Type": "Pass", "InputPath": "$.started.StartDate", "End": true}`), `a later state may read StartDate from the answer of "Train"`},
		"an answer that the loop speaks of": {edit(training(`, "ResultPath": "$.started"`, ""), `"Type": "Choice"`, `"Comment": "no SdkHttpMetadata", "Type": "Choice"`), ""},
		"an answer that another branch reads": {`{"StartAt": "Both", "States": {"Both": {"Type": "Parallel", "End": true, "Branches": [` + training(`, "ResultPath": "$.started"`, "") +
			`, {"StartAt": "Log", "States": {"Log": {"Type": "Pass", "InputPath": "$.started.SdkHttpMetadata", "End": true}}}]}}}`, `a state reads SdkHttpMetadata of "Train"`},
		"a variable of itself": {inJSONata.Replace(training(`, "Output": "{% $states.input %}", "Assign": {"n": "{% $exists($n) ? $n + 1 : 0 %}"}`, "")), `"Train" sets the variable "n" from its own value`},
		"arguments of an expression": {edit(inJSONata.Replace(training(`, "Output": "{% $states.input %}"`, "")), `"Arguments": {"TrainingJobName": "{% $states.input.name %}", "RoleArn": "arn:aws:iam::123456789012:role/r"}`,
			`"Arguments": "{% {'TrainingJobName': $states.input.name, 'RoleArn': 'r'} %}"`), `"Train" computes its arguments by one expression`},
	} {
		if !race.Takes(name, 12) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			after, loops := apply(t, c.text, fix.Options{Strategy: compile.SyncTask, MaxWait: time.Hour})
			require.Len(t, loops, 1)
			if c.want == "" {
				require.Empty(t, loops[0].Refused)
				require.Contains(t, after, ".sync")
				return
			}
			require.Contains(t, loops[0].Refused, c.want)
		})
	}
}

// What a Catch makes of an error is written in JSONata, or keeps the loop where nobody can.
func TestCatchData(t *testing.T) {
	t.Parallel()
	assign := func(value string) string { return `"Assign": {"x.$": "` + value + `"}, ` }
	for name, c := range map[string]struct{ catcher, want, refused string }{
		"a member":                        {assign("$.Cause"), `"x": "{% $states.errorOutput.Cause %}"`, ""},
		"an item":                         {assign("$.a[0]"), `"x": "{% $states.errorOutput.a[0] %}"`, ""},
		"a path that calls":               {assign("$.a.length()"), "", "the path $.a.length() calls a function"},
		"a path to many":                  {assign("$.a[*].b"), `"x": "{% [$states.errorOutput.a.b] %}"`, ""},
		"a filter":                        {assign("$.a[?(@.b == 'x' && !(@.c in ['y']) || @.d != true)].e"), `"x": "{% [$states.errorOutput.a[((b = \"x\" and $not((c in [\"y\"]))) or $not(d = true))].e] %}"`, ""},
		"a filter of numbers and members": {assign("$.a[?(@.n > 1 && @.m)]"), `"x": "{% [$states.errorOutput.a[($type(n) = 'number' and n > 1 and $exists(m))]] %}"`, ""},
		"a filter by a number as a text":  {assign("$.a[?(@.n == '1')]"), "", "the path $.a[?(@.n == '1')] selects several values in a way"},
		"a filter by another path":        {assign("$.a[?(@.n == $.m)]"), "", "the path $.a[?(@.n == $.m)] selects several values in a way"},
		"some items":                      {assign("$.a[0:2]"), "", "the path $.a[0:2] selects several values in a way"},
		"a path to any depth":             {assign("$..Cause"), "", "the path $..Cause selects several values in a way"},
		"a list":                          {assign("States.Array($.Cause)"), `"x": "{% [$states.errorOutput.Cause] %}"`, ""},
		"a text":                          {assign("States.Format('a{}', $.Cause)"), `"x": "{% (\"a\" & $string($states.errorOutput.Cause)) %}"`, ""},
		"a text of a path":                {assign("States.Format($.Cause)"), "", "the template of States.Format($.Cause) cannot be read"},
		"a text with a backslash":         {assign(`States.Format('a\\'{}', $.Cause)`), "", "cannot be read"},
		"a text with too many gaps":       {assign("States.Format('{} {}', $.Cause)"), "", "cannot be read"},
		"a function that JSONata has not": {assign("States.StringSplit($.Cause, ',')"), "", "JSONata has no function for States.StringSplit"},
		"a literal":                       {`"Assign": {"x": "{% 1"}, `, "", "a text begins as an expression of JSONata does"},
		"the data before":                 {`"ResultPath": null, `, `"Output": "{% $getInput %}"`, ""},
		"an item of the data":             {`"ResultPath": "$.a[0]", `, "", "the ResultPath $.a[0] has an index"},
	} {
		if !race.Takes(name, 12) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := machine(`, "Catch": [{"ErrorEquals": ["Athena.InternalServerException"], `+c.catcher+`"Next": "Caught"}]`, "", "", `, "Caught": {"Type": "Fail", "Error": "C"}`)
			after, loops := apply(t, text, fix.Options{Strategy: compile.Variables})
			if c.refused != "" {
				require.Contains(t, loops[0].Refused, c.refused)
				return
			}
			require.Empty(t, loops[0].Refused)
			require.Contains(t, after, c.want)
		})
	}
}

// A loop that stays has its reason, and one beside it that can be replaced is.
func TestReasons(t *testing.T) {
	t.Parallel()
	plain := machine("", "", "", "")
	edit := func(text string, pairs ...string) string {
		for i := 0; i < len(pairs); i += 2 {
			require.Contains(t, text, pairs[i])
			text = strings.Replace(text, pairs[i], pairs[i+1], 1)
		}
		return text
	}
	// two has the failure in a Choice of its own.
	two := func(rule, choice string) string {
		return edit(plain, `,
      {"Variable": "$.q.QueryExecution.Status.State", "StringEquals": "FAILED", "Next": "Failed"}
    ], "Default": "Wait"`, `], "Default": "Bad?"`, `"Report":  {`,
			`"Bad?": {"Type": "Choice", "Choices": [{"Variable": "$.q.QueryExecution.Status.State", "StringEquals": "FAILED", "Next": "Failed"`+rule+`}], "Default": "Wait"`+choice+`}, "Report":  {`)
	}
	twoInJSONata := func(rule, choice string) string {
		return edit(queryInJSONata("", "", ""), `,
    {"Condition": "{% $states.input.QueryExecution.Status.State = 'FAILED' %}", "Next": "Failed"}
  ], "Default": "Wait"`, `], "Default": "Bad?"`, `"Report": {`,
			`"Bad?": {"Type": "Choice", "Choices": [{"Condition": "{% $states.input.QueryExecution.Status.State = 'FAILED' %}", "Next": "Failed"`+rule+`}], "Default": "Wait"`+choice+`}, "Report": {`)
	}
	const running = `{"Condition": "{% $states.input.QueryExecution.Status.State in ['QUEUED', 'RUNNING'] %}", "Next": "Wait"},`
	sets := `, "Assign": {"x": 1}`
	// byVariable looks at the status by a variable, and polls a fixed query.
	byVariable := func(poll string) string {
		text := machineWith(`, "Assign": {"s.$": "$.QueryExecution.Status.State"}`+poll, "", "", "")
		return strings.NewReplacer(`{"QueryExecutionId.$": "$.id"}`, `{"QueryExecutionId": "q"}`, `"$.QueryExecution.Status.State", "StringEquals"`, `"$s", "StringEquals"`).Replace(text)
	}
	table := strings.NewReplacer("athena:getQueryExecution", "dynamodb:describeTable", `{"QueryExecutionId.$": "$.id"}`, `{"TableName.$": "$.id"}`,
		"$.q.QueryExecution.Status.State", "$.q.Table.TableStatus", "SUCCEEDED", "ACTIVE", `"Next": "Report"`, `"Next": "Failed"`, "FAILED", "ARCHIVED",
		`"Type": "Pass", "Result": {"id": "q"}`, `"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:dynamodb:deleteTable", "Parameters": {"TableName.$": "$.id"}, "ResultPath": null`,
		`"ResultPath": "$.q"`, `"ResultPath": "$.q", "Catch": [{"ErrorEquals": ["DynamoDb.ResourceNotFoundException"], "ResultPath": null, "Next": "Report"}]`).Replace(plain)
	conversion := strings.NewReplacer("athena:getQueryExecution", "ec2:describeConversionTasks", `{"QueryExecutionId.$": "$.id"}`, `{"ConversionTaskIds.$": "States.Array($.id)"}`,
		"$.q.QueryExecution.Status.State", "$.q.ConversionTasks[0].State", "SUCCEEDED", "deleted", "FAILED", "cancelled").Replace(plain)
	space := strings.NewReplacer("athena:getQueryExecution", "repostspace:getSpace", `{"QueryExecutionId.$": "$.id"}`, `{"SpaceId.$": "$.id"}`,
		"$.q.QueryExecution.Status.State", "$.q.Status", "SUCCEEDED", "DELETED", "FAILED", "DELETE_FAILED",
		`"ResultPath": "$.q"`, `"ResultPath": "$.q", "Catch": [{"ErrorEquals": ["Repostspace.ResourceNotFoundException"], "ResultPath": null, "Next": "Report"}]`).Replace(plain)
	container := strings.NewReplacer("athena:getQueryExecution", "emrcontainers:describeJobRun", `{"QueryExecutionId.$": "$.id"}`, `{"Id.$": "$.id", "VirtualClusterId": "c"}`,
		"$.q.QueryExecution.Status.State", "$.q.JobRun.State", "SUCCEEDED", "COMPLETED").Replace(
		addRule(plain, `{"Variable": "$.q.JobRun.Other", "IsPresent": true, "Next": "Report"}`))
	loop := fix.Options{Strategy: compile.Loop}
	for name, c := range map[string]struct {
		text    string
		options fix.Options
		want    string // empty if it is replaced
	}{
		"a Wait that sets":                    {machine("", sets, "", ""), fix.Options{}, ""},
		"a Wait that selects":                 {edit(queryInJSONata("", "", ""), `"Seconds": 5`, `"Seconds": 5, "Output": {}`), fix.Options{}, `"Wait" changes data of the execution`},
		"a Wait until a time":                 {edit(queryInJSONata("", "", ""), `"Seconds": 5`, `"Timestamp": "{% $fromMillis($millis() + 30000) %}"`), fix.Options{}, `the loop begins with the Wait "Wait" until a time: let it wait for seconds`},
		"two Choices":                         {two("", ""), fix.Options{}, ""},
		"two Choices in JSONata":              {twoInJSONata("", ""), fix.Options{}, ""},
		"two Choices, one with an InputPath":  {edit(two("", `, "InputPath": "$.q"`), `"$.q.QueryExecution.Status.State", "StringEquals": "FAILED"`, `"$.QueryExecution.Status.State", "StringEquals": "FAILED"`), fix.Options{}, `"Bad?" selects a part of its data, and the loop has another Choice`},
		"two Choices, one with an OutputPath": {two("", `, "OutputPath": "$.q"`), fix.Options{}, `"Bad?" selects a part of its data, and the loop has another Choice`},
		"two Choices, one that passes null":   {two("", `, "OutputPath": null`), fix.Options{}, `"Bad?" selects a part of its data, and the loop has another Choice`},
		"two Choices, one with an Assign":     {two("", sets), fix.Options{}, ""},
		"a Choice that sets for the poll":     {edit(two("", `, "Assign": {"x": "q"}`), `{"QueryExecutionId.$": "$.id"}`, `{"QueryExecutionId.$": "$x"}`, `"Result": {"id": "q"}`, `"Assign": {"x": "q"}`), fix.Options{}, `"Bad?" sets $x where it polls on, and "Get" reads that`},
		"a Choice that sets for a state behind": {edit(two("", `, "Assign": {"x": 1}`), `"Type": "Fail", "Error": "E"`, `"Type": "Fail", "ErrorPath": "States.Format('{}', $x)"`,
			`"Type": "Pass", "Result": {"id": "q"}`, `"Type": "Pass", "Assign": {"x": 0}, "Result": {"id": "q"}`), fix.Options{}, `"Bad?" sets $x where it polls on, and "Failed" reads that`},
		"a Choice that sets for the Wait": {edit(two("", `, "Assign": {"x": 10}`), `"Seconds": 5`, `"SecondsPath": "$x"`,
			`"Type": "Pass", "Result": {"id": "q"}`, `"Type": "Pass", "Assign": {"x": 5}, "Result": {"id": "q"}`), fix.Options{}, `"Bad?" changes data of the execution`},
		"a Choice that counts, and sets on the way out": {two(`, "Assign": {"x": 1}`, `, "Assign": {"x": 1}`), fix.Options{}, `"Bad?" changes data of the execution`},
		"two Choices, a rule with an Assign":            {two(sets, ""), fix.Options{}, `"Bad?" changes data of the execution`},
		"two Choices, one with an Output":               {twoInJSONata("", `, "Output": {}`), fix.Options{}, `"Bad?" changes data of the execution`},
		"two Choices, and a rule has Output":            {twoInJSONata(`, "Output": {}`, ""), fix.Options{}, `"Bad?" changes data of the execution`},
		"a rule that sets on the way back": {
			queryInJSONata("", strings.Replace(running, `"Next"`, `"Assign": {"x": 1}, "Next"`, 1), ""), fix.Options{}, "",
		},
		"a rule that sets on the way out": {edit(plain, `"Next": "Report"}`, `"Next": "Report", "Assign": {"x": 1}}`), fix.Options{}, ""},
		"a Choice that sets on the way out": {
			strings.NewReplacer("= 'FAILED' %}\", \"Next\": \"Failed\"", "= 'CANCELLED' %}\", \"Next\": \"Report\"", `"Default": "Wait"`, `"Default": "Failed"`).Replace(queryInJSONata("", running, sets)), fix.Options{}, "",
		},
		"a success by Default, with Output": {
			strings.NewReplacer("= 'SUCCEEDED' %}\", \"Next\": \"Report\"", "= 'CANCELLED' %}\", \"Next\": \"Failed\"", `"Default": "Wait"`, `"Default": "Report"`).Replace(
				queryInJSONata("", running, `, "Output": {"done": "{% $states.input.QueryExecution.Query %}"}`)), fix.Options{}, "",
		},
		"rules that leave with different Output": {
			queryInJSONata("", `{"Condition": "{% $states.input.QueryExecution.Status.State = 'SUCCEEDED' %}", "Next": "Report", "Output": 1},`, ""),
			fix.Options{},
			`the rules of "Done?" leave for "Report" with different data`,
		},
		"rules that leave with different variables": {
			addRule(plain, `{"Variable": "$.q.QueryExecution.Status.State", "StringEquals": "SUCCEEDED", "Next": "Report", "Assign": {"x": 1}}`),
			fix.Options{},
			`the rules of "Done?" leave for "Report" with different data`,
		},
		"an Output that reads what is set": {
			queryInJSONata(`, "Assign": {"n": "{% $states.result.QueryExecution.Query %}"}, "Output": "{% $merge([$states.result, {'was': $n}]) %}"`, "", ""),
			fix.Options{},
			`the Output of "Get" reads the variable "n", which its Assign sets anew`,
		},
		"an Output beside what is set": {
			queryInJSONata(`, "Assign": {"n": "{% $states.result.QueryExecution.Query %}"}, "Output": "{% $states.result %}"`, "", ""), fix.Options{}, "",
		},
		"a poll without data": {strings.Replace(machine(`, "InputPath": null`, "", "", ""), `{"QueryExecutionId.$": "$.id"}`, `{"QueryExecutionId": "q"}`, 1), fix.Options{}, ""},
		"an entry that selects beside another": {
			strings.NewReplacer(`"Next": "Wait"},`, `"Next": "Which"},`, `"Seconds": 5`, `"Seconds": 5, "InputPath": "$.in"`, `"Report":  {`,
				`"Which": {"Type": "Choice", "Choices": [{"Variable": "$.now", "IsPresent": true, "Next": "Get"}], "Default": "Wait"}, "Report":  {`).Replace(plain),
			fix.Options{},
			`"Wait" selects a part of its data, and the loop begins elsewhere, too`,
		},
		"no Choice": {`{"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 5, "Next": "Get"}, "Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution",
			"Parameters": {"QueryExecutionId.$": "$.id"}, "Catch": [{"ErrorEquals": ["States.ALL"], "ResultPath": null, "Next": "Wait"}], "End": true}}}`, fix.Options{}, "no Choice of the loop looks at the status"},
		"no waiter": {strings.Replace(database(plain), `"available"`, `"gone"`, 1), fix.Options{}, "in a trial, no success of rds:DescribeDBInstances leaves the loop (DBInstanceAvailable, DBInstanceDeleted, StopDBInstance)"},
		"a success that fails": {
			strings.NewReplacer(`"available", "Next": "Report"`, `"available", "Next": "Failed"`, `"failed", "Next": "Failed"`, `"failed", "Next": "Report"`).Replace(database(plain)),
			fix.Options{},
			"the loop takes other statuses for a success than the waiters of rds:DescribeDBInstances in the catalogue (DBInstanceAvailable, DBInstanceDeleted, StopDBInstance)",
		},
		"a success that may poll on": {
			strings.NewReplacer(`{"Variable": "$.q.DbInstances[0].DbInstanceStatus", "StringEquals": "available", "Next"`,
				`{"And": [{"Variable": "$.q.DbInstances[0].DbInstanceStatus", "StringEquals": "available"}, {"Variable": "$.q.DbInstances[0].MultiAz", "BooleanEquals": true}], "Next"`,
				`"failed", "Next": "Failed"`, `"failed", "Next": "Report"`).Replace(database(addRule(plain, `{"Variable": "$.q.QueryExecution.Status.State", "StringEquals": "gone", "Next": "Failed"}`))),
			fix.Options{},
			"in a trial, no success of rds:DescribeDBInstances leaves the loop (DBInstanceAvailable, DBInstanceDeleted, StopDBInstance): jobpoller lint shows",
		},
		"no success, and a failure that breaks": {
			edit(queryInJSONata("", "", ""), `'SUCCEEDED'`, `'SUCCESS'`, `State = 'FAILED' %}`, `State = 'FAILED' and $error('x') %}`),
			fix.Options{},
			"no success of athena:StartQueryExecution leaves the loop: with SUCCEEDED it polls on. Compare the statuses",
		},
		"a nested member": {
			addRule(plain, `{"And": [{"Variable": "$.q.QueryExecution.Status.StateChangeReason", "IsPresent": true}, {"Variable": "$.q.QueryExecution.Status.StateChangeReason", "StringEquals": "fine"}], "Next": "Report"}`),
			fix.Options{},
			`a rule of "Done?" leads to "Report" by StateChangeReason`,
		},
		"a definition as large as one may be": {edit(plain, `"kept"`, `"`+strings.Repeat("x", 1<<20-len(plain)-100)+`"`), fix.Options{}, "the new definition is not valid: "},

		"the strategy loop for JSONata":      {queryInJSONata("", "", ""), loop, `"Get" is in JSONata, and the strategy loop is in JSONPath`},
		"the strategy loop for two Waits":    {edit(machine("", "", "", `, "More": {"Type": "Wait", "Seconds": 1, "Next": "Get"}`), `"Seconds": 5, "Next": "Get"`, `"Seconds": 5, "Next": "More"`), loop, "the loop begins with several Wait states"},
		"the strategy loop without results":  {byVariable(`, "ResultPath": null`), loop, `"Get" discards its result`},
		"the strategy loop for a part":       {byVariable(`, "ResultPath": "$.q", "OutputPath": "$.q"`), loop, ""},
		"the strategy loop for another part": {byVariable(`, "ResultPath": "$.q", "OutputPath": "$.id"`), loop, `"Get" selects data without its result`},
		"the strategy loop for other members": {
			strings.Replace(byVariable(`, "ResultPath": "$.q", "ResultSelector": {"a.$": "$.QueryExecution.Statistics", "b.$": "$.QueryExecution.ResultConfiguration.EncryptionConfiguration.KmsKey", "c.$": "$.QueryExecution.*", "d.$": "$..QueryExecution", "s.$": "States.Format('{}', $.QueryExecution.Status.State)"}`),
				`{"s.$": "$.QueryExecution.Status.State"}`, `{"s.$": "$.s"}`, 1),
			loop, `the ResultSelector of "Get" drops QueryExecution.Status.State`,
		},
		"the strategy loop for a list":                     {database(plain), loop, "the strategy loop cannot wait for rds:DBInstanceAvailable"},
		"a success that is an error":                       {space, fix.Options{}, "repostspace:SpaceDeleted succeeds by an error"},
		"the strategy loop for a success that is an error": {space, loop, "repostspace:SpaceDeleted succeeds by an error"},
		"a member that no answer has":                      {container, fix.Options{}, ""},
		"a job of which nobody knows an answer":            {conversion, fix.Options{}, "no answers can be made up for ec2:ConversionTaskDeleted"},
		"a table that is deleted":                          {table, fix.Options{}, "dynamodb:TableNotExists succeeds by an error"},
		"a Catch that lint finds fault with":               {machine(`, "Catch": [{"ErrorEquals": ["States.ALL"], "ResultPath": null, "Next": "Report"}]`, "", "", ""), fix.Options{}, "lint finds hidden-failure in the new loop"},
		"an InputPath of a template's parameter":           {strings.Replace(plain, `{"Type": "Succeed"}`, `{"Type": "Pass", "InputPath": "${Path}", "End": true}`, 1), fix.Options{}, "the change cannot be tried: "},
		"a fault beside what is chosen":                    {machine(`, "Catch": [{"ErrorEquals": ["States.ALL"], "ResultPath": null, "Next": "Report"}]`, "", "", ""), fix.Options{MaxWait: 48 * time.Hour}, "lead to a Fail state (the longest delay is 66 s, not 30 s"},
		"a max wait that no execution has":                 {plain, fix.Options{MaxWait: 2 * 365 * 24 * time.Hour}, "it cannot be compiled: "},
		"polls that fill the history":                      {plain, fix.Options{Strategy: compile.Variables, MaxDelay: time.Second, MaxWait: 48 * time.Hour}, "the strategy variables cannot wait for athena:StartQueryExecution: it can take"},
	} {
		if !race.Takes(name, 12) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, loops := apply(t, c.text, c.options)
			require.Len(t, loops, 1)
			require.NotContains(t, loops[0].Refused, "()", "nothing was chosen")
			if c.want == "" {
				require.Empty(t, loops[0].Refused)
			} else {
				require.Contains(t, loops[0].Refused, c.want)
			}
		})
	}
}
