package sim

import (
	"encoding/json"
	"strconv"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// context is the context object of the state that the strand is in.
func (s *strand) context() map[string]any {
	state := map[string]any{"Name": s.state.Name, "EnteredTime": formatTime(s.enteredTime)}
	if s.state.Type == asl.TypeTask {
		state["RetryCount"] = json.Number(strconv.Itoa(s.retryCount))
	}
	return map[string]any{"Execution": s.run.execution, "State": state, "StateMachine": s.run.definition}
}
