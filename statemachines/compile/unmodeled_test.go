package compile_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// Every waiter is compiled by default, or with errors that fail the wait: then a
// warning names them.
func TestNoWaiterNeedsAPatternOfACause(t *testing.T) {
	t.Parallel()
	services, err := catalog.AWS().List()
	require.NoError(t, err)
	refused := 0
	for _, service := range services {
		for _, listed := range service.Entries {
			e, err := catalog.Lookup(service.Key, listed.Name)
			require.NoError(t, err)
			o := compile.Options{Strategy: compile.Variables, MaxWait: time.Hour, Fit: true}
			_, err = compile.Compile(e.Waiter, compile.CallOf(e), o)
			if err == nil {
				continue
			}
			refused++
			var why *compile.NotCompiledError
			require.ErrorAs(t, err, &why)
			o.UnmodeledFails = true
			m, err := compile.Compile(e.Waiter, compile.CallOf(e), o)
			require.NoError(t, err, "%s %s", service.Key, e.Name)
			for _, code := range why.Unmodeled {
				require.Contains(t, m.Warnings[len(m.Warnings)-1], code)
			}
			o.Strategy = compile.RetryTask
			_, err = compile.Compile(e.Waiter, compile.CallOf(e), o)
			require.NoError(t, err, "%s %s", service.Key, e.Name)
		}
	}
	require.Equal(t, 6, refused)
}

// An instance that EC2 does not know yet is waited for, by the text of the error:
// what stands behind it in the Cause does not matter.
func TestKnownCausesAreLookedFor(t *testing.T) {
	t.Parallel()
	e, err := catalog.Lookup("ec2", "InstanceRunning")
	require.NoError(t, err)
	for cause, want := range map[string]string{
		"The instance ID 'i-1' does not exist (Service: Ec2, Status Code: 400, Request ID: r)":                            "",
		"The instance IDs 'i-1, i-2' do not exist (Service: Ec2, Status Code: 400, Request ID: r) (SDK Attempt Count: 1)": "",
		"You are not authorized (Service: Ec2, Status Code: 403, Request ID: r) (SDK Attempt Count: 1)":                   "JobPoller.Failed",
	} {
		m, err := compile.Compile(e.Waiter, compile.CallOf(e), compile.Options{Strategy: compile.Variables, MaxWait: time.Hour})
		require.NoError(t, err)
		calls := 0
		r, err := sim.Run(t.Context(), m.Machine, []byte(`{"InstanceIds": ["i-1"]}`), sim.Options{Handlers: map[string]sim.Handler{
			integration(e.Service, "DescribeInstances"): func(context.Context, sim.Call) (sim.Reply, error) {
				if calls++; calls < 3 {
					return sim.Reply{}, &sim.TaskError{Name: "Ec2.Ec2Exception", Cause: cause}
				}
				return sim.Reply{Output: values{"Reservations": []any{values{"Instances": []any{values{"State": values{"Name": "running"}}}}}}}, nil
			},
		}})
		require.NoError(t, err)
		require.Equal(t, want, r.Error, r.Cause)
	}
}
