package asl_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

func TestPassingErrors(t *testing.T) {
	t.Parallel()
	require.Nil(t, asl.ParseResource("arn:aws:states:::aws-sdk:athena:getQueryExecution").PassingErrors(false), "its model describes them")
	api := asl.ParseResource("arn:aws:states:::http:invoke")
	require.Equal(t, []string{
		"States.Http.StatusCode.429", "States.Http.StatusCode.500", "States.Http.StatusCode.502", "States.Http.StatusCode.503",
		"States.Http.StatusCode.504", "States.Http.Socket",
	}, api.PassingErrors(false))
	require.Equal(t, []string{"States.Http.StatusCode.429"}, api.PassingErrors(true), "the request may have been done")
	for _, function := range []string{"arn:aws:states:::lambda:invoke", "arn:aws:lambda:us-east-1:123456789012:function:f"} {
		require.Contains(t, asl.ParseResource(function).PassingErrors(false), "Lambda.ServiceException", function)
	}
}

// What awserror says of an error and the lists of errors that pass agree.
func TestPassingErrorsPass(t *testing.T) {
	t.Parallel()
	for _, resource := range []string{"arn:aws:states:::lambda:invoke", "arn:aws:states:::http:invoke"} {
		r := asl.ParseResource(resource)
		for _, name := range r.PassingErrors(false) {
			require.True(t, awserror.ClassifyName(name, "").Passes(), name)
		}
	}
	for _, name := range asl.ParseResource("arn:aws:states:::http:invoke").PassingErrors(true) {
		require.Equal(t, awserror.Throttled, awserror.ClassifyName(name, ""), name)
	}
}

// A response that fails a request arrives by an error of its integration.
func TestHTTPError(t *testing.T) {
	t.Parallel()
	require.Equal(t, "States.Http.StatusCode.404", asl.ParseResource("arn:aws:states:::http:invoke").HTTPError(404))
	require.Equal(t, "ApiGateway.429", asl.ParseResource("arn:aws:states:::apigateway:invoke").HTTPError(429))
	require.Equal(t, "EKS.503", asl.ParseResource("arn:aws:states:::eks:call").HTTPError(503))
	require.Empty(t, asl.ParseResource("arn:aws:states:::lambda:invoke").HTTPError(429))
}

func TestReadsBy(t *testing.T) {
	t.Parallel()
	require.True(t, asl.ReadsBy("OPTIONS"))
	require.False(t, asl.ReadsBy("POST"))
	require.False(t, asl.ReadsBy(""), "it is not known")
}
