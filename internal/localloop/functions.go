// Package localloop lets the state machines of package sim invoke run-job and
// check-status on this machine: in this process or in processes of their own, with
// a function around each call that they make of their store and their driver. It runs
// the collector on the clock of the machines.
package localloop

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/aws/aws-lambda-go/lambda/messages"

	"github.com/jobpoller/jobpoller/internal/runtimeapi"
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/statemachines"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// Timeout is the time limit of the functions, as the shipped definitions say of them.
const Timeout = 30 * time.Second

// Functions returns both functions of a handler, by the names that the shipped
// definitions invoke.
func Functions(h *handler.Handler) map[string]sim.LambdaFunction {
	return map[string]sim.LambdaFunction{
		statemachines.RunJobFunction:      inProcess(h.RunJob),
		statemachines.CheckStatusFunction: inProcess(h.CheckStatus),
	}
}

// Handlers returns the handlers of a run whose Tasks invoke functions.
func Handlers(functions map[string]sim.LambdaFunction) map[string]sim.Handler {
	return map[string]sim.Handler{"arn:aws:states:::lambda:invoke": sim.LambdaInvoke(functions)}
}

// inProcess is a function as aws-lambda-go runs it, with the time limit.
func inProcess(function func(context.Context, json.RawMessage) (*handler.Result, error)) sim.LambdaFunction {
	return func(ctx context.Context, payload []byte) ([]byte, error) {
		ctx, cancel := context.WithTimeout(ctx, Timeout)
		defer cancel()
		result, err := function(ctx, payload)
		if named, ok := err.(messages.InvokeResponse_Error); ok { //nolint:errorlint // aws-lambda-go looks no deeper
			return nil, &sim.FunctionError{Type: named.Type, Message: named.Message}
		}
		if err != nil {
			return nil, err
		}
		return json.Marshal(result)
	}
}

// Process is a function behind a local Runtime API.
func Process(function *runtimeapi.Function) sim.LambdaFunction {
	return func(ctx context.Context, payload []byte) ([]byte, error) {
		result, err := function.Invoke(ctx, payload)
		if failure, ok := errors.AsType[*runtimeapi.FunctionError](err); ok {
			return nil, &sim.FunctionError{Type: failure.Type, Message: failure.Message, Payload: failure.Body}
		}
		return result, err
	}
}
