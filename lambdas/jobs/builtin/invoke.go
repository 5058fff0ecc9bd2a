package builtin

import (
	"context"
	"encoding/base64"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/lambdas/jobs/lambdajob"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// LambdaInvoke makes the driver of Lambda functions. Its calls go through package
// awsjob: the SDK's client of Lambda takes a millisecond of each start of a function.
func LambdaInvoke(e jobs.Environment) (jobs.Driver, error) {
	return lambdajob.FromEnvironment(e, Invoker(e.AWS))
}

// Invoker invokes Lambda functions as cfg says.
func Invoker(cfg aws.Config) lambdajob.Invoker { return invoker{awsjob.New(cfg)} }

type invoker struct{ client *awsjob.Client }

// InvokeAsync implements lambdajob.Invoker.
func (i invoker) InvokeAsync(ctx context.Context, function string, payload []byte) error {
	_, err := i.client.Call(ctx, invoke, map[string]any{
		"FunctionName": function, "InvocationType": "Event", "Payload": base64.StdEncoding.EncodeToString(payload),
	})
	return err
}

// invoke is the part of Lambda's operation Invoke that starts a function
// (https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html).
var invoke = func() *catalog.Operation {
	lambda := &catalog.Service{
		Name: "Lambda", Key: "lambda", ARNName: "lambda", ErrorPrefix: "Lambda", IAMPrefix: "lambda", APIVersion: "2015-03-31",
		Protocols: []catalog.Protocol{catalog.RESTJSON}, Endpoint: catalog.Endpoint{Prefix: "lambda", SigningName: "lambda"},
		Operations: map[string]*catalog.Operation{"Invoke": {
			Method: "POST", Path: "/2015-03-31/functions/{FunctionName}/invocations", InputShape: "InvocationRequest",
		}},
		Shapes: map[string]*catalog.Shape{"InvocationRequest": {Type: catalog.Structure, Members: catalog.Members{
			{Name: "FunctionName", Target: string(catalog.String), Required: true, In: catalog.InPath},
			{Name: "InvocationType", Target: string(catalog.String), In: catalog.InHeader, Wire: "X-Amz-Invocation-Type"},
			{Name: "Payload", Target: string(catalog.Blob), In: catalog.InPayload},
		}}},
	}
	if err := lambda.Link(); err != nil {
		panic(err) // it is whole
	}
	return lambda.Operations["Invoke"]
}()
