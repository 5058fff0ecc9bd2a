package servicetask

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// lambdaInvoke invokes a function by its name.
const lambdaInvoke = "arn:aws:states:::lambda:invoke"

// CallOf returns the resource whose call a Task makes: for the ARN of a function that of
// lambda:invoke, and for any other resource its own.
func CallOf(resource string) string {
	if asl.ParseResource(resource).IsFunction() {
		return lambdaInvoke
	}
	return resource
}

// invokeFunction does a Task whose resource is the ARN of a function: the input is the
// payload, and what the function returns is the output. Errors have the names of
// lambda:invoke.
func (t *task) invokeFunction(ctx context.Context, call sim.Call) (sim.Reply, error) {
	function := func(ctx context.Context, payload []byte) ([]byte, error) {
		answer, err := t.caller.client.Call(ctx, t.operation, map[string]any{"FunctionName": call.Resource, "Payload": payload})
		if err != nil {
			invoke := call
			invoke.Resource = lambdaInvoke
			return nil, t.failure(invoke, err)
		}
		members, _ := answer.(map[string]any)
		text, _ := members["Payload"].(string)
		result, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return nil, fmt.Errorf("state %q: the payload of %s: %w", call.State, call.Resource, err)
		}
		if _, failed := members["FunctionError"]; failed {
			return nil, sim.ReadFunctionError(result)
		}
		return result, nil
	}
	return sim.LambdaDirect(function)(ctx, call)
}

// invoke does a Task of lambda:invoke: the payload of the answer is the JSON that the
// function returned, and the failure of the function is that of the Task.
func (t *task) invoke(ctx context.Context, call sim.Call) (sim.Reply, error) {
	reply, err := t.call(ctx, call)
	if err != nil {
		return reply, err
	}
	answer, _ := reply.Output.(map[string]any)
	text, _ := answer["Payload"].(string)
	if _, failed := answer["FunctionError"]; failed {
		return sim.Reply{}, sim.ReadFunctionError([]byte(text)).Failure()
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var payload any
	if json.Valid([]byte(text)) && decoder.Decode(&payload) == nil {
		answer["Payload"] = payload
	}
	return reply, nil
}
