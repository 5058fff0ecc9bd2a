package sim_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// distributed is a machine with the distributed Map M over a Task that has the item.
func distributed(executionType, fields string) string {
	return `{"StartAt": "M", "States": {"M": {"Type": "Map", "End": true, "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "` + executionType + `"},
		"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "` + function + `", "End": true}}}` + fields + `}}}`
}

func TestMapRun(t *testing.T) {
	t.Parallel()
	var children []string
	h := func(_ context.Context, call sim.Call) (sim.Reply, error) {
		execution := call.Context["Execution"].(map[string]any)
		children = append(children, execution["Id"].(string))
		return sim.Reply{Output: call.Arguments, Latency: time.Second}, nil
	}
	r := run(t, distributed("STANDARD", `, "Label": "each"`), `[1, 2]`, h, sim.Options{})
	require.Equal(t, `[1,2]`, string(r.Output), r.Cause)
	require.Equal(t, []string{
		"ExecutionStarted", "MapStateEntered", "MapStateStarted", "MapRunStarted", "MapRunSucceeded", "MapStateSucceeded", "MapStateExited", "ExecutionSucceeded",
	}, types(r), "the states of the children are in histories of their own")
	require.Equal(t, 3, r.Transitions)
	require.Len(t, r.MapRuns, 1)
	require.Contains(t, r.MapRuns[0].ARN, ":mapRun:StateMachine/each:")
	for i, child := range r.MapRuns[0].Executions {
		require.Equal(t, children[i], child.ExecutionARN)
		require.Contains(t, child.ExecutionARN, ":execution:StateMachine/each:")
		require.Equal(t, sim.StatusSucceeded, child.Status)
		require.Len(t, child.Events, 7)
	}

	r = run(t, distributed("EXPRESS", ``), `[1, 2]`, h, sim.Options{})
	require.Equal(t, 1, r.Transitions, "those of Express children are not billed")
	require.Contains(t, r.MapRuns[0].Executions[0].ExecutionARN, ":express:StateMachine/M:")
}

// An Express child execution has five minutes.
func TestExpressChildTimesOut(t *testing.T) {
	t.Parallel()
	r := run(t, `{"StartAt": "M", "States": {"M": {"Type": "Map", "End": true, "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "EXPRESS"},
		"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 3600, "End": true}}}}}}`, `[1]`, nil, sim.Options{})
	require.Equal(t, "States.ExceedToleratedFailureThreshold", r.Error)
	require.Equal(t, 5*time.Minute, r.Duration())
	require.Equal(t, sim.StatusTimedOut, r.MapRuns[0].Executions[0].Status)
}

func TestItemBatcher(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, fields, input, want string }{
		{"by number", `, "ItemBatcher": {"MaxItemsPerBatch": 2}`, `[1, 2, 3]`, `[{"Items":[1,2]},{"Items":[3]}]`},
		{
			"by size", `, "ItemBatcher": {"MaxInputBytesPerBatch": 30}`, `["aaaa", "bb", "cccccccccccccccccccccccccccc"]`,
			`[{"Items":["aaaa","bb"]},{"Items":["cccccccccccccccccccccccccccc"]}]`,
		},
		{
			"by a path, with input for all", `, "ItemsPath": "$.i", "ItemBatcher": {"MaxItemsPerBatchPath": "$.n", "BatchInput": {"x.$": "$.n"}}`,
			`{"i": [1, 2], "n": 1}`, `[{"BatchInput":{"x":1},"Items":[1]},{"BatchInput":{"x":1},"Items":[2]}]`,
		},
		{"of selected items", `, "ItemSelector": {"v.$": "$$.Map.Item.Value"}, "ItemBatcher": {"MaxItemsPerBatch": 9}`, `[1]`, `[{"Items":[{"v":1}]}]`},
		{"of none", `, "ItemBatcher": {"MaxItemsPerBatch": 9}`, `[]`, `[]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := func(_ context.Context, call sim.Call) (sim.Reply, error) {
				return sim.Reply{Output: call.Arguments}, nil
			}
			r := run(t, distributed("STANDARD", tt.fields), tt.input, h, sim.Options{})
			require.Equal(t, tt.want, string(r.Output), r.Cause)
		})
	}
}

func TestToleratedFailures(t *testing.T) {
	t.Parallel()
	odd := func(_ context.Context, call sim.Call) (sim.Reply, error) {
		number, single := call.Arguments.(json.Number)
		if n, _ := number.Int64(); !single || n%2 == 1 {
			return sim.Reply{}, &sim.TaskError{Name: "Odd"}
		}
		return sim.Reply{Output: call.Arguments}, nil
	}
	tests := []struct {
		name, fields string
		fails        bool
	}{
		{"none", ``, true},
		{"enough", `, "ToleratedFailureCount": 2`, false},
		{"too few", `, "ToleratedFailureCount": 1`, true},
		{"half", `, "ToleratedFailurePercentage": 50`, false},
		{"less than half", `, "ToleratedFailurePercentage": 49.9`, true},
		{"both hold", `, "ToleratedFailurePercentage": 50, "ToleratedFailureCount": 2`, false},
		{"one of both does not hold", `, "ToleratedFailurePercentage": 10, "ToleratedFailureCount": 2`, true},
		{"a failed batch is as many failed items", `, "ToleratedFailureCount": 3, "ItemBatcher": {"MaxItemsPerBatch": 4}`, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := run(t, distributed("STANDARD", tt.fields), `[1, 2, 3, 4]`, odd, sim.Options{})
			if !tt.fails {
				require.Equal(t, `[2,4]`, string(r.Output), r.Cause)
				return
			}
			require.Equal(t, "States.ExceedToleratedFailureThreshold", r.Error)
			require.Equal(t, []string{"MapRunFailed", "MapStateFailed", "ExecutionFailed"}, types(r)[len(r.Events)-3:])
		})
	}
}

func TestItemReader(t *testing.T) {
	t.Parallel()
	const reader = "arn:aws:states:::s3:getObject"
	definition := distributed("STANDARD", `, "ItemReader": {"Resource": "`+reader+`", "ReaderConfig": {"InputType": "JSON", "MaxItems": 2},
		"Parameters": {"Bucket.$": "$.b", "Key": "k"}}`)
	echo := func(_ context.Context, call sim.Call) (sim.Reply, error) {
		return sim.Reply{Output: call.Arguments}, nil
	}
	read := func(output any, failed error) sim.Handler {
		return func(_ context.Context, call sim.Call) (sim.Reply, error) {
			require.Equal(t, map[string]any{"Bucket": "x", "Key": "k"}, call.Arguments)
			return sim.Reply{Output: output}, failed
		}
	}
	options := func(h sim.Handler) sim.Options {
		return sim.Options{Handlers: map[string]sim.Handler{reader: h, function: echo}}
	}
	r, err := sim.Run(t.Context(), parse(t, definition), []byte(`{"b": "x"}`), options(read([]int{1, 2, 3}, nil)))
	require.NoError(t, err)
	require.Equal(t, `[1,2]`, string(r.Output), r.Cause)

	r, err = sim.Run(t.Context(), parse(t, definition), []byte(`{"b": "x"}`), options(read(nil, &sim.TaskError{Name: "S3.NoSuchKey", Cause: "gone"})))
	require.NoError(t, err)
	require.Equal(t, []string{"States.ItemReaderFailed", "S3.NoSuchKey: gone"}, []string{r.Error, r.Cause})

	_, err = sim.Run(t.Context(), parse(t, definition), []byte(`{"b": "x"}`), options(read("rows", nil)))
	require.ErrorContains(t, err, "not an array of items")
	broken := errors.New("broken")
	_, err = sim.Run(t.Context(), parse(t, definition), []byte(`{"b": "x"}`), options(read(nil, broken)))
	require.ErrorIs(t, err, broken)

	var resources *sim.ResourceError
	_, err = sim.Run(t.Context(), parse(t, definition), nil, sim.Options{Handlers: map[string]sim.Handler{function: echo}})
	require.ErrorAs(t, err, &resources)
	require.Equal(t, reader, resources.Tasks[0].Resource)
}
