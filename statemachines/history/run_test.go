package history_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/history"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// Each event had a text of its own: the page of a loop whose state has 250 KB took 10 GB.
func TestEventsShareTexts(t *testing.T) { //nolint:paralleltest // it takes the memory of the process
	const size = 200_000
	m, err := asl.Parse([]byte(`{"StartAt": "P", "States": {"P": {"Type": "Pass", "Next": "C"}, "C": {"Type": "Choice", "Choices": [
		{"Variable": "$.never", "IsPresent": true, "Next": "S"}], "Default": "P"}, "S": {"Type": "Succeed"}}}`))
	require.NoError(t, err)
	r, err := sim.Run(t.Context(), m, []byte(`{"large": "`+strings.Repeat("x", size)+`"}`), sim.Options{MaxEvents: 400})
	require.NoError(t, err)
	require.Len(t, r.Events, 400)
	before := heap()
	e := history.FromRun(m, r)
	require.Less(t, heap()-before, int64(10*size))
	require.Len(t, e.Events, 400)
	require.Len(t, e.Events[398].Output, size+len(`{"large":""}`))
}

// heap is the memory that is in use.
func heap() int64 {
	var now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&now)
	return int64(now.HeapAlloc)
}
