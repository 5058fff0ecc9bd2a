package fix_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/source"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
	"github.com/jobpoller/jobpoller/tests/race"
)

const (
	crawlerPath = `{"StartAt": "Start", "TimeoutSeconds": 7200, "States": {
  "Start": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:startCrawler", "Parameters": {"Name": "orders"}, "ResultPath": null, "Next": "Pause"},
  "Pause": {"Type": "Wait", "Seconds": 60, "Next": "Look"},
  "Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:getCrawler", "Parameters": {"Name": "orders"}, "ResultPath": "$.c", "Next": "Done?"},
  "Done?": {"Type": "Choice", "Choices": [
    {"Variable": "$.c.Crawler.State", "StringEquals": "RUNNING", "Next": "Pause"},
    {"Variable": "$.c.Crawler.State", "StringEquals": "STOPPING", "Next": "Pause"},
    {"Variable": "$.c.Crawler.State", "StringEquals": "READY", "Next": "Load"}
  ], "Default": "DEFAULT"},
  "Load": {"Type": "Pass", "End": true},
  "Broken": {"Type": "Fail", "Error": "CrawlFailed"}
}}`
	crawlerExpression = `{"QueryLanguage": "JSONata", "StartAt": "Start", "TimeoutSeconds": 7200, "States": {
  "Start": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:startCrawler", "Arguments": {"Name": "orders"}, "Next": "Pause"},
  "Pause": {"Type": "Wait", "Seconds": 60, "Next": "Look"},
  "Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:getCrawler", "Arguments": {"Name": "orders"}, "Next": "Done?"},
  "Done?": {"Type": "Choice", "Choices": [
    {"Condition": "{% $states.input.Crawler.State in ['RUNNING', 'STOPPING'] %}", "Next": "Pause"}
  ], "Default": "Load"},
  "Load": {"Type": "Pass", "End": true}
}}`
	command = `{"StartAt": "Send", "TimeoutSeconds": 600, "States": {
  "Send": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:ssm:sendCommand", "Parameters": {"DocumentName": "d", "InstanceIds": ["i-1"]}, "ResultPath": "$.s", "Next": "Look"},
  "Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:ssm:getCommandInvocation",
    "Parameters": {"CommandId.$": "$.s.Command.CommandId", "InstanceId": "i-1"}, RETRY"ResultPath": "$.r", "Next": "Done?"},
  "Done?": {"Type": "Choice", "Choices": [
    {"Variable": "$.r.Status", "StringEquals": "Success", "Next": "Good"},
    {"Or": [{"Variable": "$.r.Status", "StringEquals": "Pending"}, {"Variable": "$.r.Status", "StringEquals": "InProgress"},
      {"Variable": "$.r.Status", "StringEquals": "Delayed"}, {"Variable": "$.r.Status", "StringEquals": "Cancelling"}], "Next": "Pause"}
  ], "Default": "Bad"},
  "Pause": {"Type": "Wait", "Seconds": 5, "Next": "Look"},
  "Good": {"Type": "Succeed"},
  "Bad": {"Type": "Fail", "Error": "CommandFailed"}
}}`
	query = `{"StartAt": "Start", "States": {
  "Start": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:startQueryExecution", "Parameters": {"QueryString": "SELECT 1"}, "ResultPath": "$.s", "Next": "Pause"},
  "Pause": {"Type": "Wait", WAIT, "Next": "Look"},
  "Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId.$": "$.s.QueryExecutionId"}, "ResultPath": "$.r", "Next": "Done?"},
  "Done?": {"Type": "Choice", "Choices": [
    {"Variable": "$.r.QueryExecution.Status.State", "StringEquals": "SUCCEEDED", "Next": "Good"},
    {"Variable": "$.r.QueryExecution.Status.State", "StringEquals": "FAILED", "Next": "Tell"},
    {"Variable": "$.r.QueryExecution.Status.State", "StringEquals": "CANCELLED", "Next": "Tell"}
  ], "Default": "Pause"},
  "Good": {"Type": "Succeed"},
  "Tell": {"Type": "Task", "Resource": "arn:aws:states:::sns:publish", "Parameters": {"TopicArn": "arn:aws:sns:us-east-1:123456789012:ops", "Message": "m"}, "Next": "Bad"},
  "Bad": {"Type": "Fail", "Error": "QueryFailed"}
}}`
	wrongTwice = `{"QueryLanguage": "JSONata", "StartAt": "Look", "TimeoutSeconds": 3600, "States": {
  "Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Arguments": {"QueryExecutionId": "{% $states.input.id %}"},
    "Output": {"id": "{% $states.input.id %}", "r": "{% $states.result %}"}, "Next": "Done?"},
  "Done?": {"Type": "Choice", "Choices": [
    {"Condition": "{% $states.input.r.QueryExecution.Status.Stat = 'SUCCEEDED' %}", "Next": "Good"}
  ], "Default": "Failed?"},
  "Failed?": {"Type": "Choice", "Choices": [
    {"Condition": "{% $states.input.r.QueryExecution.Status.Stat in ['FAILED', 'CANCELLED'] %}", "Next": "Bad"}
  ], "Default": "Pause"},
  "Pause": {"Type": "Wait", "Seconds": 30, "Next": "Look"},
  "Good": {"Type": "Succeed"},
  "Bad": {"Type": "Fail", "Error": "QueryFailed"}
}}`
	boundedCommand = `{"StartAt": "Begin", "States": {
  "Begin": {"Type": "Pass", "Assign": {"polls": 0}, "Next": "Look"},
  "Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:ssm:getCommandInvocation",
    "Parameters": {"CommandId.$": "$.id", "InstanceId": "i-1"}, "ResultPath": "$.r", "Next": "Done?"},
  "Done?": {"Type": "Choice", "Choices": [
    {"Variable": "$.r.Status", "StringEquals": "Success", "Next": "Good"},
    {"Or": [{"Variable": "$.r.Status", "StringEquals": "Failed"}, {"Variable": "$.r.Status", "StringEquals": "TimedOut"}], "Next": "Tell"},
    {"Variable": "$polls", "NumericGreaterThan": 20, "Next": "Late"}
  ], "Default": "Pause"},
  "Pause": {"Type": "Wait", "Seconds": 30, "Assign": {"polls.$": "States.MathAdd($polls, 1)"}, "Next": "Look"},
  "Good": {"Type": "Succeed"},
  "Tell": {"Type": "Task", "Resource": "arn:aws:states:::sns:publish", "Parameters": {"TopicArn": "arn:aws:sns:us-east-1:123456789012:ops",
    "Message.$": "$.r.StandardErrorContent"}, "Next": "Bad"},
  "Bad": {"Type": "Fail", "Error": "CommandFailed"},
  "Late": {"Type": "Fail", "Error": "TooLate"}
}}`
	retried = `{"StartAt": "Look", "States": {
  "Look": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "check"}, "Retry": [
    {"ErrorEquals": ["NotReady"], "IntervalSeconds": 60, "MaxAttempts": 99999999, "BackoffRate": 1}
  ], "End": true}
}}`
)

// hidden is a loop that no trial run gets to.
var hidden = strings.NewReplacer(`"StartAt": "Start", "States": {`, `"StartAt": "Which", "States": {
  "Which": {"Type": "Choice", "Choices": [{"Variable": "$.n", "IsPresent": true, "Next": "Good"}, {"Variable": "$.n", "NumericEquals": 123456, "Next": "Start"}], "Default": "Good"},`, "WAIT", `"Seconds": 30`,
	"SUCCEEDED", "Succeeded").Replace(query)

// repairOf is the repair of the first finding of a rule.
func repairOf(t *testing.T, text, rule string, maxWait time.Duration) fix.Repair {
	t.Helper()
	read := func(file []byte) (*source.Definition, error) {
		return source.LoadOne(t.Context(), source.Stdin, source.Options{Stdin: bytes.NewReader(file)})
	}
	_, all, err := fix.RepairFile(t.Context(), []byte(text), read, fix.RepairOptions{Models: models.Load, MaxWait: maxWait})
	require.NoError(t, err)
	i := slices.IndexFunc(all, func(r fix.Repair) bool { return r.Rule == rule })
	require.GreaterOrEqual(t, i, 0, "%v", all)
	return all[i]
}

func TestRepairRecipes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text, rule string
		maxWait    time.Duration
		class      fix.Class
		added      []string // lines, without the blanks around them
	}{
		"a start race has the first retrier": {
			text: strings.Replace(command, "RETRY", `"Retry": [{"ErrorEquals": ["States.Timeout"]}], `, 1), rule: lint.StartRace, class: fix.Sure,
			added: []string{`"Parameters": {"CommandId.$": "$.s.Command.CommandId", "InstanceId": "i-1"}, "Retry": [` +
				`{"ErrorEquals": ["Ssm.InvocationDoesNotExistException"], "IntervalSeconds": 2, "MaxAttempts": 6, "BackoffRate": 1.5}, ` +
				`{"ErrorEquals": ["States.Timeout"]}], "ResultPath": "$.r", "Next": "Done?"},`},
		},
		"a start race has a Retry": {
			text: strings.Replace(command, "RETRY", "", 1), rule: lint.StartRace, class: fix.Sure,
		},
		"an unclear status goes where failures go": {
			text: strings.Replace(crawlerPath, "DEFAULT", "Broken", 1), rule: lint.StatusUnclear, class: fix.Sure,
			added: []string{`{"And": [{"Variable": "$.c.Crawler.State", "StringEquals": "READY"}, ` +
				`{"Variable": "$.c.Crawler.LastCrawl.Status", "IsPresent": true}, ` +
				`{"Not": {"Variable": "$.c.Crawler.LastCrawl.Status", "StringEquals": "SUCCEEDED"}}], "Next": "Broken"},`},
		},
		"an unclear status behind the running rule": {
			text: crawlerExpression, rule: lint.StatusUnclear, class: fix.Sure,
			added: []string{
				`"Look failed": {"Type": "Fail", "Error": "Glue.CrawlerFailed", "Cause": "{% 'the job ended ' & $states.input.Crawler.LastCrawl.Status %}"},`,
				`{"Condition": "{% $states.input.Crawler.State in ['RUNNING', 'STOPPING'] %}", "Next": "Pause"},`,
				`{"Condition": "{% $states.input.Crawler.State = 'READY' and $states.input.Crawler.LastCrawl.Status in ['FAILED', 'CANCELLED'] %}", "Next": "Look failed"}`,
			},
		},
		"a literal Wait is counted": {
			text: strings.NewReplacer("WAIT", `"Seconds": 30`, "sns:publish", "aws-sdk:s3:deleteObject", `"TopicArn": "arn:aws:sns:us-east-1:123456789012:ops", "Message"`,
				`"Bucket": "b", "Key"`).Replace(query), rule: lint.UnboundedLoop, maxWait: time.Hour, class: fix.Sure,
			added: []string{`{"Variable": "$polls", "NumericGreaterThanEquals": 119, "Next": "Look timed out"}`},
		},
		"a machine that only sends a message behind its loop has a time limit": {
			text: strings.Replace(query, "WAIT", `"Seconds": 30`, 1), rule: lint.UnboundedLoop, maxWait: time.Hour, class: fix.Sure,
			added: []string{`{"StartAt": "Start", "TimeoutSeconds": 3600, "States": {`},
		},
		"a Wait by a path has a deadline that the user gives": {
			text: strings.Replace(query, "WAIT", `"SecondsPath": "$.seconds"`, 1), rule: lint.UnboundedLoop, maxWait: time.Hour, class: fix.Sure,
			added: []string{`"Look again?": {"QueryLanguage": "JSONata", "Type": "Choice", "Choices": [` +
				`{"Condition": "{% $millis() - $toMillis($started) > 3600000 %}", "Next": "Look timed out"}], "Default": "Pause"},`},
		},
		"a member that is wrong in two places is corrected in both": {
			text: wrongTwice, rule: typecheck.UnknownMember, class: fix.Offered,
			added: []string{
				`{"Condition": "{% $states.input.r.QueryExecution.Status.State = 'SUCCEEDED' %}", "Next": "Good"}`,
				`{"Condition": "{% $states.input.r.QueryExecution.Status.State in ['FAILED', 'CANCELLED'] %}", "Next": "Bad"}`,
			},
		},
		"a success that is misspelt, where Default fails": {
			text: strings.NewReplacer("RETRY", "", `"Success"`, `"Succes"`).Replace(command), rule: typecheck.EnumValue, class: fix.Offered,
			added: []string{`{"Variable": "$.r.Status", "StringEquals": "Success", "Next": "Good"},`},
		},
		"a failure goes where others go, if its reason may be absent there as theirs": {
			text: boundedCommand, rule: lint.StatusPollsOn, class: fix.Sure,
			added: []string{`{"Or": [{"Variable": "$.r.Status", "StringEquals": "Failed"}, {"Variable": "$.r.Status", "StringEquals": "Cancelled"}, ` +
				`{"Variable": "$.r.Status", "StringEquals": "TimedOut"}], "Next": "Tell"},`},
		},
		"a Wait that sets another variable than the job is counted": {
			text: strings.NewReplacer("WAIT", `"Seconds": 30, "Assign": {"last.$": "$$.State.EnteredTime"}`, `"ResultPath": "$.s", "Next": "Pause"`, `"Assign": {"id.$": "$.QueryExecutionId"}, "Next": "Pause"`,
				"$.s.QueryExecutionId", "$id", "Message\": \"m\"", "Message.$\": \"$last\"").Replace(query), rule: lint.UnboundedLoop, class: fix.Sure,
		},
		"a Pass that keeps the job is counted": {
			text: strings.NewReplacer("WAIT", `"Seconds": 30`, `"Next": "Look"}`, `"Next": "Keep"}, "Keep": {"Type": "Pass", "Parameters": {"s.$": "$.s"}, "Next": "Look"}`).Replace(query), rule: lint.UnboundedLoop, class: fix.Sure,
		},
		"retries that poll have fewer attempts": {
			text: retried, rule: lint.UnboundedLoop, maxWait: 24 * time.Hour, class: fix.Sure,
			added: []string{`{"ErrorEquals": ["NotReady"], "IntervalSeconds": 60, "MaxAttempts": 1440, "BackoffRate": 1}`},
		},
	} {
		if !race.Takes(name, 12) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := repairOf(t, c.text, c.rule, c.maxWait)
			require.Equal(t, c.class, r.Class, "%s", r.Reason)
			lines := strings.Split(fix.Diff("a", "b", r.Before, r.After), "\n")
			for i, line := range lines {
				lines[i] = strings.Join(strings.Fields(strings.TrimPrefix(line, "+")), " ")
			}
			for _, line := range c.added {
				require.Contains(t, lines, line)
			}
		})
	}
}

// An edit that no trial run shows is not right.
func TestRepairThatNothingShows(t *testing.T) {
	t.Parallel()
	r := repairOf(t, hidden, "enum-value", 0)
	require.Equal(t, fix.Refused, r.Class)
	require.Contains(t, r.Reason, `the trial runs of an edit in "Done?" do not get there, so nothing shows what it changes`)
}
