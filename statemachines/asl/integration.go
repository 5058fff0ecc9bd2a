package asl

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/internal/nearest"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// action is an action of an integration that AWS made for Step Functions.
type action struct {
	// patterns are those that it can be called by besides request-response.
	patterns string
	// required are the fields that AWS refuses a call without, as far as that is
	// known, and optional the others; both empty if the fields are not known.
	required, optional string
}

// The patterns of integrations.
const (
	sync  = ".sync "
	sync2 = ".sync:2 "
	token = ".waitForTaskToken "
)

// Fields of several actions.
const (
	conditions = "ConditionExpression ConditionalOperator Expected ExpressionAttributeNames ExpressionAttributeValues " +
		"ReturnConsumedCapacity ReturnItemCollectionMetrics ReturnValues ReturnValuesOnConditionCheckFailure "
	runTask = "CapacityProviderStrategy ClientToken Cluster Count EnableECSManagedTags EnableExecuteCommand Group LaunchType " +
		"NetworkConfiguration Overrides PlacementConstraints PlacementStrategy PlatformVersion PropagateTags ReferenceId StartedBy " +
		"Tags VolumeConfigurations"
	startJobRun = "AllocatedCapacity Arguments ExecutionClass ExecutionRoleSessionPolicy JobRunId JobRunQueuingEnabled MaxCapacity " +
		"NotificationProperty NumberOfWorkers SecurityConfiguration Timeout WorkerType"
)

// optimized is every action of the integrations that AWS made for Step
// Functions. Sources: the developer guide, "Integrating optimized services", for
// the actions and patterns, which AWS holds to (measured for .sync and
// .waitForTaskToken by services); for required fields what AWS was measured to
// refuse a call without; for all fields the model of the service, of which an
// integration takes all or fewer.
var optimized = map[string]map[string]action{
	"apigateway": {"invoke": {patterns: token}},
	"athena": {
		"startQueryExecution": {patterns: sync}, "stopQueryExecution": {}, "getQueryExecution": {}, "getQueryResults": {},
	},
	"batch": {"submitJob": {patterns: sync}},
	"bedrock": {
		"invokeModel": {patterns: token}, "createModelCustomizationJob": {patterns: sync + token},
	},
	"bedrockagentcore": {"invokeHarness": {}},
	"codebuild": {
		"startBuild": {patterns: sync}, "stopBuild": {}, "batchDeleteBuilds": {}, "batchGetReports": {}, "startBuildBatch": {patterns: sync},
		"stopBuildBatch": {}, "retryBuildBatch": {patterns: sync}, "deleteBuildBatch": {},
	},
	"databrew": {"startJobRun": {patterns: sync}},
	"dynamodb": {
		"getItem":    {required: "TableName Key", optional: "AttributesToGet ConsistentRead ExpressionAttributeNames ProjectionExpression ReturnConsumedCapacity"},
		"putItem":    {required: "TableName Item", optional: conditions},
		"updateItem": {optional: "TableName Key AttributeUpdates UpdateExpression " + conditions},
		"deleteItem": {optional: "TableName Key " + conditions},
	},
	"ecs": {"runTask": {patterns: sync + token, required: "TaskDefinition", optional: runTask}},
	"eks": {
		"createCluster": {patterns: sync + token}, "deleteCluster": {patterns: sync + token}, "createNodegroup": {patterns: sync + token},
		"deleteNodegroup": {patterns: sync + token}, "createFargateProfile": {patterns: sync + token},
		"deleteFargateProfile": {patterns: sync + token}, "call": {patterns: token}, "runJob": {patterns: sync + token},
	},
	"elasticmapreduce": {
		"createCluster": {patterns: sync}, "terminateCluster": {patterns: sync}, "addStep": {patterns: sync}, "cancelStep": {},
		"setClusterTerminationProtection": {}, "modifyInstanceFleetByName": {}, "modifyInstanceGroupByName": {},
	},
	"emr-containers": {"createVirtualCluster": {}, "deleteVirtualCluster": {patterns: sync}, "startJobRun": {patterns: sync}},
	"emr-serverless": {
		"createApplication": {patterns: sync}, "startApplication": {patterns: sync}, "stopApplication": {patterns: sync},
		"deleteApplication": {patterns: sync}, "startJobRun": {patterns: sync}, "cancelJobRun": {patterns: sync},
	},
	"events": {"putEvents": {patterns: token, required: "Entries", optional: "EndpointId"}},
	"glue":   {"startJobRun": {patterns: sync, required: "JobName", optional: startJobRun}},
	"http":   {"invoke": {}},
	"lambda": {"invoke": {
		patterns: token, required: "FunctionName", optional: "ClientContext DurableExecutionName InvocationType LogType Payload Qualifier TenantId",
	}},
	"mediaconvert": {"createJob": {patterns: sync}},
	"sagemaker": {
		"createEndpoint": {}, "createEndpointConfig": {}, "createHyperParameterTuningJob": {patterns: sync},
		"createLabelingJob": {patterns: sync}, "createModel": {}, "createProcessingJob": {patterns: sync},
		"createTrainingJob": {patterns: sync}, "createTransformJob": {patterns: sync}, "updateEndpoint": {},
	},
	"sns": {"publish": {
		patterns: token, required: "Message",
		optional: "MessageAttributes MessageDeduplicationId MessageGroupId MessageStructure PhoneNumber Subject TargetArn TopicArn",
	}},
	"sqs": {"sendMessage": {
		patterns: token, required: "QueueUrl MessageBody",
		optional: "DelaySeconds MessageAttributes MessageDeduplicationId MessageGroupId MessageSystemAttributes",
	}},
	"states": {"startExecution": {patterns: sync + sync2 + token, required: "StateMachineArn", optional: "Input Name TraceHeader"}},
}

// checkIntegration reports a resource that AWS does not recognize.
func (p *parser) checkIntegration(n *jsontree.Node, r Resource) {
	switch service, isSDK := r.SDK(); {
	case r.Direct || slices.Contains(p.newer, r.Service+":"+r.Action+r.Pattern):
	case r.Service == "" || r.Action == "":
		p.add(n.Problem("expected the ARN of a Lambda function, an activity or an integration such as "+
			"\"arn:aws:states:::aws-sdk:dynamodb:describeExport\", found %s", n.Describe()))
	case isSDK:
		p.checkSDK(n, service, r)
	default:
		p.checkOptimized(n, r)
	}
}

func (p *parser) checkSDK(n *jsontree.Node, service string, r Resource) {
	if first, _ := utf8.DecodeRuneInString(r.Action); unicode.IsUpper(first) {
		p.add(p.inARN(n, r.Action, "the action of an AWS SDK integration starts with a small letter, found %q", r.Action).
			Suggest(r.Action, strings.ToLower(r.Action[:1])+r.Action[1:]))
	}
	if r.Pattern != "" && !r.WaitsForToken() {
		p.add(p.inARN(n, r.Pattern, "an AWS SDK integration cannot be called with %q, only with \".waitForTaskToken\" or none", r.Pattern))
	}
	if service != strings.ToLower(service) {
		p.add(p.inARN(n, service, "the service of an AWS SDK integration is in small letters, found %q", service).Suggest(service, sdkServices...))
	} else if _, ok := slices.BinarySearch(sdkServices, service); !ok {
		p.unknownService(n, service)
	}
}

// unknownService reports a service that AWS had not when the list of services was
// made. It is an error if the name is another tool's for a service of the list;
// else AWS may have added it since, as it does every few weeks.
func (p *parser) unknownService(n *jsontree.Node, service string) {
	name, ok := renamedServices[service]
	if plain := strings.ReplaceAll(service, "-", ""); !ok {
		_, ok = slices.BinarySearch(sdkServices, plain)
		name = plain
	}
	if ok {
		problem := p.inARN(n, service, "an AWS SDK integration of %q has another name", service)
		problem.Suggestion = name
		p.add(problem)
		return
	}
	p.warn(p.inARN(n, service, "no AWS SDK integration of a service %q is known: AWS refuses it, unless the service is new", service).
		Suggest(service, sdkServices...))
}

func (p *parser) checkOptimized(n *jsontree.Node, r Resource) {
	actions, ok := optimized[r.Service]
	if !ok {
		p.add(p.inARN(n, r.Service, "there is no integration %q; an AWS SDK integration is written \"aws-sdk:%s\"", r.Service, r.Service).
			Suggest(r.Service, slices.Sorted(maps.Keys(optimized))...))
		return
	}
	known, ok := actions[r.Action]
	switch {
	case !ok:
		p.add(p.inARN(n, r.Action, "the integration %q has no action %q; \"aws-sdk:%s:%s\" may be what is meant", r.Service, r.Action, r.Service, r.Action).
			Suggest(r.Action, nearest.Names(r.Action, slices.Sorted(maps.Keys(actions)))...))
	case r.Pattern == "" || strings.Contains(known.patterns, r.Pattern+" "):
	case known.patterns == "":
		p.add(p.inARN(n, r.Pattern, "%s:%s cannot be called with %q", r.Service, r.Action, r.Pattern))
	default:
		p.add(p.inARN(n, r.Pattern, "%s:%s cannot be called with %q, only with %s or none", r.Service, r.Action, r.Pattern,
			strings.Join(strings.Fields(known.patterns), ", ")))
	}
}

// checkCall reports a Task that calls an integration without what it needs, or
// with fields that the integration does not have.
func (p *parser) checkCall(o *object, r Resource) {
	known := optimized[r.Service][r.Action]
	call := o.get(p.arguments())
	if call == nil && r.Action != "" && !r.Direct {
		p.add(o.node.Get("Resource").Problem(
			"a call of %s:%s needs the field %q; for a call without arguments write \"%[3]s\": {}", r.Service, r.Action, p.arguments()))
	}
	if known.optional == "" || call == nil || call.Kind != jsontree.Object {
		return
	}
	required, given := strings.Fields(known.required), map[string]bool{}
	fields := slices.Concat(required, strings.Fields(known.optional))
	for _, m := range call.Members {
		name := strings.TrimSuffix(m.Name, ".$")
		given[name] = true
		if !slices.Contains(fields, name) {
			p.add(call.MemberProblem(m, "%s:%s has no field %q", r.Service, r.Action, name).Suggest(name, fields...))
		}
	}
	for _, name := range required {
		if !given[name] {
			p.add(call.Problem("%s:%s needs the field %q", r.Service, r.Action, name))
		}
	}
}

// inARN returns a problem that stands at a part of a resource.
func (p *parser) inARN(n *jsontree.Node, part, format string, args ...any) diag.Problem {
	return p.within(n, max(0, strings.LastIndex(n.Text, part)), format, args...)
}
