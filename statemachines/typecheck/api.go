package typecheck

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// Models returns a service by its name in the ARN of an SDK integration or by
// that of the AWS CLI; of a service that it does not know its error is
// catalog.ErrNotFound. models.Load is one.
type Models func(service string) (*catalog.Service, error)

// API is what a Task's integration takes and gives. The zero value is one of
// which nothing is known; nor is anything known of a Lambda function called by
// its ARN, or an activity. An API serves one goroutine.
type API struct {
	// Input and Output are the shapes of the arguments and of the Task's result;
	// nil if they are not known or not those of the operation.
	Input, Output *catalog.Shape
	// takesNothing is set if the operation has no input.
	takesNothing bool
	// noSuch is the service that has no such operation; nil if it has.
	noSuch *catalog.Service
	// spelling is how the integration names members; nil if none is known.
	spelling *spelling
}

// FindAPI returns the API of a resource as a definition has it.
func FindAPI(resource string, models Models) (API, error) {
	service, operation, err := find(resource, models)
	r := asl.ParseResource(resource)
	name, sdk := r.SDK()
	if operation == nil {
		a := API{}
		if sdk {
			a.noSuch = service
		}
		return a, err
	}
	open := openSDK[name]
	if !sdk {
		open = optimized[r.Service].open[r.Action]
	}
	a := API{Input: operation.Input, Output: operation.Output}
	a.takesNothing = operation.Input == nil || len(operation.Input.Members) == 0
	switch {
	case r.Pattern != "":
		a.Output = nil
		if status := service.Operations[describes[r.Service+":"+r.Action+r.Pattern]]; status != nil {
			a.Output = status.Output
		}
		if r.Pattern == ".sync:2" {
			open = append(slices.Clone(open), "Input", "Output")
		}
	case operation.Name != javasdk.Capitalize(r.Action):
		a.Output = nil // the integration is not the operation
	}
	a.spelling = newSpelling(sdk, open)
	return a, nil
}

// FindOperation returns the operation that a resource calls; nil for one that the
// models do not know, and for an integration that is no operation of a service.
func FindOperation(resource string, models Models) (*catalog.Operation, error) {
	_, operation, err := find(resource, models)
	return operation, err
}

// find returns the service and the operation of a resource, each nil if it is not
// known.
func find(resource string, models Models) (*catalog.Service, *catalog.Operation, error) {
	r := asl.ParseResource(resource)
	if models == nil || r.Direct || r.Action == "" {
		return nil, nil, nil
	}
	name, sdk := r.SDK()
	action := r.Action
	if !sdk {
		o := optimized[r.Service]
		if name = o.service; name == "" || slices.Contains(o.own, action) {
			return nil, nil, nil
		}
		if other := o.renamed[action]; other != "" {
			action = other
		}
	}
	service, err := models(name)
	if errors.Is(err, catalog.ErrNotFound) {
		return nil, nil, nil
	} else if err != nil {
		return nil, nil, fmt.Errorf("the model of %s: %w", name, err)
	}
	return service, service.Operations[javasdk.Capitalize(action)], nil
}

// describes are the operations whose output is the result of a Task that ends
// with its job, by the integration. Source: executions recorded at AWS.
var describes = map[string]string{
	"states:startExecution.sync":   "DescribeExecution",
	"states:startExecution.sync:2": "DescribeExecution",
}

// integration is how an integration that AWS made for Step Functions relates to
// the service's API.
type integration struct {
	service string            // the model's
	own     []string          // actions that are no operations of the service, or take something else
	renamed map[string]string // operations of actions that are called otherwise
	// open are members that take any JSON value, by the action.
	open map[string][]string
}

// optimized are the integrations by their names. apigateway and http call no
// AWS API. Source: the developer guide, the pages "Call ... with Step
// Functions"; those that take objects where the API has text are recorded too.
var optimized = map[string]integration{
	"athena":         {service: "athena"},
	"batch":          {service: "batch"},
	"bedrock":        {service: "bedrock", own: []string{"invokeModel"}},
	"codebuild":      {service: "codebuild"},
	"databrew":       {service: "databrew"},
	"dynamodb":       {service: "dynamodb"},
	"ecs":            {service: "ecs"},
	"eks":            {service: "eks", own: []string{"call", "runJob"}},
	"emr-containers": {service: "emr-containers"},
	"emr-serverless": {service: "emr-serverless"},
	"elasticmapreduce": {
		service: "emr", renamed: map[string]string{"createCluster": "RunJobFlow"},
		own: []string{"terminateCluster", "addStep", "cancelStep", "setClusterTerminationProtection", "modifyInstanceFleetByName", "modifyInstanceGroupByName"},
	},
	"events":       {service: "events", open: map[string][]string{"putEvents": {"Detail"}}},
	"glue":         {service: "glue"},
	"lambda":       {service: "lambda", open: map[string][]string{"invoke": {"Payload"}}},
	"mediaconvert": {service: "mediaconvert"},
	"sagemaker":    {service: "sagemaker"},
	"sns":          {service: "sns", open: map[string][]string{"publish": {"Message"}}},
	"sqs":          {service: "sqs", open: map[string][]string{"sendMessage": {"MessageBody"}}},
	"states":       {service: "stepfunctions", open: map[string][]string{"startExecution": {"Input"}}},
}

// openSDK are members of SDK integrations, by the service, that hold JSON text
// and take the JSON itself: a task's output, an execution's input. Source: AWS's
// samples app-meeting-summarization and parallel-agent-early-stopping.
var openSDK = map[string][]string{"sfn": {"Input", "Output"}}

// attributeTypes are the types of a DynamoDB attribute that go by another name
// in the SDK for Java, in which null is a word of the language; Step Functions
// was seen to take its own name too. Source: aws-sdk-java-v2, customization.config
// of DynamoDB.
var attributeTypes = map[string]string{"Nul": "NULL", "NULL": "NULL"}

// similar is the member that was meant by a name with other capitals, or empty.
func similar(s *catalog.Shape, name string) string {
	for i := range s.Members {
		if known := javasdk.MemberName(s.Members[i].Name); strings.EqualFold(known, name) {
			return known
		}
	}
	return ""
}

// The members that integrations which AWS made itself add to a result.
const (
	httpMetadata     = "SdkHttpMetadata"
	responseMetadata = "SdkResponseMetadata"
)

// result is what is known of the result of a Task.
func (a *API) result() Value {
	if a.Output == nil {
		return Value{}.without(missing)
	}
	v := a.spelling.value(a.Output)
	if r := v.record(); r != nil && !a.spelling.sdk {
		// Integrations that AWS made itself have these on top.
		r = r.with(httpMetadata, Value{}).with(responseMetadata, Value{})
		return objectOf(r)
	}
	return v.only(objects)
}
