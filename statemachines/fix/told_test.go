package fix_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/trial"
	"github.com/jobpoller/jobpoller/tests/race"
)

// transcriptions leaves its loop by one way for all ends: a Choice behind it tells a failure.
const transcriptions = `{"StartAt": "Each", "States": {
  "Each": {"Type": "Map", "ItemsPath": "$.files", "Next": "Done", "ItemProcessor": {"StartAt": "Start", "States": {
    "Start": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:transcribe:startTranscriptionJob",
      "Parameters": {"TranscriptionJobName.$": "$.name", "LanguageCode": "en-US", "Media": {"MediaFileUri.$": "$.uri"}}, "ResultPath": "$.job", "Next": "Get"},
    "Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:transcribe:getTranscriptionJob",
      "Parameters": {"TranscriptionJobName.$": "$.name"}, "ResultPath": "$.job", "Next": "Status"},
    "Status": {"Type": "Choice", "Choices": [{"And": [
      {"Not": {"Variable": "$.job.TranscriptionJob.TranscriptionJobStatus", "StringEquals": "COMPLETED"}},
      {"Not": {"Variable": "$.job.TranscriptionJob.TranscriptionJobStatus", "StringEquals": "FAILED"}}], "Next": "Sleep"}], "Default": "Ended"},
    "Sleep": {"Type": "Wait", "Seconds": 20, "Next": "Get"},
    "Ended": {"Type": "Choice", "Choices": [{"Variable": "$.job.TranscriptionJob.TranscriptionJobStatus", "StringEquals": "FAILED", "Next": "Failed"}], "Default": "Good"},
    "Failed": {"Type": "Pass", "Parameters": {"name.$": "$.name", "ok": false}, "End": true},
    "Good": {"Type": "Pass", "Parameters": {"name.$": "$.name", "ok": true}, "End": true}}}},
  "Done": {"Type": "Succeed"}}}`

// A failure that leaves a loop as a success does, and is told from it behind, keeps its way.
func TestFailureThatIsToldBehindTheLoop(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit          []string
		want, refused string // where FAILED leads, or a part of the reason
	}{
		"by a Choice": {nil, "Ended", ""},
		"behind a call": {[]string{
			`"Default": "Ended"`, `"Default": "Tell"`, `"Ended":`,
			`"Tell": {"Type": "Task", "Resource": "arn:aws:states:::sns:publish", "Parameters": {"TopicArn": "t", "Message": "m"}, "ResultPath": null, "Next": "Ended"}, "Ended":`,
		}, "", "lint finds status-misread in the new loop, as in the old one: FAILED is a failure"},
		"by a state less": {[]string{
			`"Next": "Failed"}], "Default"`, `"Next": "Rest"}], "Default"`, `"Failed": {"Type": "Pass"`, `"Rest": {"Type": "Pass"`,
			`"ok": true}, "End": true`, `"ok": true}, "Next": "Rest"`,
		}, "Ended", ""},
		"not at all": {[]string{`"StringEquals": "FAILED", "Next": "Failed"}]`, `"StringEquals": "failed", "Next": "Failed"}]`}, "Get failed", ""},
	} {
		if !race.Takes(name, 12) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, loops := apply(t, strings.NewReplacer(c.edit...).Replace(transcriptions), fix.Options{Strategy: compile.Variables, MaxWait: time.Hour})
			require.Len(t, loops, 1)
			if c.refused != "" {
				require.Contains(t, loops[0].Refused, c.refused)
				return
			}
			require.Contains(t, loops[0].Routes, fix.Route{Status: "FAILED", Before: "Ended", After: c.want, Meaning: lint.MeansFailure})
		})
	}
}

// clusters reads a member that an answer need not have, besides the status.
const clusters = `{"StartAt": "Look", "States": {
  "Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:elasticache:describeCacheClusters", "Parameters": {"CacheClusterId.$": "$.id"},
    "ResultSelector": {"status.$": "$.CacheClusters[0].CacheClusterStatus", "host.$": "$.CacheClusters[0].CacheNodes[0].Endpoint.Address"},
    "ResultPath": "$.r", "Next": "Done?"},
  "Done?": {"Type": "Choice", "Choices": [
    {"Variable": "$.r.status", "StringEquals": "available", "Next": "Good"},
    {"Variable": "$.r.status", "StringEquals": "deleted", "Next": "Bad"}], "Default": "Pause"},
  "Pause": {"Type": "Wait", "Seconds": 30, "Next": "Look"},
  "Good": {"Type": "Succeed"},
  "Bad": {"Type": "Fail", "Error": "Gone"}}}`

// A change that only answers without optional members make says so.
func TestChangesOfBareAnswers(t *testing.T) {
	t.Parallel()
	_, loops := apply(t, clusters, fix.Options{Strategy: compile.Variables})
	require.Empty(t, loops[0].Refused)
	bare := map[string]bool{}
	for _, c := range loops[0].Changes {
		if c.Kind.Sort == trial.Status {
			bare[c.Kind.Value] = c.Bare
		}
	}
	require.True(t, bare["creating"])
	require.True(t, bare["available"])
	require.False(t, bare[""])
}
