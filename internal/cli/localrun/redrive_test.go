package localrun

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/answers"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/shipped"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// redriven fails in its last state, behind what a replay has to bring back.
const redriven = `{"StartAt": "First", "States": {
	"First": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "f", "Payload": {}}, "ResultPath": "$.first", "Next": "Wait"},
	"Wait": {"Type": "Wait", "Seconds": 60, "Next": "Both"},
	"Both": {"Type": "Parallel", "ResultPath": "$.both", "Next": "Last", "Branches": [
		{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "f", "Payload": {}}, "End": true}}},
		{"StartAt": "B", "States": {"B": {"Type": "Pass", "End": true}}}]},
	"Last": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "g", "Payload": {}}, "End": true}}}`

// redrivenFunctions are the functions that it calls.
var redrivenFunctions = map[string]sim.LambdaFunction{
	"f": func(context.Context, []byte) ([]byte, error) { return []byte(`{"n": 1}`), nil },
	"g": func(context.Context, []byte) ([]byte, error) { return nil, &sim.FunctionError{Type: "Broken"} },
}

// A history that somebody has damaged is refused, or comes back; it never ends the
// program, nor keeps it from ending.
func FuzzRedriveOfDamagedHistory(f *testing.F) {
	parsed, err := asl.Parse([]byte(redriven))
	require.NoError(f, err)
	m := &source.Machine{StateMachine: parsed, Definition: &source.Definition{}}
	options := sim.Options{Handlers: map[string]sim.Handler{answers.LambdaInvoke: sim.LambdaInvoke(redrivenFunctions)}}
	first, err := sim.Run(f.Context(), parsed, nil, options)
	require.NoError(f, err)
	twice, err := sim.Redrive(f.Context(), parsed, first, options)
	require.NoError(f, err)
	text, err := json.Marshal(twice.Events)
	require.NoError(f, err)
	var events []map[string]any
	require.NoError(f, json.Unmarshal(text, &events))
	redrive := slices.IndexFunc(events, func(e map[string]any) bool { return e["type"] == string(sim.ExecutionRedriven) })

	f.Add([]byte{})
	for i := range events {
		f.Add([]byte{0, byte(i), 0})
		f.Add([]byte{1, byte(i), byte(redrive)})
		f.Add([]byte{2, 0, byte(i)})
		f.Add([]byte{3, byte(i), byte(redrive)})
		f.Add([]byte{4, byte(i), 255})
		f.Add([]byte{5, byte(i), byte(i)})
		f.Add([]byte{6, byte(i), byte(i)})
	}
	f.Fuzz(func(t *testing.T, damage []byte) {
		o := &Options{Name: "r", Records: shipped.Store{Data: t.TempDir()}}
		damaged := damageEvents(events, damage)
		text, err := json.Marshal(map[string]any{"events": damaged})
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Dir(o.HistoryFile()), 0o700))
		require.NoError(t, os.WriteFile(o.HistoryFile(), text, 0o600))
		result, err := o.replay(t.Context(), m, options)
		if err == nil {
			require.Len(t, result.Events, len(damaged))
			return
		}
		coded, ok := errors.AsType[*kit.ExitError](err)
		require.True(t, ok, "%v", err)
		require.Equal(t, kit.ExitUsage, coded.Code)
		require.Contains(t, err.Error(), "--redrive: ")
		if len(damage) == 0 {
			require.NoError(t, err)
		}
	})
}

// damageEvents changes events as three bytes each say: how, where, and a value.
func damageEvents(events []map[string]any, damage []byte) []map[string]any {
	events = slices.Clone(events)
	for ; len(damage) >= 3 && len(events) > 0; damage = damage[3:] {
		at, value := int(damage[1])%len(events), int(damage[2])%len(events)
		changed := maps.Clone(events[at])
		switch damage[0] % 7 {
		case 0:
			events = slices.Delete(events, at, at+1)
			continue
		case 1:
			changed["type"] = events[value]["type"]
		case 2: // what is before another event is gone
			events = events[value:]
			continue
		case 3:
			events[at], events[value] = events[value], events[at]
			continue
		case 4:
			changed["timestamp"] = []string{"0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "2026-01-01T00:00:00Z"}[value%3]
		case 5:
			changed["previousEventId"] = value
		case 6:
			delete(changed, "taskSucceededEventDetails")
			changed["id"] = value + 1
		}
		events[at] = changed
	}
	return events
}

// A history that is no regular file is not read: that might never end.
func TestRedriveReadsRegularFilesAlone(t *testing.T) {
	t.Parallel()
	o := &Options{Name: "r", Records: shipped.Store{Data: t.TempDir()}}
	require.NoError(t, os.MkdirAll(o.HistoryFile(), 0o700))
	_, err := o.readRun()
	require.ErrorContains(t, err, "r.json is not a regular file: remove it, and run again without --redrive")
}
