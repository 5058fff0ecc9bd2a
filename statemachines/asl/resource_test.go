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
