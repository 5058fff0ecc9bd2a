package lint

import (
	"strings"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// mayAsk tells whether a Task of a loop may ask for a status: it reads, or nobody knows that it writes. A nested execution
// counts where its output comes back.
func mayAsk(s *asl.State) bool {
	if s.Task == nil {
		return false
	}
	r := asl.ParseResource(s.Task.Resource)
	switch {
	case r.WaitsForToken():
		return false
	case r.Service == "states" || r.Service == "apigateway":
		return r.Pattern != "" || r.Service == "apigateway"
	default:
		return r.Pattern == "" && !Changes(s)
	}
}

// nameAsked names what a Task calls, as "lambda:Invoke", and the one that it asks, as the name of the function; target is
// empty where the definition does not say it, or the operation says it all.
func nameAsked(s *asl.State) (operation, target string) {
	r := asl.ParseResource(s.Task.Resource)
	literal := func(member string) string {
		text, _ := memberLiteral(argumentsOf(s), member).(string)
		return text
	}
	switch {
	case r.IsFunction():
		return "lambda:Invoke", functionName(s.Task.Resource)
	case r.Service == "activity":
		return "activity", lastPart(s.Task.Resource)
	case r.Service == "" || r.Action == "":
		return s.Task.Resource, "" // such as a placeholder
	case r.Service == "lambda":
		return "lambda:Invoke", functionName(literal("FunctionName"))
	case (r.Service == "http" || r.Service == "apigateway") && literal("ApiEndpoint") == "":
		return r.Service + ":Invoke", ""
	case r.Service == "http" || r.Service == "apigateway":
		return r.Service + ":Invoke", strings.TrimSpace(literal("Method") + " " + literal("ApiEndpoint") + literal("Path"))
	case r.Service == "states":
		return r.Service + ":StartExecution", lastPart(literal("StateMachineArn"))
	default:
		return r.ServiceName() + ":" + javasdk.Capitalize(r.Action), ""
	}
}

// memberLiteral is the value of a member of arguments, if the definition has it; else nil.
func memberLiteral(t *asl.Template, name string) any {
	if m := findMember(t, name); m != nil {
		return m.Literal
	}
	object, _ := literalOf(t).(map[string]any)
	return object[name]
}

// functionName is the name of a function in its ARN, without a version; or the name itself.
func functionName(reference string) string {
	if asl.IsPlaceholderText(reference) {
		return reference
	}
	if _, after, found := strings.Cut(reference, ":function:"); found {
		reference = after
	}
	name, _, _ := strings.Cut(reference, ":")
	return name
}

// lastPart is the name at the end of an ARN.
func lastPart(arn string) string {
	if asl.IsPlaceholderText(arn) {
		return arn
	}
	return arn[strings.LastIndex(arn, ":")+1:]
}
