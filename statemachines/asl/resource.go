package asl

import (
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
