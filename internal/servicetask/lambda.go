package servicetask

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/sim"
)

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
