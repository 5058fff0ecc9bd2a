package simulate_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
)

// An archived object is there before it is restored, meanwhile and after, and Restore tells them apart. It was not
// found while it was restored, and then had a Restore that S3 does not have.
func TestAnObjectIsRestored(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse([]byte(`{"StartAt": "Before", "States": {
		"Before": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:s3:headObject", "Parameters": {"Bucket": "b", "Key": "k"},
			"ResultPath": "$.before", "Next": "Asked?"},
		"Asked?": {"Type": "Choice", "Choices": [{"Variable": "$.before.Restore", "IsPresent": true, "Next": "Pause"}], "Default": "Ask"},
		"Ask": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:s3:restoreObject",
			"Parameters": {"Bucket": "b", "Key": "k", "RestoreRequest": {"Days": 3}}, "ResultPath": "$.ask", "Next": "Pause"},
		"Pause": {"Type": "Wait", "Seconds": 3600, "Next": "Look"},
		"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:s3:headObject", "Parameters": {"Bucket": "b", "Key": "k"},
			"ResultPath": "$.after", "Next": "Done?"},
		"Done?": {"Type": "Choice", "Choices": [
			{"Variable": "$.after.Restore", "StringMatches": "ongoing-request=\"false\"*", "Next": "Good"},
			{"Variable": "$.after.Restore", "StringEquals": "ongoing-request=\"true\"", "Next": "Pause"}], "Default": "Bad"},
		"Good": {"Type": "Succeed"}, "Bad": {"Type": "Fail"}}}`))
	require.NoError(t, err)
	r := simulated(t, m, map[string]any{}, simulate.Options{Models: models.Load, Specs: []simulate.Spec{{Spread: mock.Exactly(150 * time.Minute)}}})
	require.Equal(t, sim.StatusSucceeded, r.Status, "%s: %s", r.Error, r.Cause)
	require.Equal(t, 3*time.Hour, r.Duration())
	require.Equal(t, 1, r.Visits["Ask"])
	type object struct {
		Restore *string `json:"Restore"`
	}
	var output struct {
		Before object `json:"Before"`
		After  object `json:"After"`
	}
	require.NoError(t, json.Unmarshal([]byte(asText(t, r.Output)), &output))
	require.Nil(t, output.Before.Restore)
	require.Equal(t, `ongoing-request="false", expiry-date="Fri, 01 Jan 2027 00:00:00 GMT"`, *output.After.Restore)
}
