package compile_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// Output is what the result has as its output.
func TestOutput(t *testing.T) {
	t.Parallel()
	e, err := catalog.Lookup("rds", "CreateDBSnapshot")
	require.NoError(t, err)
	call := compile.CallOf(e)
	snapshots := map[string]any{"DbSnapshots": []any{map[string]any{"Status": "available", "DbSnapshotArn": "arn:1", "AllocatedStorage": 20.0}}}
	handlers := map[string]sim.Handler{}
	for resource, output := range map[string]any{
		"arn:aws:states:::aws-sdk:rds:createDBSnapshot":    map[string]any{"DbSnapshot": map[string]any{"DbSnapshotIdentifier": "s-1"}},
		"arn:aws:states:::aws-sdk:rds:describeDBSnapshots": snapshots,
		"arn:aws:states:::lambda:invoke":                   map[string]any{"Payload": map[string]any{"status": "SUCCEEDED", "output": snapshots}},
	} {
		handlers[resource] = func(context.Context, sim.Call) (sim.Reply, error) { return sim.Reply{Output: output}, nil }
	}
	call.Job = "rds:CreateDBSnapshot" // of a driver of one's own: the service speaks no JSON
	for expression, want := range map[string]any{
		"":                             snapshots,
		"DBSnapshots[0].DBSnapshotArn": "arn:1",
		"DBSnapshots[].DBSnapshotArn":  []any{"arn:1"},
		"DBSnapshots[?Status=='x'].DBSnapshotArn":                []any{},
		"DBSnapshots[0].{Arn: DBSnapshotArn, Zone: VpcId}":       map[string]any{"Arn": "arn:1", "Zone": nil},
		"DBSnapshots[0].VpcId":                                   nil,
		"Marker":                                                 nil,
		"{Storage: DBSnapshots[0].AllocatedStorage, All: `[1]`}": map[string]any{"Storage": 20.0, "All": []any{1.0}},
	} {
		for _, s := range []compile.Strategy{compile.Variables, compile.RetryTask, compile.LambdaLoop, compile.LambdaRetry} {
			t.Run(expression+"/"+string(s), func(t *testing.T) {
				t.Parallel()
				m, err := compile.Compile(e.Waiter, call, compile.Options{Strategy: s, MaxWait: time.Hour, Output: expression})
				require.NoError(t, err)
				result, err := sim.Run(t.Context(), m.Machine, []byte(`{"DbSnapshotIdentifier": "s-1"}`), sim.Options{Handlers: handlers})
				require.NoError(t, err)
				require.Equal(t, sim.StatusSucceeded, result.Status, result.Cause)
				var got map[string]any
				require.NoError(t, json.Unmarshal(result.Output, &got))
				require.Contains(t, got, "output")
				require.Equal(t, want, got["output"])
			})
		}
	}
}

func TestOutputOfLoop(t *testing.T) {
	t.Parallel()
	e, err := catalog.Lookup("dynamodb", "ExportCompleted")
	require.NoError(t, err)
	o := compile.Options{Strategy: compile.Loop, MaxWait: time.Hour}
	plain, err := compile.Compile(e.Waiter, compile.CallOf(e), o)
	require.NoError(t, err)
	o.Output = "ExportDescription.ItemCount"
	m, err := compile.Compile(e.Waiter, compile.CallOf(e), o)
	require.NoError(t, err)
	require.InDelta(t, plain.Report().Expected.Transitions+1, m.Report().Expected.Transitions, 1e-9)
	for _, members := range []map[string]any{{"ItemCount": 7.0}, {}} {
		want, there := members["ItemCount"]
		members["ExportStatus"] = "COMPLETED"
		result, _ := polled(t, m, e.Operation, []any{map[string]any{"ExportDescription": members}})
		require.Equal(t, sim.StatusSucceeded, result.Status, result.Cause)
		var got map[string]any
		require.NoError(t, json.Unmarshal(result.Output, &got))
		output, has := got["output"]
		require.Equal(t, there, has)
		require.Equal(t, want, output)
	}
	o.Output = "ExportDescription.{Items: ItemCount}"
	_, err = compile.Compile(e.Waiter, compile.CallOf(e), o)
	require.ErrorIs(t, err, compile.ErrNotCompiled)
	require.ErrorContains(t, err, "Output: ")
}

// States have the names that they are given, in all that refers to them.
func TestNames(t *testing.T) {
	t.Parallel()
	for _, s := range everyStrategy {
		describe := "DescribeExport"
		if s.UsesFunctions() {
			describe = "CheckStatus"
		}
		o := compile.Options{
			Strategy: s, MaxWait: time.Hour, Fit: true, Prefix: "Orders", Names: map[string]string{describe: "Is the export done?", "Succeeded": "Exported"},
		}
		m := compiled(t, "dynamodb", "ExportTableToPointInTime", o)
		require.NotNil(t, m.Machine.State("Is the export done?"))
		require.NotNil(t, m.Machine.State("Exported"))
		require.Nil(t, m.Machine.State("Orders"+describe))
		o.Names = map[string]string{describe: "OrdersTimedOut"}
		e, err := catalog.Lookup("dynamodb", "ExportTableToPointInTime")
		require.NoError(t, err)
		_, err = compile.Compile(e.Waiter, compile.CallOf(e), o)
		wrong, ok := errors.AsType[*compile.OptionError](err)
		require.True(t, ok)
		require.Equal(t, "Names", wrong.Field)
	}
}
