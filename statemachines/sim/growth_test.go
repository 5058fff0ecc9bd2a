package sim_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/tests/growthtest"
)

const (
	growthPass = `{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}`
	growthWait = `{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 60, "End": true}}}`
	growthTask = `{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "` + function + `", "End": true}}}`
)

// growthMaps are Maps over n items.
var growthMaps = map[string]string{
	"Distributed Map":                growthRun(growthPass),
	"Distributed Map of waits":       growthRun(growthWait),
	"Distributed Map of Tasks":       growthRun(growthTask),
	"Distributed Map, one by one":    `"MaxConcurrency": 1, ` + growthRun(growthWait),
	"Distributed Map, Express":       strings.Replace(growthRun(growthWait), "STANDARD", "EXPRESS", 1),
	"Distributed Map in batches":     `"ItemBatcher": {"MaxItemsPerBatch": 10}, ` + growthRun(growthPass),
	"Distributed Map with selectors": growthSelector + growthRun(growthPass),
	"inline Map":                     `"ItemProcessor": ` + growthPass,
	"inline Map of waits":            `"ItemProcessor": ` + growthWait,
	"inline Map of Tasks":            `"ItemProcessor": ` + growthTask,
	"inline Map with selectors":      growthSelector + `"ItemProcessor": ` + growthPass,
	"inline Map in JSONata": `"QueryLanguage": "JSONata", "ItemSelector": {"x": "{% $states.context.Map.Item.Value %}", "n": "{% $states.input.n %}"},
		"Output": 1, "ItemProcessor": ` + growthPass,
}

const growthSelector = `"ItemSelector": {"x.$": "$$.Map.Item.Value", "n.$": "$.n"}, `

func growthRun(processor string) string {
	return `"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, ` + processor[1:]
}

// growthMap is a Map over the member items of its input.
func growthMap(definition string) string {
	items, result := `"ItemsPath": "$.items"`, `, "ResultPath": null`
	if strings.Contains(definition, "JSONata") {
		items, result = `"Items": "{% $states.input.items %}"`, ""
	}
	return `{"StartAt": "M", "States": {"M": {"Type": "Map", ` + items + `, ` + definition + result + `, "End": true}}}`
}

func growthInput(n int) []byte {
	return []byte(`{"n": 1, "items": [` + strings.TrimSuffix(strings.Repeat("1,", n), ",") + `]}`)
}

func growthOptions() sim.Options {
	return sim.Options{MaxEvents: -1, Handlers: map[string]sim.Handler{
		function: func(context.Context, sim.Call) (sim.Reply, error) { return sim.Reply{}, nil },
	}}
}

// The processor time of an execution grows with its items, and not with their square.
func TestMapsGrowLinearly(t *testing.T) { //nolint:paralleltest // it takes the time of the process
	for name, definition := range growthMaps {
		m := parse(t, growthMap(definition))
		t.Run(name+" of Run", func(t *testing.T) {
			growthtest.Linear(t, func(n int) func() {
				return func() {
					r, err := sim.Run(t.Context(), m, growthInput(n), growthOptions())
					require.NoError(t, err)
					require.Equal(t, sim.StatusSucceeded, r.Status, r.Cause)
				}
			})
		})
		t.Run(name+" in a World", func(t *testing.T) {
			growthtest.Linear(t, func(n int) func() { return func() { runInWorld(t, m, growthInput(n), 1) } })
		})
	}
}

// runInWorld runs n executions of a World whose clock is virtual to their ends.
func runInWorld(t *testing.T, m *asl.StateMachine, input []byte, n int) {
	t.Helper()
	w := newWorld(t, sim.WorldOptions{Clock: sim.NewVirtualClock(sim.DefaultStart()), OnEnd: func(*sim.Execution) {}})
	all := make([]*sim.Execution, n)
	for i := range all {
		o := growthOptions()
		o.Execution = fmt.Sprint(i)
		var err error
		all[i], err = w.Start(m, input, o)
		require.NoError(t, err)
	}
	for _, e := range all {
		<-e.Done()
		require.Equal(t, sim.StatusSucceeded, e.Status())
	}
}
