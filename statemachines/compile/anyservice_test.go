package compile_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// answered is a waiter for any answer of an operation. It goes on after an error, if one is named.
func answered(t *testing.T, code string) *pollcore.Waiter {
	t.Helper()
	text := `{"acceptors": [{"state": "success", "matcher": {"success": true}}]}`
	if code != "" {
		text = `{"acceptors": [{"state": "retry", "matcher": {"errorType": "` + code + `"}}, {"state": "success", "matcher": {"success": true}}]}`
	}
	w, err := pollcore.ParseWaiter("Answered", []byte(text))
	require.NoError(t, err)
	return w
}

// compiledTask compiles a waiter for an operation and returns the Task that polls it.
func compiledTask(t *testing.T, w *pollcore.Waiter, op *catalog.Operation, s compile.Strategy) string {
	t.Helper()
	m, err := compile.Compile(w, compile.Call{Operation: op}, compile.Options{Strategy: s, MaxWait: time.Hour})
	require.NoError(t, err, "%s:%s", op.Service.Key, op.Name)
	text := asl.Print(m.Machine)
	unknown := 0
	for _, p := range asl.Validate(text, asl.Standard) {
		require.Contains(t, p.Message, "no AWS SDK integration of a service", "%s:%s", op.Service.Key, op.Name)
		unknown = 1
	}
	warnings := slices.DeleteFunc(m.Warnings, func(w string) bool { return !strings.Contains(w, "does not know the AWS SDK integration") })
	require.Len(t, warnings, unknown, "%s:%s", op.Service.Key, op.Name)
	return string(text)
}

// A waiter polls a service for which the catalogue has no waiter or job.
// The names are those of the Step Functions developer guide, and the actions those of the
// Service Authorization Reference.
func TestOperationsOutsideTheCatalogue(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ service, operation, code, resource, errorName, action string }{
		{"events", "DescribeRule", "ResourceNotFoundException", "eventbridge:describeRule", "EventBridge.ResourceNotFoundException", "events:DescribeRule"},
		{"cognito-idp", "DescribeUserPool", "ResourceNotFoundException", "cognitoidentityprovider:describeUserPool", "CognitoIdentityProvider.ResourceNotFoundException", "cognito-idp:DescribeUserPool"},
		{"es", "DescribeElasticsearchDomain", "ResourceNotFoundException", "elasticsearch:describeElasticsearchDomain", "Elasticsearch.ResourceNotFoundException", "es:DescribeElasticsearchDomain"},
		{"ce", "GetCostAndUsage", "BillExpirationException", "costexplorer:getCostAndUsage", "CostExplorer.BillExpirationException", "ce:GetCostAndUsage"},
		{"application-autoscaling", "DescribeScalingActivities", "ValidationException", "applicationautoscaling:describeScalingActivities", "ApplicationAutoScaling.ValidationException", "application-autoscaling:DescribeScalingActivities"},
		{"apigatewayv2", "GetApi", "NotFoundException", "apigatewayv2:getApi", "ApiGatewayV2.NotFoundException", "apigateway:GetApi"},
		{"sqs", "GetQueueAttributes", "QueueDoesNotExist", "sqs:getQueueAttributes", "Sqs.QueueDoesNotExistException", "sqs:GetQueueAttributes"},
		{"dynamodb", "DescribeLimits", "InternalServerError", "dynamodb:describeLimits", "DynamoDb.InternalServerErrorException", "dynamodb:DescribeLimits"},
	} {
		op, err := models.Operation(c.service, c.operation)
		require.NoError(t, err)
		require.Equal(t, []string{c.action}, op.Actions)
		for _, s := range []compile.Strategy{compile.Variables, compile.Loop, compile.RetryTask} {
			text := compiledTask(t, answered(t, c.code), op, s)
			require.Contains(t, text, `"arn:aws:states:::aws-sdk:`+c.resource+`"`)
			require.Contains(t, text, `"`+c.errorName+`"`, s)
		}
	}
}

// A waiter of one's own polls an operation of each service there is.
func TestOneOperationOfEachService(t *testing.T) {
	t.Parallel()
	services, err := models.List()
	require.NoError(t, err)
	for _, listing := range services {
		service, err := models.Load(listing.Key)
		require.NoError(t, err)
		op, err := models.Operation(listing.Key, readOperation(service))
		require.NoError(t, err)
		require.Equal(t, listing.Key, op.Service.Key)
		require.NotEmpty(t, op.Actions)
		code := ""
		if len(op.Errors) > 0 {
			code = op.Errors[0].Shape
		}
		text := compiledTask(t, answered(t, code), op, compile.Variables)
		require.Contains(t, text, `"arn:aws:states:::aws-sdk:`+listing.ARNName+":"+javasdk.Uncapitalize(op.Name)+`"`)
		if code != "" {
			require.Contains(t, text, `"`+op.Service.ErrorName(code)+`"`)
		}
	}
	require.Greater(t, len(services), 400)
}

// readOperation is the first operation of a service that reads, or else its first.
func readOperation(s *catalog.Service) string {
	names := slices.Sorted(maps.Keys(s.Operations))
	for _, name := range names {
		if strings.HasPrefix(name, "Describe") || strings.HasPrefix(name, "Get") || strings.HasPrefix(name, "List") {
			return name
		}
	}
	return names[0]
}
