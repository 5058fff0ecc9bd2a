package compile_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// The report warns of a service of which no SDK integration is known, of all
// definitions in which asl.Validate does, and of no other.
func TestReportWarnsOfUnknownServices(t *testing.T) {
	t.Parallel()
	warned := map[string]bool{}
	listed, err := catalog.AWS().List()
	require.NoError(t, err)
	for _, service := range listed {
		s, err := catalog.AWS().Service(service.Key)
		require.NoError(t, err)
		for name := range s.Waiters {
			e, err := catalog.Lookup(service.Key, name)
			require.NoError(t, err)
			m, err := compile.Compile(e.Waiter, compile.CallOf(e), compile.Options{Strategy: compile.Variables, MaxWait: 24 * time.Hour})
			if err != nil {
				require.ErrorIs(t, err, compile.ErrNotCompiled)
				continue
			}
			problems := asl.Validate(asl.Print(m.Machine), asl.Standard)
			require.Equal(t, len(problems) > 0, len(m.Warnings) > 0, "%s: %v", service.Key, problems)
			for _, warning := range m.Warnings {
				require.Contains(t, warning, `"aws-sdk:`+s.ARNName+`"`)
				warned[service.Key] = true
			}
		}
	}
	require.Contains(t, warned, "continuum")
	require.NotContains(t, warned, "dynamodb")
}

// The functions call the service, not Step Functions.
func TestNoWarningOfServicesThroughLambda(t *testing.T) {
	t.Parallel()
	e, err := catalog.Lookup("continuum", "CodeScanSucceeded")
	require.NoError(t, err)
	m, err := compile.Compile(e.Waiter, compile.CallOf(e), compile.Options{Strategy: compile.LambdaLoop, MaxWait: time.Hour})
	require.NoError(t, err)
	require.Equal(t, []string{}, m.Warnings)
}
