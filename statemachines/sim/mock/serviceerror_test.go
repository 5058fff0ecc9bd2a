package mock_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
)

func TestThrottleHasTheErrorOfTheOperation(t *testing.T) {
	t.Parallel()
	for resource, want := range map[string]string{
		"dynamodb:getItem":              "DynamoDb.ProvisionedThroughputExceededException 400",
		"dynamodb:describeExport":       "DynamoDb.DynamoDbException 400",
		"rekognition:getLabelDetection": "Rekognition.ThrottlingException 400",
		"glue:getJobRun":                "Glue.GlueException 400",
		"athena:getSession":             "Athena.AthenaException 400",
		"athena:createNotebook":         "Athena.TooManyRequestsException 400",
		"lambda:getFunction":            "Lambda.TooManyRequestsException 429",
		"sns:publish":                   "Sns.ThrottledException 429",
		"sqs:sendMessage":               "Sqs.RequestThrottledException 400",
		"ec2:describeImages":            "Ec2.Ec2Exception 400",
		"rds:describeDBInstances":       "Rds.RdsException 400",
		"glue:":                         "Glue.GlueException 400",
		"panorama:describeDevice":       "Panorama.PanoramaException 400",
	} {
		_, err := mock.New().Throttle().Handle(context.Background(), sim.Call{Resource: "arn:aws:states:::aws-sdk:" + resource})
		var failed *sim.TaskError
		require.ErrorAs(t, err, &failed, resource)
		name, status, _ := strings.Cut(want, " ")
		require.Equal(t, name, failed.Name, resource)
		require.Contains(t, failed.Cause, "Status Code: "+status+",", resource)
	}
}

// The errors of unknown jobs are errors of the models in Step Functions'
// spelling, or those that stand for all others of a service.
func TestUnknownJobsFailWithErrorsOfTheModels(t *testing.T) {
	t.Parallel()
	rows := 0
	mock.UnknownJob(func(call, name string, status int) {
		rows++
		key, action, _ := strings.Cut(call, ":")
		service, err := models.Load(key)
		require.NoError(t, err, call)
		if name == javasdk.ServiceException(service.Name) {
			return
		}
		declared := false
		for _, o := range service.Operations {
			if action != "" && !strings.EqualFold(o.Name, action) {
				continue
			}
			declared = declared || slices.ContainsFunc(o.Errors, func(e catalog.Error) bool {
				return javasdk.ExceptionName(service.Name, e.Shape) == name && (e.Status == 0 || e.Status == status)
			})
		}
		require.True(t, declared, "%s does not declare %s %d", call, name, status)
	})
	require.GreaterOrEqual(t, rows, 64)
}
