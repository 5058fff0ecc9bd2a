package compile_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/tests/race"
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

// A loop tries each error again by which nothing but throttled calls of its poll arrive, or an acceptor takes it: of
// each entry of the catalogue.
func TestThrottledPollsAreTriedAgain(t *testing.T) {
	t.Parallel()
	services, err := catalog.AWS().List()
	require.NoError(t, err)
	undeclared := 0
	for _, service := range race.OneIn(12, services) {
		for _, listed := range service.Entries {
			e, err := catalog.Lookup(service.Key, listed.Name)
			require.NoError(t, err)
			m, err := compile.Compile(e.Waiter, compile.CallOf(e), compile.Options{Strategy: compile.Variables, MaxWait: time.Hour})
			if err != nil {
				continue // not by this strategy
			}
			tried := func(name string) bool {
				for _, state := range m.Machine.States {
					if slices.ContainsFunc(state.Retry, func(r asl.Retrier) bool { return slices.Contains(r.ErrorEquals, name) }) ||
						slices.ContainsFunc(state.Catch, func(k asl.Catcher) bool { return slices.Contains(k.ErrorEquals, name) }) {
						return true
					}
				}
				return false
			}
			for _, throttled := range e.Operation.Throttling() {
				require.True(t, tried(e.Service.ErrorName(throttled.Shape)), "%s: %s", e.FullName(), throttled.Shape)
				if !slices.ContainsFunc(e.Operation.Errors, func(declared catalog.Error) bool { return declared.Shape == throttled.Shape }) {
					undeclared++
				}
			}
		}
	}
	if !race.Enabled {
		require.Greater(t, undeclared, 10, "the service's own exception, which the operation does not declare")
	}
}
