package stepfunctions

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// statuses are how a test may end.
var statuses = []string{"SUCCEEDED", "FAILED", "RETRIABLE", "CAUGHT_ERROR"}

// Answer is what TestState says of a state.
type Answer struct {
	Status    string `json:"status"` // of statuses
	Error     string `json:"error"`
	Cause     string `json:"cause"`
	NextState string `json:"nextState"`
}

// TestState has AWS run one state of a definition as in a visit, with the visit's
// result in place of the work: a Task calls nothing.
func (c *Client) TestState(ctx context.Context, definition []byte, v Visit) (Answer, error) {
	input := map[string]any{"definition": string(definition), "stateName": v.State.Name, "input": string(v.Input)}
	if len(v.Variables) > 0 {
		text, err := json.Marshal(v.Variables)
		if err != nil {
			return Answer{}, err
		}
		input["variables"] = string(text)
	}
	switch {
	case works(v.State) && v.Result == nil:
		// Without a mock AWS would do the work of the state.
		return Answer{}, fmt.Errorf("state %q has no result to mock its work with", v.State.Name)
	case works(v.State):
		mock := map[string]any{"result": string(v.Result)}
		if v.Unchecked {
			mock["fieldValidationMode"] = "NONE"
		}
		input["mock"] = mock
	}
	if err := c.pace(ctx, "TestState", ""); err != nil {
		return Answer{}, err
	}
	var answer Answer
	err := c.do(ctx, "TestState", input, &answer)
	if err == nil && !slices.Contains(statuses, answer.Status) {
		err = failCall("TestState", fmt.Errorf("%w: its status is %q, not one of %s", ErrAnswer, answer.Status, strings.Join(statuses, ", ")))
	}
	return answer, err
}
