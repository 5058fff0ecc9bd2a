package sim_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// heap is the memory that is in use.
func heap() int64 {
	var m runtime.MemStats
	for range 3 { // pools let go of what they have in the second
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// largeValue is a value of about 60 KB of which little is the same with another number.
func largeValue(number int) map[string]any {
	rows := make([]any, 400)
	for i := range rows {
		rows[i] = map[string]any{"id": fmt.Sprint(number*7919+i, "-", i*i), "state": "RUNNING", "arn": fmt.Sprint("arn:aws:states:::row:", number^i), "note": strings.Repeat("n", 80)}
	}
	return map[string]any{"number": fmt.Sprint(number), "rows": rows}
}

// memoryForms are executions that keep something for each of many results, items or child
// executions, and how many bytes of memory they may take for each.
var memoryForms = map[string]struct {
	definition  string
	times, most int
	large       bool // each result has 60 KB of text, which takes 200 KB as values
	keepEvents  int
}{
	"loop of large results":            {definition: memoryLoop(""), times: 200, most: 12_000, large: true},
	"loop of large results in a state": {definition: memoryLoop(`, "ResultPath": "$.poll"`), times: 200, most: 18_000, large: true},
	"loop of results selected":         {definition: memoryLoop(`, "ResultSelector": {"n.$": "$.number"}`), times: 200, most: 12_000, large: true},
	"loop of variables":                {definition: memoryLoop(`, "Assign": {"poll.$": "$"}`), times: 200, most: 18_000, large: true},
	"loop":                             {definition: memoryLoop(""), times: 4_000, most: 2_500},
	"loop of an equal state":           {definition: memoryLoop(`, "ResultPath": "$.poll"`), times: 4_000, most: 4_000},
	"Map of large results":             {definition: memoryMap(growthTask), times: 200, most: 12_000, large: true},
	"Distributed Map of large results": {definition: growthMap(growthRun(growthTask)), times: 200, most: 120_000, large: true}, // the outputs are text
	"Distributed Map":                  {definition: growthMap(growthRun(growthPass)), times: 4_000, most: 3_000},
	"Distributed Map without events":   {definition: growthMap(growthRun(growthPass)), times: 4_000, most: 1_800, keepEvents: sim.KeepNoEvents},
}

func memoryLoop(more string) string {
	return `{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "` + function + `"` + more + `, "Next": "C"},
		"C": {"Type": "Choice", "Choices": [{"Variable": "$$.State.EnteredTime", "IsPresent": true, "Next": "T"}], "Default": "S"}, "S": {"Type": "Succeed"}}}`
}

func memoryMap(processor string) string { return growthMap(`"ItemProcessor": ` + processor) }

// The values of large payloads were kept: 1.6 to 5.8 GB for a loop whose state has 250 KB.
// And what is said of the memory is about right.
func TestMemoryOfExecutions(t *testing.T) { //nolint:paralleltest // it takes the memory of the process
	for name, form := range memoryForms { //nolint:paralleltest // as above
		t.Run(name, func(t *testing.T) {
			before := heap()
			var calls atomic.Int64
			o := sim.Options{MaxEvents: -1, KeepEvents: form.keepEvents, Handlers: map[string]sim.Handler{
				function: func(context.Context, sim.Call) (sim.Reply, error) {
					number := int(calls.Add(1))
					if number > form.times {
						return sim.Reply{}, &sim.TaskError{Name: "Enough"}
					}
					if form.large {
						return sim.Reply{Output: largeValue(number)}, nil
					}
					return sim.Reply{Output: map[string]any{"number": "1"}}, nil
				},
			}}
			w := newWorld(t, sim.WorldOptions{Clock: sim.NewVirtualClock(sim.DefaultStart())})
			e := start(t, w, form.definition, string(growthInput(form.times)), o)
			<-e.Done()
			each := (heap() - before) / int64(form.times)
			said := e.Bytes() / int64(form.times)
			t.Logf("%d bytes each, said to be %d", each, said)
			require.LessOrEqual(t, each, int64(form.most))
			require.Less(t, said, 3*each)
			require.Less(t, each, 3*said)
		})
	}
}
