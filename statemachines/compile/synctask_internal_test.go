package compile

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// The report says how late Step Functions looks at a job. The jobs with such a delay
// are not compiled yet, so the test proves one.
func TestReportOfASeldomLook(t *testing.T) {
	t.Parallel()
	e, err := catalog.Lookup("glue", "StartJobRun")
	require.NoError(t, err)
	job, service := *e.Job, *e.Service
	job.SyncUnknown, job.SyncArguments = "", map[string]string{"JobName": "output.JobName", "RunId": "output.Id"}
	service.Jobs = map[string]*catalog.Job{e.Name: &job}
	operation := *service.Operations[e.Name]
	operation.Service = &service
	call := CallOf(e)
	call.Start.Operation, call.Stop = &operation, nil
	c, err := Compile(e.Waiter, call, Options{Strategy: SyncTask, MaxWait: time.Hour})
	require.NoError(t, err)
	r := c.Report()
	require.Equal(t, "Step Functions looks at the job of glue:startJobRun.sync once in 1m0s, and sees its end up to that late.", r.SignalNote)
	require.InDelta(t, 60, r.Worst.LatenessSeconds, 0)
	require.InDelta(t, 30, r.Expected.LatenessSeconds, 0)
}
