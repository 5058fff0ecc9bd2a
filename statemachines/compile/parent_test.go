package compile_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// AWS tells a machine that starts another to name itself in the input. No service
// takes the member, with or without others.
func TestTheNameOfTheParentIsNotPassedOn(t *testing.T) {
	t.Parallel()
	const parent = `"AWS_STEP_FUNCTIONS_STARTED_BY_EXECUTION_ID": "arn:aws:states:us-east-1:123456789012:execution:parent:1"`
	for _, strategy := range everyStrategy {
		for _, c := range []struct {
			service, entry, input string
			poll                  bool
			want                  values
		}{
			{"athena", "StartQueryExecution", `{"QueryString": "SELECT 1", "ClientRequestToken": "t", ` + parent + `}`, false, values{"QueryString": "SELECT 1", "ClientRequestToken": "t"}},
			{"athena", "StartQueryExecution", `{"QueryExecutionId": "q-1", ` + parent + `}`, true, values{"QueryExecutionId": "q-1"}},
			{"iam", "GenerateCredentialReport", `{` + parent + `}`, true, values{}},
		} {
			e, err := catalog.Lookup(c.service, c.entry)
			require.NoError(t, err)
			call := compile.CallOf(e)
			if c.poll {
				call.Start, call.Stop = nil, nil
			}
			m, err := compile.Compile(e.Waiter, call, compile.Options{Strategy: strategy, MaxWait: time.Minute})
			if call.Job == "" && err != nil {
				continue // no functions call the service
			}
			require.NoError(t, err)
			var first any
			handlers := map[string]sim.Handler{}
			for _, state := range m.Machine.States {
				handlers[state.Name] = func(_ context.Context, call sim.Call) (sim.Reply, error) {
					if first == nil {
						first = call.Arguments
					}
					return sim.Reply{}, &sim.TaskError{Name: "Stop"}
				}
			}
			result, err := sim.Run(t.Context(), m.Machine, []byte(c.input), sim.Options{StateHandlers: handlers})
			require.NoError(t, err)
			if payload, ok := first.(values)["Payload"].(values); ok {
				first = payload["Input"].(values)["arguments"]
			}
			require.Equal(t, c.want, first, "%s %s: %s", strategy, c.entry, result.Cause)
		}
	}
}
