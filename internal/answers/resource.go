package answers

import (
	"strings"

	"github.com/jobpoller/jobpoller/internal/servicetask"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

const (
	// LambdaInvoke is the resource that invokes a function by its name.
	LambdaInvoke = "arn:aws:states:::lambda:invoke"
	// tokenPattern ends the resource of a Task that waits until its token comes back.
	tokenPattern = ".waitForTaskToken"
	// InvokeForToken is the resource that invokes a function, and waits for the token.
	InvokeForToken = LambdaInvoke + tokenPattern
)

// isFunction tells whether a resource is the ARN of a function.
func isFunction(resource string) bool { return asl.ParseResource(resource).IsFunction() }

// isInvoke tells whether a resource invokes functions by name, in any partition.
func isInvoke(resource string) bool {
	return asl.ParseResource(resource) == asl.Resource{Service: "lambda", Action: "invoke"}
}

// CallName is what a resource calls, for people.
func CallName(resource string) string {
	r := asl.ParseResource(servicetask.CallOf(resource))
	return strings.TrimPrefix(r.Service, "aws-sdk:") + ":" + r.Action + r.Pattern
}
