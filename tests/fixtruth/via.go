package fixtruth

import "strings"

// via is how a machine calls something of the user's own; empty for an operation of a service.
type via string

const (
	lambdaInvoke  via = "Lambda"
	functionARN   via = "ARN of a function"
	httpTask      via = "HTTP Task"
	nestedMachine via = "nested machine"
)

// carrier is what calls something of the user's own.
type carrier struct {
	resource string
	// target is the argument that names what is called, where and at its place.
	target, at string
	// asked and sent are the arguments that carry the data of a call that asks, and of others.
	asked, sent string
	// body is the member of the answer that has what was answered.
	body string
	// The errors of a call that is throttled, refused, or does not get through.
	throttled, denied, fault string
}

const (
	states    = "arn:aws:states:::"
	functions = "arn:aws:lambda:us-east-1:123456789012:function:"
)

var carriers = map[via]carrier{
	lambdaInvoke: {
		resource: states + "lambda:invoke", target: "FunctionName", asked: "Payload", sent: "Payload", body: "Payload",
		throttled: "Lambda.TooManyRequestsException", denied: "Lambda.AWSLambdaException", fault: "Lambda.SdkClientException",
	},
	functionARN: {throttled: "Lambda.TooManyRequestsException", denied: "Lambda.AWSLambdaException", fault: "Lambda.ServiceException"},
	httpTask: {
		resource: states + "http:invoke", target: "ApiEndpoint", at: "https://jobs.example.com/", asked: "QueryParameters", sent: "RequestBody", body: "ResponseBody",
		throttled: "States.Http.StatusCode.429", denied: "States.Http.StatusCode.403", fault: "States.Http.StatusCode.503",
	},
	nestedMachine: {
		resource: states + "states:startExecution.sync:2", target: "StateMachineArn", at: "arn:aws:states:us-east-1:123456789012:stateMachine:",
		asked: "Input", sent: "Input", body: "Output",
		throttled: "StepFunctions.AWSStepFunctionsException", denied: "StepFunctions.AccessDeniedException", fault: "StepFunctions.SdkClientException",
	},
}

func (v via) carrier() carrier { return carriers[v] }

// resource is that of a Task that calls an action.
func (o *operation) resource(action string) string {
	switch o.via {
	case functionARN:
		return functions + action
	case lambdaInvoke, httpTask, nestedMachine:
		return o.via.carrier().resource
	}
	return states + "aws-sdk:" + o.service + ":" + action
}

// arguments are those of a Task that calls an action with data: an object, or a term for all of the input.
func (o *operation) arguments(action string, data any) any {
	c := o.via.carrier()
	if c.target == "" {
		return data
	}
	carried, method := c.sent, "POST"
	if action == o.describe {
		carried, method = c.asked, "GET"
	}
	arguments := object{c.target: c.at + action, carried: data}
	if o.via == httpTask {
		arguments["Method"] = method
		arguments["Authentication"] = object{"ConnectionArn": "arn:aws:events:us-east-1:123456789012:connection/jobs/1"}
	}
	return arguments
}

// asked is the data of a call that asks for a job, by its arguments.
func (o *operation) asked(arguments any) object {
	data := arguments.(object)
	if name := o.via.carrier().asked; name != "" {
		return data[name].(object)
	}
	return data
}

// answered is the answer of a call whose body this is.
func (o *operation) answered(body object) object {
	c := o.via.carrier()
	if c.body == "" {
		return body
	}
	return object{c.body: body, "StatusCode": 200}
}

// call is the name of a call of an action, as nameOf gives it.
func (o *operation) call(action string) string {
	arguments, _ := o.arguments(action, object{}).(object)
	return nameOf(o.resource(action), arguments)
}

// nameOf names a call by its resource, and by what of the user's own it calls.
func nameOf(resource string, arguments any) string {
	name := strings.TrimPrefix(resource, states)
	given, _ := arguments.(object)
	for _, c := range carriers {
		if target, is := given[c.target].(string); is && resource == c.resource {
			return name + " " + target
		}
	}
	return name
}
