package handler

import (
	"context"
	"encoding/json"
	"log"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
)

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
