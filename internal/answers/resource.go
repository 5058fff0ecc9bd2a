package answers

import (
	"strings"

	"github.com/jobpoller/jobpoller/internal/servicetask"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

const (
	// LambdaInvoke is the resource that invokes a function by its name.
	LambdaInvoke = "arn:aws:states:::lambda:invoke"
	// TokenPattern ends the resource of a Task that waits until its token comes back.
	TokenPattern = ".waitForTaskToken"
	// InvokeForToken is the resource that invokes a function, and waits for the token.
	InvokeForToken = LambdaInvoke + TokenPattern
)

// IsFunction tells whether a resource is the ARN of a function.
func IsFunction(resource string) bool { return asl.ParseResource(resource).IsFunction() }

// IsInvoke tells whether a resource invokes functions by name, in any partition.
func IsInvoke(resource string) bool {
	return asl.ParseResource(resource) == asl.Resource{Service: "lambda", Action: "invoke"}
}

// CallName is what a resource calls, for people.
func CallName(resource string) string {
	r := asl.ParseResource(servicetask.CallOf(resource))
	return strings.TrimPrefix(r.Service, "aws-sdk:") + ":" + r.Action + r.Pattern
}
