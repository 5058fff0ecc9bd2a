package typecheck_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// The code of a call that succeeds follows from the call, where AWS says so.
func TestCodesOfCallsThatSucceed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		resource, arguments string
		code, metadata      []float64
	}{
		{"lambda:invoke", `{"FunctionName": "f"}`, []float64{200}, []float64{200}},
		{"lambda:invoke", `{"FunctionName.$": "$.f", "InvocationType": "RequestResponse"}`, []float64{200}, []float64{200}},
		{"lambda:invoke", `{"FunctionName": "f", "InvocationType": "Event"}`, []float64{202}, []float64{202}},
		{"lambda:invoke", `{"FunctionName": "f", "InvocationType": "DryRun"}`, []float64{204}, []float64{204}},
		{"lambda:invoke", `{"FunctionName": "f", "InvocationType.$": "$.t"}`, []float64{200, 202, 204}, []float64{200, 202, 204}},
		{"lambda:invoke.waitForTaskToken", `{"FunctionName": "f", "Payload.$": "$$.Task.Token"}`, nil, nil},
		{"aws-sdk:lambda:invoke", `{"FunctionName": "f"}`, []float64{200}, nil},
		{"athena:getQueryExecution", `{"QueryExecutionId": "q"}`, nil, []float64{200}},
		{"mediaconvert:createJob", `{"Role": "r", "Settings": {}}`, nil, nil}, // its code is 201
	} {
		t.Run(tt.resource+tt.arguments, func(t *testing.T) {
			t.Parallel()
			m, err := asl.Parse(fmt.Appendf(nil, `{"StartAt": "S", "States": {"S": {"Type": "Task", "Resource": "arn:aws:states:::%s", "Parameters": %s, "End": true}}}`,
				tt.resource, tt.arguments))
			require.NoError(t, err)
			c, err := typecheck.New(m, typecheck.Options{Models: models.Load})
			require.NoError(t, err)
			result := c.Result(m.State("S"))
			require.Equal(t, tt.code, result.Member("StatusCode").Numbers())
			require.Equal(t, tt.metadata, result.Member("SdkHttpMetadata").Member("HttpStatusCode").Numbers())
			without, err := c.WithoutCodes()
			require.NoError(t, err)
			require.Nil(t, without.Result(m.State("S")).Member("StatusCode").Numbers())
		})
	}
}
