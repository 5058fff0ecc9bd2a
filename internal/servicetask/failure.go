package servicetask

import (
	"errors"
	"fmt"

	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
)

// failure is the error of a call as the failure of its Task, by the name that Step
// Functions gives it, so that Retry and Catch match. What is wrong with the set-up
// stays as it is: it ends the run.
func (t *task) failure(call sim.Call, err error) error {
	if errors.Is(err, jobs.ErrArguments) || errors.Is(err, awsjob.ErrUnsupported) {
		return fmt.Errorf("state %q: %w", call.State, err)
	}
	if _, unsigned := errors.AsType[*v4.SigningError](err); unsigned {
		return fmt.Errorf("state %q: %s: %w", call.State, call.Resource, err)
	}
	said, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return mock.ClientFailure(call.Resource, t.operation, plainText(err))
	}
	answer := mock.Answer{Code: said.ErrorCode(), Message: said.ErrorMessage()}
	if e, ok := errors.AsType[*awsjob.Error](err); ok {
		answer.Other = e.Other
	}
	if response, ok := errors.AsType[*awshttp.ResponseError](err); ok {
		answer.Status, answer.RequestID = response.HTTPStatusCode(), response.ServiceRequestID()
	}
	return mock.ServiceFailure(call.Resource, t.operation, answer)
}

// plainText is an error without what the SDK says of the operation.
func plainText(err error) string {
	if operation, ok := errors.AsType[*smithy.OperationError](err); ok {
		err = operation.Err
	}
	return err.Error()
}
