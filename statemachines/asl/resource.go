package asl

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Resource is the resource of a Task, taken apart.
type Resource struct {
	// Service is "aws-sdk:dynamodb", "lambda", "sqs" and so on for an
	// integration, "lambda" for the ARN of a function, "activity" for that of an
	// activity, and empty for any other resource.
	Service string
	// Action is the API action, "describeExport"; empty for a function or an
	// activity.
	Action string
	// Pattern is ".sync", ".sync:2", ".waitForTaskToken" or empty.
	Pattern string
	// Direct is set for the ARN of a Lambda function or an activity.
	Direct bool
}

// SDK returns the name of the service if the resource is an AWS SDK
// integration.
func (r Resource) SDK() (service string, ok bool) { return strings.CutPrefix(r.Service, sdkPrefix) }

// IsFunction tells whether the resource is the ARN of a Lambda function.
func (r Resource) IsFunction() bool { return r.Direct && r.Service == "lambda" }

const (
	sdkPrefix = "aws-sdk:"
	activity  = "activity"
)

// ErrorPrefix returns what the names of the errors of an AWS SDK integration
// start with: "DynamoDb" for "aws-sdk:dynamodb". It is empty for any other
// resource and for a service that is not known.
func (r Resource) ErrorPrefix() string {
	service, ok := r.SDK()
	if i, found := slices.BinarySearch(sdkServices, service); ok && found {
		return sdkPrefixes[i]
	}
	return ""
}

// throttleNames are the errors by which throttled calls arrive, by the service of integrations that AWS
// made for Step Functions. Source: executions recorded at AWS, and the exceptions of the SDK for Java 1
// of which they show the names.
var throttleNames = map[string]string{
	"athena":    "Athena.AmazonAthenaException",
	"batch":     "Batch.AWSBatchException",
	"codebuild": "CodeBuild.AWSCodeBuildException",
	"dynamodb":  "DynamoDB.ProvisionedThroughputExceededException",
	"ecs":       "ECS.AmazonECSException",
	"glue":      "Glue.AWSGlueException",
	"lambda":    "Lambda.TooManyRequestsException",
	"sagemaker": "SageMaker.AmazonSageMakerException",
	"sns":       "SNS.ThrottledException",
	"sqs":       "SQS.AmazonSQSException",
	"states":    "StepFunctions.AWSStepFunctionsException",
}

// ThrottleName is the error by which a throttled call of an integration arrives that AWS made for Step
// Functions; empty where that is not known.
func (r Resource) ThrottleName() string { return throttleNames[r.Service] }

// HTTPTooMany is the error of an HTTP Task that made too many requests: the request was not carried out.
const HTTPTooMany = "States.Http.StatusCode.429"

// HTTPPassing are the errors of an HTTP Task that pass by themselves, as AWS's page on HTTP Tasks retries them.
func HTTPPassing() []string {
	return []string{HTTPTooMany, "States.Http.StatusCode.502", "States.Http.StatusCode.503", "States.Http.StatusCode.504"}
}

// HTTPError is the error of a request whose response has a code by which it failed: an HTTP Task's, or a call of API Gateway.
func (r Resource) HTTPError(code int) string {
	if r.Service == "apigateway" {
		return fmt.Sprintf("ApiGateway.%d", code)
	}
	return fmt.Sprintf("States.Http.StatusCode.%d", code)
}

// TooManyRequests is the error of a request that was throttled: it was not carried out.
func (r Resource) TooManyRequests() string { return r.HTTPError(429) } //nolint:mnd // the code has that name

// ServiceName is the service that a Task calls, with or without an AWS SDK integration: "sns" of
// "sns" and of "aws-sdk:sns".
func (r Resource) ServiceName() string {
	if name, ok := r.SDK(); ok {
		return name
	}
	return r.Service
}

// WaitsForToken tells whether the Task ends when a task token comes back.
func (r Resource) WaitsForToken() bool { return r.Pattern == ".waitForTaskToken" }

// filledIn is what a template fills in, such as ${AWS::Partition}.
var filledIn = regexp.MustCompile(`\$\{[^}]*\}`)

// ParseResource takes the ARN of a resource apart.
func ParseResource(arn string) Resource {
	const service, kind = 2, 5
	if strings.Contains(arn, "${") {
		arn = filledIn.ReplaceAllStringFunc(arn, func(name string) string { return strings.ReplaceAll(name, ":", ".") })
	}
	parts := strings.SplitN(arn, ":", kind+1)
	if len(parts) <= kind {
		return Resource{}
	}
	switch {
	case parts[service] == "lambda":
		return Resource{Service: "lambda", Direct: true}
	case parts[service] != "states":
		return Resource{}
	case strings.HasPrefix(parts[kind], "activity:"):
		return Resource{Service: activity, Direct: true}
	}
	r := Resource{Service: parts[kind]}
	if i := strings.LastIndexByte(strings.TrimSuffix(r.Service, ":2"), ':'); i >= 0 {
		r.Service, r.Action = r.Service[:i], r.Service[i+1:]
	}
	if i := strings.IndexByte(r.Action, '.'); i >= 0 {
		r.Action, r.Pattern = r.Action[:i], r.Action[i:]
	}
	return r
}

// PassingErrors are the errors of an HTTP Task that pass by themselves, and after which a request may be made again;
// of any other resource they are nil. A request that changes something may be made again only after a throttled one.
// Source: the retries of an HTTP Task in the Step Functions Developer Guide.
func (r Resource) PassingErrors(changes bool) []string {
	switch {
	case r.Service != "http":
		return nil
	case changes:
		return []string{"States.Http.StatusCode.429"}
	default:
		return []string{"States.Http.StatusCode.429", "States.Http.StatusCode.502", "States.Http.StatusCode.503", "States.Http.StatusCode.504", "States.Http.Socket"}
	}
}
