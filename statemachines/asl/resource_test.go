package asl_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

func TestPassingErrors(t *testing.T) {
	t.Parallel()
	require.Nil(t, asl.ParseResource("arn:aws:states:::lambda:invoke").PassingErrors(false))
	api := asl.ParseResource("arn:aws:states:::http:invoke")
	require.Contains(t, api.PassingErrors(false), "States.Http.StatusCode.503")
	require.Equal(t, []string{"States.Http.StatusCode.429"}, api.PassingErrors(true), "the request may have been done")
}

// A response that fails a request arrives by an error of its integration.
func TestHTTPError(t *testing.T) {
	t.Parallel()
	require.Equal(t, "States.Http.StatusCode.404", asl.ParseResource("arn:aws:states:::http:invoke").HTTPError(404))
	require.Equal(t, "ApiGateway.429", asl.ParseResource("arn:aws:states:::apigateway:invoke").HTTPError(429))
}
