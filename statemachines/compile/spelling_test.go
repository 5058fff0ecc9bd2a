package compile_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// SDK integrations spell members that begin with an acronym as the SDK for Java
// does: machines that run on AWS read $.DbInstances[0].DbInstanceStatus.
func TestAcronymsAreSpelledAsByTheSDKForJava(t *testing.T) {
	t.Parallel()
	instance := func(status string) any {
		return map[string]any{"DbInstances": []any{map[string]any{"DbInstanceIdentifier": "orders", "DbInstanceStatus": status}}}
	}
	for _, s := range []compile.Strategy{compile.Variables, compile.RetryTask} {
		m := compiled(t, "rds", "DBInstanceAvailable", compile.Options{Strategy: s, MaxWait: time.Hour})
		result, calls := polled(t, m, operation(t, "rds", "DescribeDBInstances"), []any{instance("creating"), instance("available")})
		require.Equal(t, sim.StatusSucceeded, result.Status, "%s: %s", s, result.Cause)
		require.Equal(t, 2, calls)
	}

	m := compiled(t, "rds", "CreateDBSnapshot", compile.Options{Strategy: compile.Variables, MaxWait: time.Hour})
	var described any
	answer := func(name string, output any) (string, sim.Handler) {
		return "arn:aws:states:::aws-sdk:rds:" + name, func(_ context.Context, call sim.Call) (sim.Reply, error) {
			described = call.Arguments
			return sim.Reply{Output: output}, nil
		}
	}
	handlers := map[string]sim.Handler{}
	for name, output := range map[string]any{
		"createDBSnapshot":    map[string]any{"DbSnapshot": map[string]any{"DbSnapshotIdentifier": "s-1"}},
		"describeDBSnapshots": map[string]any{"DbSnapshots": []any{map[string]any{"Status": "available"}}},
	} {
		resource, handler := answer(name, output)
		handlers[resource] = handler
	}
	result, err := sim.Run(t.Context(), m.Machine, []byte(`{"DbSnapshotIdentifier": "s-1", "DbInstanceIdentifier": "orders"}`), sim.Options{Handlers: handlers})
	require.NoError(t, err)
	require.Equal(t, sim.StatusSucceeded, result.Status, result.Cause)
	require.Equal(t, map[string]any{"DbSnapshotIdentifier": "s-1"}, described)
}
