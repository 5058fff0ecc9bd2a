package fix_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/edit"
	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// judged is a loop that waits for a query, with RULES, a DEFAULT, and a FAIL state "Bad".
const judged = `{"StartAt": "Start", "TimeoutSeconds": 3600, "States": {
  "Start": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:startQueryExecution", "Parameters": {"QueryString": "SELECT 1"}, "ResultPath": "$.s", "Next": "Pause"},
  "Pause": {"Type": "Wait", "Seconds": 30, "Next": "Look"},
  "Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId.$": "$.s.QueryExecutionId"},
    "Retry": [{"ErrorEquals": ["States.TaskFailed"]}], "ResultPath": "$.r", "Next": "Done?"},
  "Done?": {"Type": "Choice", "Choices": [RULES], "Default": "DEFAULT"},
  "Good": {"Type": "Succeed"},
  "Bad": {"Type": "Fail", FAIL}
}}`

// judge fills in the machine. A rule is an operator, a text and a state: "StringEquals SUCCEEDED Good".
func judge(otherwise, fails string, rules ...string) string {
	all := make([]string, len(rules))
	for i, rule := range rules {
		parts := strings.Fields(rule)
		all[i] = `{"Variable": "$.r.QueryExecution.Status.State", "` + parts[0] + `": "` + parts[1] + `", "Next": "` + parts[2] + `"}`
	}
	return strings.NewReplacer("RULES", strings.Join(all, ", "), "DEFAULT", otherwise, "FAIL}", fails+"}").Replace(judged)
}

// Several statuses fail by errors of their own where an expression gives the error: the line names each.
func TestLineOfComputedErrors(t *testing.T) {
	t.Parallel()
	const computed, fixed = `"ErrorPath": "States.Format('Query.{}', $.r.QueryExecution.Status.State)"`, `"Error": "QueryFailed"`
	const good, running, failed = "StringEquals SUCCEEDED Good", "StringEquals RUNNING Pause", "StringEquals FAILED Bad"
	ofGlue := strings.NewReplacer("athena:startQueryExecution", "glue:startJobRun", `{"QueryString": "SELECT 1"}`, `{"JobName": "j"}`, "athena:getQueryExecution", "glue:getJobRun",
		`{"QueryExecutionId.$": "$.s.QueryExecutionId"}`, `{"JobName": "j", "RunId.$": "$.s.JobRunId"}`, "QueryExecution.Status.State", "JobRun.JobRunState").Replace
	for name, c := range map[string]struct{ text, rule, about string }{
		"after the edit":  {ofGlue(judge("Pause", computed, good, failed)), lint.StatusPollsOn, " -> fails Query.STOPPED, Query.TIMEOUT, Query.ERROR or Query.EXPIRED"},
		"before the edit": {ofGlue(judge("Bad", computed, good, running)), lint.StatusUnhandled, "statuses STARTING, WAITING: fails Query.STARTING or Query.WAITING -> polls on"},
		"one error":       {ofGlue(judge("Bad", fixed, good, running)), lint.StatusUnhandled, "statuses STARTING, WAITING: fails QueryFailed -> polls on"},
		"one status":      {judge("Pause", computed, good, failed), lint.StatusPollsOn, "status CANCELLED: polls on until TimeoutSeconds -> fails Query.CANCELLED"},
	} {
		r := repairOf(t, c.text, c.rule, 0)
		require.Contains(t, r.About, c.about, name)
	}
}

// A rule that a pattern in front of it takes goes before that, also where another one stands between both.
func TestRuleThatAPatternTakes(t *testing.T) {
	t.Parallel()
	const failed, cancelled, good = "StringEquals FAILED Bad", "StringEquals CANCELLED Bad", "StringEquals SUCCEEDED Good"
	for _, pattern := range []string{"*ED", "*E*", "S*"} {
		takes := "StringMatches " + pattern + " Bad"
		r := repairOf(t, judge("Pause", `"Error": "E"`, failed, cancelled, takes, good), typecheck.UnreachableRule, 0)
		require.Equal(t, fix.Offered, r.Class, pattern)
		require.Contains(t, r.About, "status SUCCEEDED: fails E -> succeeds", pattern)

		if pattern != "S*" {
			continue // it takes the rule between both, too, whose finding comes first
		}
		r = repairOf(t, judge("Pause", `"Error": "E"`, failed, takes, cancelled, good), typecheck.UnreachableRule, 0)
		require.Equal(t, fix.Offered, r.Class, pattern)
		require.True(t, r.Mends("status-misread@Done?"), pattern)
		require.Equal(t, []edit.Edit{{Op: edit.Move, At: "/States/Done?/Choices/3", To: "/States/Done?/Choices/1"}}, r.Edits, pattern)
	}
}

// A status that a pattern does not take goes where the statuses go that it takes.
func TestRuleBesideAPatternThatLeadsBack(t *testing.T) {
	t.Parallel()
	r := repairOf(t, judge("Bad", `"Error": "E"`, "StringEquals SUCCEEDED Good", "StringMatches *ING Pause"), lint.StatusUnhandled, 0)
	require.Equal(t, fix.Sure, r.Class, r.Reason)
	require.Contains(t, r.About, "status QUEUED: fails E -> polls on")
	require.Contains(t, string(r.After), `"StringEquals": "QUEUED", "Next": "Pause"`)
}

// A Fail that reads two members which may be absent still breaks by the other one, and nothing goes on behind it.
func TestLineOfASecondAbsentMember(t *testing.T) {
	t.Parallel()
	text := judge("Pause", `"Error": "E", "CausePath": "States.Format('{} {}', $.r.QueryExecution.Status.StateChangeReason, $.r.QueryExecution.WorkGroup)"`,
		"StringEquals SUCCEEDED Good", "StringEquals FAILED Bad", "StringEquals CANCELLED Bad")
	r := repairOf(t, text, typecheck.AbsentMember, 0)
	require.Contains(t, r.About, "fails States.Runtime -> does not fail by that any more; if the answer lacks another member, too, it still fails States.Runtime")
}
