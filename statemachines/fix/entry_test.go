package fix_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/tests/race"
)

// loopOf is a loop whose Task polls an operation by the id of the input.
func loopOf(resource, id, poll, rules string) string {
	argument, language := fmt.Sprintf(`"Parameters": {"%s.$": "$.id"}`, id), "JSONPath"
	if strings.Contains(rules, "{%") {
		argument, language = fmt.Sprintf(`"Arguments": {"%s": "{%% $states.context.Execution.Input.id %%}"}`, id), "JSONata"
	}
	return fmt.Sprintf(`{"StartAt": "Wait", "QueryLanguage": "%s", "States": {
		"Wait": {"Type": "Wait", "Seconds": 30, "Next": "Look"},
		"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:%s", %s%s, "Next": "Done?"},
		"Done?": {"Type": "Choice", "Choices": [%s], "Default": "Wait"},
		"Good": {"Type": "Succeed"}, "Bad": {"Type": "Fail", "Error": "Broken"}}}`, language, resource, argument, poll, rules)
}

// Loops as people write them become compiled ones, or stay for the true reason.
func TestWaysToReadAnAnswer(t *testing.T) {
	t.Parallel()
	const (
		database, crawler     = "rds:describeDBInstances", "glue:getCrawler"
		ready, succeeded      = `{"Variable": "$.c.Crawler.State", "StringEquals": "READY"}`, `{"Variable": "$.c.Crawler.LastCrawl.Status", "StringEquals": "SUCCEEDED"}`
		available, failed     = `{"Variable": "$.d.DbInstances[0].DbInstanceStatus", "StringEquals": "available", "Next": "Good"}`, `{"Variable": "$.d.DbInstances[0].DbInstanceStatus", "StringEquals": "failed", "Next": "Bad"}`
		toCrawler, toDatabase = `, "ResultPath": "$.c"`, `, "ResultPath": "$.d"`
	)
	condition := func(text, next string) string {
		return fmt.Sprintf(`{"Condition": "{%% %s %%}", "Next": "%s"}`, text, next)
	}
	stream := func(status, next string) string {
		return fmt.Sprintf(`{"Variable": "$.d.StreamDescription.StreamStatus", "StringEquals": "%s", "Next": "%s"}`, status, next)
	}
	withoutBad := func(text string) string {
		return strings.Replace(text, `, "Bad": {"Type": "Fail", "Error": "Broken"}`, "", 1)
	}
	destination := func(status, next string) string {
		return `{"Variable": "$.d.KinesisDataStreamDestinations[0].DestinationStatus", "StringEquals": "` + status + `", "Next": "` + next + `"}`
	}
	for name, c := range map[string]struct{ text, reason, exit string }{
		"a failure on the way to another": {loopOf(database, "DbInstanceIdentifier", toDatabase, available+","+failed), "", "Bad"},
		"a filter in JSONata":             {withoutBad(loopOf(database, "DbInstanceIdentifier", "", condition("$exists($states.input.DbInstances[DbInstanceStatus = 'available'])", "Good"))), "", ""},
		"a count in JSONata":              {withoutBad(loopOf(database, "DbInstanceIdentifier", "", condition("$count($states.input.DbInstances[DbInstanceStatus != 'available']) = 0", "Good"))), "", ""},
		"an item picked by another name than the one asked for": {
			withoutBad(loopOf(database, "DbInstanceIdentifier", `, "Output": {"s": "{% $states.result.DbInstances[DbInstanceIdentifier = $states.context.Execution.Input.name].DbInstanceStatus %}"}`,
				condition("$states.input.s = 'available'", "Good"))),
			"no success of rds:DBInstanceAvailable leaves the loop: with available it fails with States.QueryEvaluationError", "",
		},
		"a filter in JSONPath": {
			withoutBad(loopOf(database, "DbInstanceIdentifier", toDatabase+`, "ResultSelector": {"done.$": "$.DbInstances[?(@.DbInstanceStatus=='available')]"}`, `{"Variable": "$.d.done[0]", "IsPresent": true, "Next": "Good"}`)),
			"", "",
		},
		"two members of a crawler":            {loopOf(crawler, "Name", toCrawler, `{"And": [`+ready+","+succeeded+`], "Next": "Good"},`+strings.Replace(ready, `"READY"`, `"READY", "Next": "Bad"`, 1)), "", "Bad"},
		"two members of a crawler in JSONata": {loopOf(crawler, "Name", "", condition("$states.input.Crawler.State = 'READY' and $states.input.Crawler.LastCrawl.Status = 'SUCCEEDED'", "Good")+","+condition("$states.input.Crawler.State = 'READY'", "Bad")), "", "Bad"},
		"a status that the waiter does not know": {
			loopOf("redshift:describeClusters", "ClusterIdentifier", `, "ResultPath": "$.d"`, strings.NewReplacer("DbInstances", "Clusters", "DbInstanceStatus", "ClusterStatus").Replace(available+","+failed)),
			`nothing leads to "Bad" any more: the old loop leads no failure of redshift:ResumeCluster there, and polls on with final-snapshot, hardware-failure, `, "",
		},
		"a status of a new image and of a changed one": {
			loopOf("sagemaker:describeImage", "ImageName", `, "ResultPath": "$.d"`,
				`{"Variable": "$.d.ImageStatus", "StringEquals": "CREATED", "Next": "Good"}, {"Variable": "$.d.ImageStatus", "StringEquals": "CREATE_FAILED", "Next": "Bad"}`),
			"the catalogue knows 2 waiters of sagemaker:DescribeImage that the loop may mean (ImageCreated, ImageUpdated)", "",
		},
		"two statuses of one failure": {
			strings.Replace(loopOf("dynamodb:describeKinesisStreamingDestination", "TableName", `, "ResultPath": "$.d"`, destination("ACTIVE", "Good")+","+destination("DISABLED", "Off")+","+destination("ENABLE_FAILED", "Bad")),
				`"Good": {`, `"Off": {"Type": "Fail", "Error": "Off"}, "Good": {`, 1),
			`nothing leads to "Bad" any more: dynamodb:KinesisStreamingDestinationActive takes ENABLE_FAILED for the same failure as another status, and a new loop leads both to one state. Lead the other status to "Bad", too`, "",
		},
		"a status that nobody knows beside all failures": {
			strings.Replace(loopOf("kinesis:describeStream", "StreamName", `, "ResultPath": "$.d"`, stream("ACTIVE", "Good")+","+stream("DELETING", "Gone")+","+stream("LOST", "Bad")),
				`"Good": {`, `"Gone": {"Type": "Fail", "Error": "Gone"}, "Good": {`, 1),
			`nothing leads to "Bad" any more: in a trial, no status of kinesis:StreamExists alone leads there, and a new loop looks at nothing else. Remove the way to "Bad", or lead a bound of the loop there`, "",
		},
	} {
		if !race.Takes(name, 12) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, loops := apply(t, c.text, fix.Options{Strategy: compile.Variables})
			require.Len(t, loops, 1)
			if c.reason == "" {
				require.Empty(t, loops[0].Refused)
			} else {
				require.Contains(t, loops[0].Refused, c.reason)
			}
			for _, r := range loops[0].Routes {
				if r.Before == "Bad" && r.Status != "READY" { // with which the new loop waits for the first crawl
					require.Equal(t, "Bad", r.After, r.Status)
				}
			}
			if c.exit != "" {
				require.Contains(t, loops[0].Routes, fix.Route{Status: strings.NewReplacer(database, "failed", crawler, "FAILED").Replace(resourceOf(c.text)), Before: c.exit, After: c.exit, Meaning: lint.MeansFailure})
			}
		})
	}
}

// resourceOf is the operation that a loop polls.
func resourceOf(text string) string {
	_, after, _ := strings.Cut(text, "aws-sdk:")
	name, _, _ := strings.Cut(after, `"`)
	return name
}
