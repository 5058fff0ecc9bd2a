package compile_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// Inside a Map both functions get the scope, which the first input alone has.
func TestScopeInsideAMap(t *testing.T) {
	t.Parallel()
	e, err := catalog.Lookup("dynamodb", "ExportTableToPointInTime")
	require.NoError(t, err)
	for _, strategy := range []compile.Strategy{compile.LambdaLoop, compile.LambdaRetry} {
		for _, prefix := range []string{"", "Orders"} {
			t.Run(string(strategy)+" "+prefix, func(t *testing.T) {
				t.Parallel()
				fragment, err := compile.Compile(e.Waiter, compile.CallOf(e), compile.Options{
					Strategy: strategy, MaxWait: time.Hour, InitialDelay: time.Minute, Prefix: prefix, Scope: "{% 'item ' & $states.input.index %}",
					Exits: map[pollcore.Status]string{pollcore.Succeeded: "Done", pollcore.Failed: "Broken", pollcore.TimedOut: "Broken"},
				})
				require.NoError(t, err)
				var states struct {
					States map[string]any `json:"States"`
				}
				require.NoError(t, json.Unmarshal(asl.Print(fragment.Machine), &states))
				states.States["Done"] = map[string]any{"Type": "Succeed"}
				states.States["Broken"] = map[string]any{"Type": "Fail", "Error": "{% $states.input.reason %}"}
				text, err := json.Marshal(map[string]any{"QueryLanguage": "JSONata", "StartAt": "Each", "States": map[string]any{"Each": map[string]any{
					"Type": "Map", "End": true, "Items": []int{7, 7},
					"ItemSelector":  map[string]any{"index": "{% $states.context.Map.Item.Index %}"},
					"ItemProcessor": map[string]any{"StartAt": fragment.StartAt, "States": states.States},
				}}})
				require.NoError(t, err)
				machine, err := asl.Parse(text)
				require.NoError(t, err)

				scopes := map[string]int{}
				function := func(name, answer string) sim.LambdaFunction {
					return func(_ context.Context, payload []byte) ([]byte, error) {
						var event struct {
							Scope string `json:"Scope"`
						}
						err := json.Unmarshal(payload, &event)
						scopes[name+": "+event.Scope]++
						return []byte(answer), err
					}
				}
				result, err := sim.Run(t.Context(), machine, nil, sim.Options{Handlers: map[string]sim.Handler{
					"arn:aws:states:::lambda:invoke": sim.LambdaInvoke(map[string]sim.LambdaFunction{
						statemachines.RunJobFunction:      function("run", `{"waitSeconds": 60}`),
						statemachines.CheckStatusFunction: function("check", `{"status": "SUCCEEDED"}`),
					}),
				}})
				require.NoError(t, err)
				require.Equal(t, sim.StatusSucceeded, result.Status, result.Trace())
				require.Equal(t, map[string]int{"run: item 0": 1, "run: item 1": 1, "check: item 0": 1, "check: item 1": 1}, scopes)
			})
		}
	}
}
