package handler

import (
	"context"
	"encoding/json"
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
)

// handlerVariable has the function's handler setting
// (https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html).
const handlerVariable = "_HANDLER"

// Main is the main of all functions: it serves the one that Lambda's handler setting
// names, which is run-job, check-status or collector, as Serve does, and does not return.
//
//	func main() { handler.Main(anystore.Open, append(builtin.Drivers(), newReport)...) }
func Main(open StoreMaker, drivers ...jobs.Maker) {
	switch name := os.Getenv(handlerVariable); name {
	case "run-job":
		Serve((*Handler).RunJob, open, drivers...)
	case "check-status":
		Serve((*Handler).CheckStatus, open, drivers...)
	case "collector":
		Serve((*Handler).Collect, open, drivers...)
	default:
		failure := fail(ErrorConfiguration, "the function's handler must be run-job, check-status or collector, is %q: "+
			"correct its setting Handler; for jobpoller run and serve, pass --lambda NAME=go:./functions#run-job", name)
		lambda.Start(func(context.Context, json.RawMessage) (any, error) { return nil, border(failure) })
	}
}

// Serve is the main of a Lambda function: it runs one of the handlers, set up as
// FromEnvironment does it, and does not return.
//
//	func main() { handler.Serve((*handler.Handler).RunJob, anystore.Open, builtin.Drivers()...) }
//
// A function whose environment is wrong answers each invocation with
// ErrorConfiguration and all that is wrong. If its process ended instead, Lambda
// would report Runtime.ExitError, which state machines retry in vain.
func Serve[Out any](handler func(*Handler, context.Context, json.RawMessage) (Out, error), open StoreMaker, drivers ...jobs.Maker) {
	p, err := FromEnvironment(open, drivers...)
	logger := new(environment).logger() // its problems are those of err
	log.SetFlags(0)
	log.SetOutput(runtimeLog{logger})
	if err != nil {
		failure := failWith(ErrorConfiguration, err)
		lambda.Start(func(ctx context.Context, _ json.RawMessage) (out Out, err error) {
			logger.ErrorContext(ctx, "the function is not set up", "error", failure.Name, "reason", failure.Message)
			return out, border(failure)
		})
	}
	lambda.Start(func(ctx context.Context, payload json.RawMessage) (Out, error) { return handler(p, ctx, payload) })
}
