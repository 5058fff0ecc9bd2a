package handler_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
)

// settings are a source of configuration such as the SDK's loader makes.
type endpointSettings struct{ fips, dualStack bool }

func (s endpointSettings) GetUseFIPSEndpoint(context.Context) (aws.FIPSEndpointState, bool, error) {
	return aws.FIPSEndpointStateEnabled, s.fips, nil
}

func (s endpointSettings) GetUseDualStackEndpoint(context.Context) (aws.DualStackEndpointState, bool, error) {
	return aws.DualStackEndpointStateEnabled, s.dualStack, nil
}

// Requests go where those of the SDK's client go, and say the same.
func TestTaskAnswersAreTheSDKs(t *testing.T) {
	t.Parallel()
	for _, region := range []string{"us-east-1", "eu-west-1", "us-gov-west-1", "us-gov-east-1", "cn-north-1", "eusc-de-east-1", "us-iso-east-1"} {
		for _, settings := range []endpointSettings{{}, {fips: true}, {dualStack: true}, {true, true}} {
			ours, theirs := &wire{}, &wire{}
			cfg := wired(theirs, region)
			cfg.Retryer = func() aws.Retryer { return aws.NopRetryer{} }
			cfg.ConfigSources = []any{settings}
			client := sfn.NewFromConfig(cfg)
			_, err := client.SendTaskSuccess(t.Context(), &sfn.SendTaskSuccessInput{TaskToken: aws.String("T"), Output: aws.String(`{"a":1}`)})
			require.ErrorIs(t, err, errNotAnswered)
			_, err = client.SendTaskFailure(t.Context(), &sfn.SendTaskFailureInput{TaskToken: aws.String("T"), Error: aws.String("E"), Cause: aws.String("C")})
			require.ErrorIs(t, err, errNotAnswered)

			cfg.HTTPClient = ours
			states, err := handler.NewStepFunctions(cfg)
			require.NoError(t, err)
			require.ErrorIs(t, states.Succeed(t.Context(), "T", json.RawMessage(`{"a":1}`)), errNotAnswered)
			require.ErrorIs(t, states.Fail(t.Context(), "T", "E", "C"), errNotAnswered)
			require.Equal(t, theirs.bodies, ours.bodies)
			for i, r := range ours.sent {
				require.Equal(t, theirs.sent[i].URL.String(), r.URL.String(), "%s %v", region, settings)
				for _, header := range []string{"X-Amz-Target", "Content-Type"} {
					require.Equal(t, theirs.sent[i].Header.Get(header), r.Header.Get(header))
				}
				require.Contains(t, r.Header.Get("Authorization"), "/"+region+"/states/aws4_request")
			}
		}
	}
}

// The errors of Step Functions keep their codes.
func TestTaskErrors(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"TaskTimedOut": "", "TaskDoesNotExist": "", "InvalidToken": "",
		"ThrottlingException": handler.ErrorServiceUnavailable, "AccessDeniedException": handler.ErrorConfiguration, "InvalidOutput": handler.ErrorConfiguration,
	} {
		synctest.Test(t, func(t *testing.T) {
			w := &wire{answer: func(string, map[string]any) (int, string) {
				return http.StatusBadRequest, `{"__type": "com.amazonaws.swf.service.v2.model#` + code + `", "message": "text"}`
			}}
			states, err := handler.NewStepFunctions(wired(w, "eu-west-1"))
			require.NoError(t, err)
			p := &handler.Handler{Config: handler.Config{Tasks: states, Random: func(int64) int64 { return 0 }}}
			require.Equal(t, code, goerror.Code(states.Succeed(t.Context(), "T", json.RawMessage(`{}`))))
			w.sent = nil
			waited, err := p.EndTask(t.Context(), "T", &handler.Result{})
			require.False(t, waited)
			switch {
			case want == "":
				require.NoError(t, err)
				require.Len(t, w.sent, 1)
			case code == "ThrottlingException":
				require.Len(t, w.sent, 3*handler.MaxAnswers, "the SDK's retries and those between its calls")
				require.Equal(t, want, handler.TaskError(err).Name)
			default:
				require.Equal(t, want, handler.TaskError(err).Name)
			}
		})
	}
}
