package report_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/history"
	"github.com/jobpoller/jobpoller/statemachines/report"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// A report says where Step Functions looks at a job seldom: of Glue's, and not of jobs
// whose end it is told.
func TestReportOfASeldomLook(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse([]byte(`{"StartAt": "Run", "States": {
		"Run": {"Type": "Task", "Resource": "arn:aws:states:::glue:startJobRun.sync", "Parameters": {"JobName": "nightly"}, "Next": "Count"},
		"Count": {"Type": "Task", "Resource": "arn:aws:states:::athena:startQueryExecution.sync", "Parameters": {"QueryString": "SELECT 1", "WorkGroup": "w"}, "End": true}}}`))
	require.NoError(t, err)
	ends := func(context.Context, sim.Call) (sim.Reply, error) {
		return sim.Reply{Output: map[string]any{}, Latency: 90 * time.Second}, nil
	}
	r, err := sim.Run(t.Context(), m, nil, sim.Options{StateHandlers: map[string]sim.Handler{"Run": ends, "Count": ends}})
	require.NoError(t, err)
	const note = "Run: Step Functions looks at the job of glue:startJobRun.sync once in 1m, so it may see the end up to 1m late"
	text := report.Text(history.FromRun(m, r), report.TextOptions{Columns: 200})
	require.Equal(t, "  note          "+note, lineWith(t, text, "note"))
	require.NotContains(t, text, "athena:startQueryExecution.sync once")
	page, err := report.HTML(history.FromRun(m, r), report.Options{})
	require.NoError(t, err)
	require.Contains(t, string(page), note)
}
