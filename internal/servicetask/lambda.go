package servicetask

import (
	"context"
	"encoding/json"

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
		var failure struct {
			ErrorType string `json:"errorType"`
		}
		if err := json.Unmarshal([]byte(text), &failure); err != nil || failure.ErrorType == "" {
			return sim.Reply{}, &sim.TaskError{Name: "Lambda.Unknown", Cause: text}
		}
		return sim.Reply{}, &sim.TaskError{Name: failure.ErrorType, Cause: text}
	}
	var payload any
	if json.Unmarshal([]byte(text), &payload) == nil {
		answer["Payload"] = payload
	}
	return reply, nil
}
