package simulate_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
)

// An answer is the last page, and has the token that a call is made for.
func TestAnswersLackTokensOfPagesAlone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		resource, arguments, member string
		there                       bool
	}{
		{"xray:startTraceRetrieval", `{"TraceIds": ["t"], "StartTime": 1, "EndTime": 2}`, "RetrievalToken", true},
		{"cloudformation:registerType", `{"TypeName": "A::B::C", "SchemaHandlerPackage": "s3://b/k"}`, "RegistrationToken", true},
		{"codeartifact:getAuthorizationToken", `{"Domain": "d"}`, "AuthorizationToken", true},
		{"cognitoidentity:getOpenIdToken", `{"IdentityId": "i"}`, "Token", true},
		{"athena:listQueryExecutions", `{}`, "NextToken", false},
		{"cloudwatchlogs:getLogEvents", `{"LogStreamName": "s"}`, "NextForwardToken", false},
		{"s3:listObjectsV2", `{"Bucket": "b"}`, "NextContinuationToken", false},
		{"s3:listObjectVersions", `{"Bucket": "b"}`, "NextKeyMarker", false},
		{"rds:describeDBInstances", `{}`, "Marker", false},
		{"dynamodb:listTables", `{}`, "LastEvaluatedTableName", false},
	} {
		t.Run(c.resource, func(t *testing.T) {
			t.Parallel()
			m, err := asl.Parse(fmt.Appendf(nil, `{"StartAt": "A", "States": {
				"A": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:%s", "Parameters": %s, "Next": "More?"},
				"More?": {"Type": "Choice", "Choices": [{"Variable": "$.%s", "IsPresent": true, "Next": "There"}], "Default": "Not there"},
				"There": {"Type": "Fail", "Error": "There"}, "Not there": {"Type": "Succeed"}}}`, c.resource, c.arguments, c.member))
			require.NoError(t, err)
			r := simulated(t, m, nil, simulate.Options{Models: models.Load, Specs: []simulate.Spec{{Spread: mock.Exactly(time.Minute)}}})
			end := map[bool]string{true: "There", false: "Not there"}[c.there]
			require.Equal(t, 1, r.Visits[end], "%s %s: %s", r.Status, r.Error, r.Cause)
		})
	}
}
