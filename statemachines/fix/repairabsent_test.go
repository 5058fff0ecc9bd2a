package fix_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
	"github.com/jobpoller/jobpoller/tests/race"
)

// queryPath and queryExpression read the answer about a query with FIELDS, and fail by ENDING.
const (
	queryPath = `{"StartAt": "Start", "TimeoutSeconds": 7200, "States": {
  "Start": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:startQueryExecution", "Parameters": {"QueryString": "SELECT 1"}, "ResultPath": "$.s", "Next": "Pause"},
  "Pause": {"Type": "Wait", "Seconds": 30, "Next": "Look"},
  "Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId.$": "$.s.QueryExecutionId"}, FIELDS, "ResultPath": "$.r", "Next": "Done?"},
  "Done?": {"Type": "Choice", "Choices": [
    {"Variable": "$.r.MEMBER", "StringEquals": "SUCCEEDED", "Next": "Good"},
    {"Or": [{"Variable": "$.r.MEMBER", "StringEquals": "FAILED"}, {"Variable": "$.r.MEMBER", "StringEquals": "CANCELLED"}], "Next": "Tell"}
  ], "Default": "Pause"},
  "Good": {"Type": "Succeed"},
  "Tell": {"Type": "Task", "Resource": "arn:aws:states:::sns:publish", "Parameters": {"TopicArn": "arn:aws:sns:us-east-1:123456789012:ops", MESSAGE}, "ResultPath": null, "Next": "Bad"},
  "Bad": {"Type": "Fail", ENDING}
}}`
	queryExpression = `{"QueryLanguage": "JSONata", "StartAt": "Start", "TimeoutSeconds": 7200, "States": {
  "Start": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:startQueryExecution", "Arguments": {"QueryString": "SELECT 1"}, "Assign": {"id": "{% $states.result.QueryExecutionId %}"}, "Next": "Pause"},
  "Pause": {"Type": "Wait", "Seconds": 30, "Next": "Look"},
  "Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Arguments": {"QueryExecutionId": "{% $id %}"},
    "Output": {"state": "{% $states.result.QueryExecution.Status.State %}", FIELDS}, "Next": "Done?"},
  "Done?": {"Type": "Choice", "Choices": [
    {"Condition": "{% $states.input.state = 'SUCCEEDED' %}", "Next": "Good"},
    {"Condition": "{% $states.input.state in ['FAILED', 'CANCELLED'] %}", "Next": "Bad"}
  ], "Default": "Pause"},
  "Good": {"Type": "Succeed"},
  "Bad": {"Type": "Fail", ENDING}
}}`
	crawlerTwice = `{"StartAt": "Start", "TimeoutSeconds": 7200, "States": {
  "Start": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:startCrawler", "Parameters": {"Name": "orders"}, "ResultPath": null, "Next": "Pause"},
  "Pause": {"Type": "Wait", "Seconds": 60, "Next": "Look"},
  "Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:getCrawler", "Parameters": {"Name": "orders"}, "ResultPath": "$.c", "Next": "Done?"},
  "Done?": {"Type": "Choice", "Choices": [
    {"And": [{"Variable": "$.c.Crawler.State", "StringEquals": "READY"}, {"Variable": "$.c.Crawler.LastCrawl.Status", "StringEquals": "SUCCEEDED"}], "Next": "Load"},
    {"Variable": "$.c.Crawler.LastCrawl.Status", "StringEquals": "FAILED", "Next": "Broken"}
  ], "Default": "Pause"},
  "Load": {"Type": "Pass", "End": true},
  "Broken": {"Type": "Fail", "Error": "CrawlFailed"}
}}`
	crawlerSelected = `{"StartAt": "Start", "TimeoutSeconds": 7200, "States": {
  "Start": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:startCrawler", "Parameters": {"Name": "orders"}, "ResultPath": null, "Next": "Pause"},
  "Pause": {"Type": "Wait", "Seconds": 60, "Next": "Look"},
  "Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:getCrawler", "Parameters": {"Name": "orders"},
    "ResultSelector": {"State.$": "$.Crawler.State", "Last.$": "$.Crawler.LastCrawl"}, "ResultPath": "$.c", "Next": "Done?"},
  "Done?": {"Type": "Choice", "Choices": [
    {"And": [{"Variable": "$.c.State", "StringEquals": "READY"}, {"Variable": "$.c.Last.Status", "StringEquals": "SUCCEEDED"}], "Next": "Load"},
    {"And": [{"Variable": "$.c.State", "StringEquals": "READY"}, {"Variable": "$.c.Last.Status", "StringEquals": "FAILED"}], "Next": "Broken"}
  ], "Default": "Pause"},
  "Load": {"Type": "Succeed"},
  "Broken": {"Type": "Fail", "Error": "CrawlFailed"}
}}`
	taskOfContainers = `{"StartAt": "Start", "TimeoutSeconds": 7200, "States": {
  "Start": {"Type": "Task", "Resource": "arn:aws:states:::ecs:runTask", "Parameters": {"Cluster": "c", "TaskDefinition": "t"},
    "ResultSelector": {"arn.$": "$.Tasks[0].TaskArn"}, "Next": "Pause"},
  "Pause": {"Type": "Wait", "Seconds": 20, "Next": "Look"},
  "Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:ecs:describeTasks", "Parameters": {"Cluster": "c", "Tasks.$": "States.Array($.arn)"},
    "ResultPath": "$.d", "Retry": [{"ErrorEquals": ["States.ALL"]}], "Next": "Done?"},
  "Done?": {"Type": "Choice", "Choices": [
    {"And": [{"Variable": "$.d.Tasks[0].LastStatus", "StringEquals": "STOPPED"}, {"Variable": "$.d.Tasks[0].Containers[0].ExitCode", "NumericEquals": 0}], "Next": "Good"},
    {"Variable": "$.d.Tasks[0].LastStatus", "StringEquals": "STOPPED", "Next": "Bad"}], "Default": "Pause"},
  "Good": {"Type": "Succeed"},
  "Bad": {"Type": "Fail", "Error": "TaskFailed", "CausePath": "$.d.Tasks[0].StoppedReason"}
}}`
)

func TestRepairAbsentMembers(t *testing.T) {
	t.Parallel()
	const (
		reason   = `$.QueryExecution.Status.StateChangeReason`
		failed   = `"Error": "QueryFailed"`
		selector = `"ResultSelector": {"state.$": "$.QueryExecution.Status.State", `
	)
	path := func(fields, state, message, fail string) string {
		return strings.NewReplacer("FIELDS", fields, "MEMBER", state, "MESSAGE", message, "ENDING", fail).Replace(queryPath)
	}
	expression := func(fields, fail string) string {
		return strings.NewReplacer("FIELDS", fields, "ENDING", fail).Replace(queryExpression)
	}
	// tell makes a call with a member that may be absent, in front of the Fail state.
	tell := func(resource, arguments string) string {
		text := expression(`"status": "{% $states.result.QueryExecution.Status %}"`, failed)
		return strings.TrimSuffix(strings.Replace(text, `"Next": "Bad"}`, `"Next": "Tell"}`, 1), "\n}}") + `,
  "Tell": {"Type": "Task", "Resource": "arn:aws:states:::` + resource + `", "Arguments": {` + arguments + `}, "Next": "Bad"}
}}`
	}
	const why = `"{% $states.input.status.StateChangeReason %}"`
	for name, c := range map[string]struct {
		text  string
		class fix.Class
		about string   // a part of Repair.About or Repair.Reason
		has   []string // parts of the new text
	}{
		"an expression gives null": {
			text:  expression(`"why": "{% $states.result.QueryExecution.Status.StateChangeReason %}"`, failed),
			class: fix.Sure, about: "an answer without QueryExecution.Status.StateChangeReason: fails States.QueryEvaluationError -> succeeds",
			has: []string{`"{% $exists($states.result.QueryExecution.Status.StateChangeReason) ? $states.result.QueryExecution.Status.StateChangeReason : null %}"`},
		},
		"an expression gives a text where null would break": {
			text:  expression(`"why": "{% $states.result.QueryExecution.Status.StateChangeReason %}"`, failed+`, "Cause": "{% $states.input.why %}"`),
			class: fix.Sure, has: []string{`"why": "{% '' & $states.result.QueryExecution.Status.StateChangeReason %}"`},
		},
		"an expression that computes": {
			text:  expression(`"why": "{% $uppercase($states.result.QueryExecution.Status.StateChangeReason) %}"`, failed),
			class: fix.Sure,
			has:   []string{`"{% ($value := $uppercase($states.result.QueryExecution.Status.StateChangeReason); $exists($value) ? $value : null) %}"`},
		},
		"a message that a call needs": {
			text:  tell("sns:publish", `"TopicArn": "arn:aws:sns:us-east-1:123456789012:ops", "Message": `+why),
			class: fix.Offered, about: "; Message has all of $states.input then",
			has: []string{`"{% $exists($states.input.status.StateChangeReason) ? $states.input.status.StateChangeReason : $string($states.input) %}"`},
		},
		"a message that is computed": {
			text:  tell("sns:publish", `"TopicArn": "arn:aws:sns:us-east-1:123456789012:ops", "Message": "{% $uppercase($states.input.status.StateChangeReason) %}"`),
			class: fix.Refused, about: "sns:publish needs Message: put a Choice in front",
		},
		"a message and a subject": {
			text:  tell("sns:publish", `"TopicArn": "arn:aws:sns:us-east-1:123456789012:ops", "Message": `+why+`, "Subject": `+why),
			class: fix.Offered, has: []string{`: $string($states.input) %}"`, `"Subject": "{% $exists($states.input.status.StateChangeReason) ? $states.input.status.StateChangeReason : null %}"`},
		},
		"the body of a message": {
			text:  tell("sqs:sendMessage", `"QueueUrl": "https://sqs.us-east-1.amazonaws.com/123456789012/ops", "MessageBody": `+why),
			class: fix.Offered, about: "; MessageBody has all of $states.input then",
		},
		"a message to sign": {
			text:  tell("aws-sdk:kms:sign", `"KeyId": "k", "SigningAlgorithm": "ECDSA_SHA_256", "Message": `+why),
			class: fix.Refused, about: "kms:sign needs Message: ",
		},
		"all that a function gets": {
			text: strings.Replace(tell("FUNCTION", "ARGUMENTS"), `"arn:aws:states:::FUNCTION", "Arguments": {ARGUMENTS}`,
				`"arn:aws:lambda:us-east-1:123456789012:function:tell", "Arguments": "{% $states.input.status.AthenaError %}"`, 1),
			class: fix.Sure, has: []string{`"Arguments": "{% $exists($states.input.status.AthenaError) ? $states.input.status.AthenaError : null %}"`},
		},
		"all that a service gets": {
			text: strings.Replace(tell("sns:publish", "ARGUMENTS"), `{ARGUMENTS}`, `"{% $states.input.status.AthenaError %}"`, 1), class: fix.Refused,
		},
		"a subject that a call does not need": {
			text:  tell("sns:publish", `"TopicArn": "arn:aws:sns:us-east-1:123456789012:ops", "Message": "m", "Subject": `+why),
			class: fix.Sure, has: []string{"StateChangeReason : null"},
		},
		"a text that a call needs": {
			text:  tell("aws-sdk:comprehend:detectKeyPhrases", `"LanguageCode": "en", "Text": `+why),
			class: fix.Refused, about: `comprehend:detectKeyPhrases needs Text: put a Choice in front of "Tell" that leads an answer without the member to your failure`,
		},
		"an attribute of an item": {
			text:  tell("dynamodb:putItem", `"TableName": "t", "Item": {"id": {"S": "a"}, "why": {"S": `+why+`}}`),
			class: fix.Offered, about: "; Item.why.S is an empty text then", has: []string{`"{% '' & $states.input.status.StateChangeReason %}"`},
		},
		"a number of an item": {
			text:  tell("dynamodb:putItem", `"TableName": "t", "Item": {"id": {"S": "a"}, "why": {"N": `+why+`}}`),
			class: fix.Refused, about: "dynamodb:putItem needs Item.why.N: ",
		},
		"all members of a state at once": {
			text: expression(`"why": "{% $states.result.QueryExecution.Status.StateChangeReason %}", `+
				`"end": "{% $states.result.QueryExecution.Status.CompletionDateTime %}"`, failed),
			class: fix.Sure, has: []string{"StateChangeReason : null", "CompletionDateTime : null"},
		},
		"the object of a selected member": {
			text:  path(selector+`"reason.$": "`+reason+`"}`, "state", `"Message.$": "$.r.reason"`, failed),
			class: fix.Offered, about: "; $.r.reason becomes $.r.status.StateChangeReason",
			has: []string{
				`"status.$": "States.JsonMerge(States.StringToJson('{\"StateChangeReason\":\"no reason\"}'), $.QueryExecution.Status, false)"`,
				`"Message.$": "$.r.status.StateChangeReason"`,
			},
		},
		"two selected members of an object": {
			text: path(selector+`"reason.$": "`+reason+`", "end.$": "$.QueryExecution.Status.CompletionDateTime"}`, "state",
				`"Message.$": "States.Format('{} {}', $.r.reason, $.r.end)"`, failed),
			class: fix.Offered,
			has: []string{
				`\"CompletionDateTime\":\"\"`, `\"StateChangeReason\":\"\"`,
				`States.Format('{} {}', $.r.status.StateChangeReason, $.r.status.CompletionDateTime)`,
			},
		},
		"the data as a whole goes on": {
			text:  path(selector+`"reason.$": "`+reason+`"}`, "state", `"Message.$": "States.JsonToString($.r)"`, failed),
			class: fix.Refused, about: "the call was",
		},
		"the Cause of a Fail has all": {
			text:  path(`"TimeoutSeconds": 60`, "QueryExecution.Status.State", `"Message": "m"`, failed+`, "CausePath": "$.r.QueryExecution.Status.StateChangeReason"`),
			class: fix.Offered, about: "; CausePath has all of $.r.QueryExecution.Status",
			has: []string{`"CausePath": "States.JsonToString($.r.QueryExecution.Status)"`},
		},
		"each comparison of a Choice asks first": {
			text: crawlerTwice, class: fix.Sure, about: "an answer without Crawler.LastCrawl.Status, Crawler.LastCrawl: fails States.Runtime ->",
			has: []string{
				`"READY"}, {"Variable": "$.c.Crawler.LastCrawl.Status", "IsPresent": true}, {"Variable": "$.c.Crawler.LastCrawl.Status", "StringEquals": "SUCCEEDED"}], "Next": "Load"}`,
				`{"And": [{"Variable": "$.c.Crawler.LastCrawl.Status", "IsPresent": true}, {"Variable": "$.c.Crawler.LastCrawl.Status", "StringEquals": "FAILED"}], "Next": "Broken"}`,
			},
		},
		"an object that is not there before a first job": {
			text: crawlerSelected, class: fix.Offered, about: "; $.c.Last becomes $.c.crawler.LastCrawl",
			has: []string{
				`"crawler.$": "States.JsonMerge(States.StringToJson('{\"LastCrawl\":{\"Status\":\"\"}}'), $.Crawler, false)"`,
				`{"Variable": "$.c.crawler.LastCrawl.Status", "StringEquals": "FAILED"`,
			},
		},
		"a condition asks first": {
			text: strings.Replace(strings.NewReplacer(`$states.input.state in ['FAILED', 'CANCELLED']`, `$states.input.state in ['FAILED', 'CANCELLED'] and false`).Replace(expression(`"all": "{% $states.result %}"`, failed)), `"Bad"}
  ]`, `"Bad"}, {"Condition": "{% $states.input.all.QueryExecution.Status.AthenaError.ErrorCategory > 2 %}", "Next": "Bad"}
  ]`, 1),
			class: fix.Sure,
			has:   []string{`{% $exists($states.input.all.QueryExecution.Status.AthenaError.ErrorCategory) and $states.input.all.QueryExecution.Status.AthenaError.ErrorCategory > 2 %}`},
		},
		"a condition on an item that is picked by its name": {
			text: strings.NewReplacer("$states.input.state in ['FAILED', 'CANCELLED']", "$states.input.state in ['FAILED', 'CANCELLED'] and false", "athena:startQueryExecution", "ecs:runTask",
				`{"QueryString": "SELECT 1"}`, `{"Cluster": "c", "TaskDefinition": "t"}`, "$states.result.QueryExecutionId", "$states.result.Tasks[0].TaskArn", "athena:getQueryExecution", "ecs:describeTasks",
				`"QueryExecutionId": "{% $id %}"`, `"Cluster": "c", "Tasks": "{% [$id] %}"`, "QueryExecution.Status.State", "Tasks[0].LastStatus", "SUCCEEDED", "STOPPED",
				`"Choices": [`, `"Choices": [{"Condition": "{% $states.input.all.Tasks[0].Containers[Name = 'app'].ExitCode > 0 %}", "Next": "Bad"},`).Replace(expression(`"all": "{% $states.result %}"`, failed)),
			class: fix.Refused, about: "only you know what to use where the member is not there",
		},
		"a condition on a member of an object": {
			text: strings.NewReplacer(`$states.input.state in ['FAILED', 'CANCELLED']`, `$states.input.state in ['FAILED', 'CANCELLED'] and false`, `"Bad"}
  ]`, `"Bad"}, {"Condition": "{% $states.input.all.QueryExecution.Status.AthenaError.(ErrorCategory > 2) %}", "Next": "Bad"}
  ]`).Replace(expression(`"all": "{% $states.result %}"`, failed)),
			class: fix.Sure, has: []string{`{% $exists($states.input.all.QueryExecution.Status.AthenaError) and $states.input.all.QueryExecution.Status.AthenaError.(ErrorCategory > 2) %}`},
		},
		"a variable that a rule sets": {
			text: strings.Replace(path(`"TimeoutSeconds": 60`, "QueryExecution.Status.State", `"Message": "m"`, failed), `"Next": "Tell"}`,
				`"Assign": {"why.$": "$.r.QueryExecution.Status.StateChangeReason"}, "Next": "Tell"}`, 1),
			class: fix.Refused, about: "only you know what to use where the member is not there",
		},
		"a member that two states read": {
			text: path(`"TimeoutSeconds": 60`, "QueryExecution.Status.State", `"Message.$": "`+strings.Replace(reason, "$", "$.r", 1)+`"`,
				failed+`, "CausePath": "`+strings.Replace(reason, "$", "$.r", 1)+`"`),
			class: fix.Offered, has: []string{`"Message.$": "States.JsonToString($.r.QueryExecution.Status)"`, `"CausePath": "States.JsonToString($.r.QueryExecution.Status)"`},
		},
		"a member inside of arguments": {
			text: path(`"TimeoutSeconds": 60`, "QueryExecution.Status.State",
				`"Message": "m", "MessageAttributes": {"why": {"DataType": "String", "StringValue.$": "$.r.QueryExecution.Status.StateChangeReason"}}`, failed),
			class: fix.Offered, about: "; StringValue has all of $.r.QueryExecution.Status",
			has: []string{`"StringValue.$": "States.JsonToString($.r.QueryExecution.Status)"`},
		},
		"the other side of a comparison": {
			text: strings.Replace(crawlerTwice, `{"Variable": "$.c.Crawler.LastCrawl.Status", "StringEquals": "FAILED"`,
				`{"Variable": "$.c.Crawler.Name", "StringEqualsPath": "$.c.Crawler.LastCrawl.Status"`, 1),
			class: fix.Sure,
			has:   []string{`{"And": [{"Variable": "$.c.Crawler.LastCrawl.Status", "IsPresent": true}, {"Variable": "$.c.Crawler.Name", "StringEqualsPath": "$.c.Crawler.LastCrawl.Status"}]`},
		},
		"the exit code of a container that never started": {
			text: taskOfContainers, class: fix.Sure, about: "fails States.Runtime -> does not fail by that any more; if the answer lacks another member, too, it still fails States.Runtime",
			has: []string{`{"Variable": "$.d.Tasks[0].Containers[0].ExitCode", "IsPresent": true}, {"Variable": "$.d.Tasks[0].Containers[0].ExitCode", "NumericEquals": 0}`},
		},
		"a Pass that selects": {
			text: strings.Replace(path(`"TimeoutSeconds": 60`, "QueryExecution.Status.State", `"Message": "m"`, failed),
				`"Good": {"Type": "Succeed"}`, `"Good": {"Type": "Pass", "Parameters": {"why.$": "$.r.QueryExecution.Status.StateChangeReason"}, "End": true}`, 1),
			class: fix.Offered, about: "; $.why becomes $.status.StateChangeReason",
			has: []string{`"status.$": "States.JsonMerge(`},
		},
		"a selected text with the member": {
			text:  path(selector+`"reason.$": "States.Format('{}', `+reason+`)"}`, "state", `"Message.$": "$.r.reason"`, failed),
			class: fix.Refused, about: "only you know what to use where the member is not there",
		},
		"a member that is selected further in": {
			text:  path(selector+`"why": {"reason.$": "`+reason+`"}}`, "state", `"Message.$": "$.r.why.reason"`, failed),
			class: fix.Refused, about: "only you know what to use where the member is not there",
		},
		"a member that nothing gets": {
			text: strings.NewReplacer("$.r.state", "$state", `"ResultPath": "$.r"`, `"ResultPath": null, "Assign": {"state.$": "$.state"}`).Replace(
				path(selector+`"reason.$": "`+reason+`"}`, "state", `"Message": "m"`, failed)),
			class: fix.Refused, about: "only you know what to use where the member is not there",
		},
		"a member in brackets": {
			text:  path(`"TimeoutSeconds": 60`, "QueryExecution.Status.State", `"Message": "m"`, failed+`, "CausePath": "$.r.QueryExecution.Status['StateChangeReason']"`),
			class: fix.Refused, about: "only you know what to use where the member is not there",
		},
		"a path that selects the data": {
			text:  path(`"OutputPath": "$.r.QueryExecution.Status.StateChangeReason"`, "state", `"Message": "m"`, failed),
			class: fix.Refused, about: "only you know what to use where the member is not there",
		},
	} {
		if !race.Takes(name, 12) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := repairOf(t, c.text, typecheck.AbsentMember, 0)
			require.Equal(t, c.class, r.Class, "%s", r.Reason)
			require.Contains(t, r.About+r.Reason, c.about)
			for _, part := range c.has {
				require.Contains(t, string(r.After), part)
			}
		})
	}
}

// A loop keeps the Fail state that its failures lead to, and one that breaks gets nowhere.
func TestStateThatTheNewLoopLeavesOver(t *testing.T) {
	t.Parallel()
	guarded := strings.Replace(taskOfContainers, `{"Variable": "$.d.Tasks[0].Containers[0].ExitCode", "NumericEquals": 0}`,
		`{"Variable": "$.d.Tasks[0].Containers[0].ExitCode", "IsPresent": true}, {"Variable": "$.d.Tasks[0].Containers[0].ExitCode", "NumericEquals": 0}`, 1)
	breaking := strings.NewReplacer("WAIT", `"Seconds": 30`, `"Next": "Good"},
`, `"Next": "Good"}, {"Variable": "$.r.QueryExecution.Status.State", "StringMatches": "*U*NG", "Next": "Pause"}, {"Variable": "$.r.QueryExecution.Status.State", "StringEquals": "QUEUED", "Next": "Pause"},
    {"Variable": "$.r.Lost", "StringEquals": "no", "Next": "Tell"},
`).Replace(query)
	late := strings.NewReplacer("WAIT", `"Seconds": 30`, `"StartAt"`, `"TimeoutSeconds": 3600, "StartAt"`, `"StringEquals": "FAILED"`, `"StringEquals": "LOST"`, `"StringEquals": "CANCELLED"`, `"StringEquals": "GONE"`).Replace(query)
	for text, reason := range map[string]string{
		late: `nothing leads to "Tell" any more: the old loop leads no failure of athena:StartQueryExecution there, and polls on with FAILED, CANCELLED: repair the loop first, without --replace`,
		strings.Replace(taskOfContainers, `"StringEquals": "STOPPED", "Next": "Bad"`, `"StringEquals": "LOST", "Next": "Bad"`, 1): `nothing leads to "Bad" any more: the old loop leads no failure of ecs:RunTask there, and polls on with STOPPED-failure: repair the loop first, without --replace`,
		guarded:  "",
		breaking: `nothing leads to "Tell" any more, and the old loop breaks with FAILED, CANCELLED: repair the loop first, without --replace`,
	} {
		_, loops := apply(t, text, fix.Options{Strategy: compile.Variables})
		require.Equal(t, reason, loops[0].Refused)
	}
}

// A loop without a pause is full before its job ends. The reason said that it polls on.
func TestLoopThatTakesNoTime(t *testing.T) {
	t.Parallel()
	for _, express := range []bool{false, true} {
		_, loops := apply(t, strings.Replace(query, "WAIT", `"Seconds": 0`, 1), fix.Options{Strategy: compile.Variables, Express: express})
		require.Equal(t, "no success of athena:StartQueryExecution leaves the loop: "+
			"with SUCCEEDED it fails with a full history after 0s, before the job ends: wait longer between polls", loops[0].Refused)
	}
}

// Only the user knows whether a part of the pages is enough. A rule for them was made without
// asking.
func TestRepairOfAPartialResult(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer(`"StartAt"`, `"TimeoutSeconds": 3600, "StartAt"`, "WAIT", `"Seconds": 30`, "athena:startQueryExecution", "textract:startDocumentTextDetection",
		`{"QueryString": "SELECT 1"}`, `{"DocumentLocation": {"S3Object": {"Bucket": "b", "Name": "n"}}}`, "athena:getQueryExecution", "textract:getDocumentTextDetection",
		"QueryExecutionId", "JobId", "$.r.QueryExecution.Status.State", "$.r.JobStatus").Replace(query)
	r := repairOf(t, text, lint.StatusPollsOn, 0)
	require.Equal(t, fix.Offered, r.Class, "%s", r.Reason)
	require.Contains(t, r.About, "status PARTIAL_SUCCESS: polls on until TimeoutSeconds -> ")
	require.Contains(t, r.About, "; only you know whether a part is enough: if it is, lead it where a success goes")
}

func TestRepairsOfWords(t *testing.T) {
	t.Parallel()
	export := strings.NewReplacer("FAILED\", \"Next\": \"Tell", "NOTHING\", \"Next\": \"Tell", "SUCCEEDED", "SUCCESS", `"StartAt"`, `"TimeoutSeconds": 3600, "StartAt"`).Replace(strings.Replace(query, "WAIT", `"Seconds": 30`, 1))
	r := repairOf(t, export, typecheck.EnumValue, 0) // the repair of status-polls-on is the same
	require.Equal(t, fix.Sure, r.Class, "%s", r.Reason)
	require.Contains(t, string(r.After), `"StringEquals": "SUCCEEDED", "Next": "Good"`, "no status begins like the word but the one that no rule has")

	contains := strings.Replace(crawlerExpression, "$states.input.Crawler.State in ['RUNNING', 'STOPPING']", "$contains($states.input.Crawler.State, 'RUNNING')", 1)
	r = repairOf(t, contains, lint.StatusUnhandled, 0)
	require.Equal(t, fix.Sure, r.Class, "%s", r.Reason)
	require.Contains(t, string(r.After), `{"Condition": "{% $states.input.Crawler.State = 'STOPPING' %}", "Next": "Pause"}`)
	r = repairOf(t, contains, lint.StatusUnclear, 0)
	require.Equal(t, fix.Sure, r.Class, "%s", r.Reason)
}

// A loop around the loop that counts its tries has another count, and shorter. Its rounds share
// the history, so that a bound is shorter than it need be, which only the user can weigh.
func TestRepairBoundOfAnInnerLoop(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer(
		"WAIT", `"Seconds": 30`, `"Next": "Tell"}`, `"Next": "Again?"}`, `"StartAt": "Start"`, `"StartAt": "Zero"`,
		`"Good":`, `"Zero": {"Type": "Pass", "Assign": {"tries": 0}, "Next": "Start"},
  "Again?": {"Type": "Choice", "Choices": [{"Variable": "$tries", "NumericLessThan": 2, "Next": "Count"}], "Default": "Tell"},
  "Count": {"Type": "Pass", "Assign": {"tries.$": "States.MathAdd($tries, 1)"}, "Next": "Start"},
  "Good":`).Replace(query)
	r := repairOf(t, text, lint.UnboundedLoop, 0)
	require.Equal(t, fix.Offered, r.Class, "%s", r.Reason)
	require.Contains(t, r.About, "up to 3 rounds of the outer loop share the 25,000 events of the history")
	require.Contains(t, string(r.After), `"Look timed out"`)
}

// A Retry may make a write twice. A function may only look.
func TestRepairOfAWrite(t *testing.T) {
	t.Parallel()
	write := `"Record": {"Type": "Task", "Resource": "RESOURCE", "Parameters": {"TableName": "jobs", "Key": {"id": {"S": "1"}}, "UpdateExpression": "SET n = 1"}, "ResultPath": null, "Next": "Done?"},
  "Done?": {`
	text := strings.NewReplacer(`"StartAt"`, `"TimeoutSeconds": 3600, "StartAt"`, "WAIT", `"Seconds": 30`, `"ResultPath": "$.r", "Next": "Done?"`,
		`"ResultPath": "$.r", "Retry": [{"ErrorEquals": ["States.TaskFailed"]}], "Next": "Record"`, `"Done?": {`, write).Replace(query)
	for _, resource := range []string{"arn:aws:states:::dynamodb:updateItem", "arn:aws:states:::aws-sdk:dynamodb:updateItem"} {
		r := repairOf(t, strings.Replace(text, "RESOURCE", resource, 1), lint.UnretriedTask, 0)
		require.Equal(t, fix.Refused, r.Class)
		require.Equal(t, "Record writes, and a retried write may be made twice: add a Retry by hand if that does no harm", r.Reason)
	}
}
