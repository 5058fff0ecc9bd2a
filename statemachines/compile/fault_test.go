package compile_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// Whatever a strategy tries again passes by the table of package awserror. The two
// exceptions: a service's own exception, which hides what it is, and the errors that
// the machine raises itself.
func TestErrorsThatAreTriedAgainPass(t *testing.T) {
	t.Parallel()
	named := []string{"JobPoller.", "States.QueryEvaluationError"}
	for _, job := range [][2]string{{"dynamodb", "ExportTableToPointInTime"}, {"rekognition", "StartLabelDetection"}, {"glue", "StartJobRun"}} {
		e, err := catalog.Lookup(job[0], job[1])
		require.NoError(t, err)
		own := e.Operation.Service.ErrorPrefix + "." + e.Operation.Service.ErrorPrefix + "Exception"
		for _, strategy := range []compile.Strategy{compile.Loop, compile.Variables, compile.RetryTask, compile.LambdaLoop, compile.LambdaRetry} {
			m, err := compile.Compile(e.Waiter, compile.CallOf(e), compile.Options{Strategy: strategy, MaxWait: time.Hour})
			require.NoError(t, err)
			count := 0
			for _, state := range m.Machine.States {
				for _, r := range state.Retry {
					for _, name := range r.ErrorEquals {
						if name == own || slices.ContainsFunc(named, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
							continue
						}
						count++
						require.True(t, awserror.ClassifyName(name, "").Passes(), "%s %s: %s", job, strategy, name)
					}
				}
			}
			require.Positive(t, count)
		}
	}
}
