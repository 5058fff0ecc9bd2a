package typecheck

import (
	"errors"
	"fmt"
	"maps"
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
	// service is the one that is called; nil if it is not known.
	service *catalog.Service
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
	open, parsed, by := openSDK[name], []string(nil), integration{}
	if !sdk {
		by = optimized[r.Service]
		open, parsed = by.open[r.Action], by.parsed[r.Action]
	}
	a := API{Input: operation.Input, Output: operation.Output, service: service}
	a.takesNothing = operation.Input == nil || len(operation.Input.Members) == 0
	if slices.Contains(by.own, r.Action) {
		a.Input, a.takesNothing = nil, false
	}
	switch {
	case r.Pattern != "":
		a.Output = nil
		if status := service.Operations[describes[r.Service+":"+r.Action+r.Pattern]]; status != nil {
			a.Output = status.Output
		}
		if r.Pattern == ".sync:2" {
			parsed = []string{"Input", "Output"}
		}
	case by.renamed[r.Action] != "":
		a.Output = by.result(r.Action, operation.Output)
	}
	a.spelling = newSpelling(sdk, open, parsed)
	return a, nil
}

// FindOperation returns the operation that a resource calls; nil for one that the
// models do not know, and for an integration that is no operation of a service.
func FindOperation(resource string, models Models) (*catalog.Operation, error) {
	if r := asl.ParseResource(resource); !r.Direct && slices.Contains(optimized[r.Service].own, r.Action) {
		return nil, nil //nolint:nilnil // it takes something else
	}
	_, operation, err := find(resource, models)
	return operation, err
}

// OperationName is the name of the operation that a resource calls: RunJobFlow, of
// elasticmapreduce:createCluster.
func OperationName(r asl.Resource) string {
	if other := optimized[r.Service].renamed[r.Action]; other != "" {
		return other
	}
	return javasdk.Capitalize(r.Action)
}

// ResultPath is where the result of a resource has what stands at a path of the answer of
// its operation: ClusterId, of the JobFlowId of elasticmapreduce:createCluster.
func ResultPath(r asl.Resource, path string) string {
	for own, other := range optimized[r.Service].results[r.Action] {
		if rest, ok := strings.CutPrefix(path, other); ok {
			return own + rest
		}
	}
	return path
}

// OwnResult is the result of a resource by the answer of its operation, in the spelling of
// the model.
func OwnResult(r asl.Resource, answer any) any {
	if optimized[r.Service].renamed[r.Action] == "" {
		return answer
	}
	result, members := map[string]any{}, optimized[r.Service].results[r.Action]
	from, _ := answer.(map[string]any)
	for own, path := range members {
		name, first := strings.CutSuffix(path, "[0]")
		value := from[name]
		if list, ok := value.([]any); first && ok && len(list) > 0 {
			value = list[0]
		}
		if value != nil {
			result[own] = value
		}
	}
	return result
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
		if name = o.service; name == "" || slices.Contains(o.own, action) && o.renamed[action] == "" {
			return nil, nil, nil
		}
		action = OperationName(r)
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
	// results are the members of the results of renamed actions, and where the operation's
	// answer has them: itself, or the first of its list. A renamed action without any returns
	// nothing.
	results map[string]map[string]string
	// open are arguments that take any JSON value, by the action, and parsed are members of results that have the value
	// of the JSON that the API answers.
	open, parsed map[string][]string
}

// result is the shape of the result of a renamed action, out of that of its operation.
func (i integration) result(action string, output *catalog.Shape) *catalog.Shape {
	s := &catalog.Shape{Name: action, Type: catalog.Structure}
	for _, name := range slices.Sorted(maps.Keys(i.results[action])) {
		path, first := strings.CutSuffix(i.results[action][name], "[0]")
		m := output.Member(path)
		if m == nil {
			continue
		}
		own := catalog.Member{Name: name, Shape: m.Shape}
		if first {
			own.Shape = m.Shape.Element.Shape
		}
		s.Members = append(s.Members, own)
	}
	return s
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
		service: "emr", renamed: map[string]string{
			"createCluster": "RunJobFlow", "terminateCluster": "TerminateJobFlows", "addStep": "AddJobFlowSteps", "cancelStep": "CancelSteps",
			"setClusterTerminationProtection": "SetTerminationProtection", "modifyInstanceFleetByName": "ModifyInstanceFleet",
			"modifyInstanceGroupByName": "ModifyInstanceGroups",
		},
		results: map[string]map[string]string{
			"createCluster": {"ClusterArn": "ClusterArn", "ClusterId": "JobFlowId"},
			"addStep":       {"StepId": "StepIds[0]"},
			"cancelStep":    {"CancelStepsInfo": "CancelStepsInfoList[0]"},
		},
		own: []string{"terminateCluster", "addStep", "cancelStep", "setClusterTerminationProtection", "modifyInstanceFleetByName", "modifyInstanceGroupByName"},
	},
	"events":       {service: "events", open: map[string][]string{"putEvents": {"Detail"}}},
	"glue":         {service: "glue"},
	"lambda":       {service: "lambda", open: map[string][]string{"invoke": {"Payload"}}, parsed: map[string][]string{"invoke": {"Payload"}}},
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
