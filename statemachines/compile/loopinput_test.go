package compile_test

import (
	"context"
	"encoding/json"
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// A state in JSONPath names what it passes on: AWS refuses a Task without Parameters
// when a state machine is created. It fails on a path that leads nowhere, so only
// what is required, or what the arguments name, is passed on.
func TestLoopPassesOnMembersByName(t *testing.T) {
	t.Parallel()
	token := values{"ClientToken": "t-1"}
	required := values{"TableArn": "arn:orders", "S3Bucket": "exports"}
	prefixed := with(required, values{"S3Prefix": "2026/"})
	for name, tt := range map[string]struct {
		arguments, input, want values
		warns                  string
	}{
		"what is required": {
			nil, with(with(prefixed, token), values{"AWS_STEP_FUNCTIONS_STARTED_BY_EXECUTION_ID": "arn:parent"}), with(required, token),
			"only the required members of its input, ClientToken, S3Bucket, TableArn:",
		},
		"paths": {
			values{"TableArn.$": "$.TableArn", "S3Bucket.$": "$.S3Bucket", "S3Prefix.$": "$.S3Prefix", "ClientToken": "t-1"},
			prefixed, with(prefixed, token), "",
		},
		"values": {with(prefixed, token), values{}, with(prefixed, token), ""},
		"paths inside a value": {
			with(with(required, token), values{"IncrementalExportSpecification": values{"ExportFromTime.$": "$.from", "ExportViewType": "NEW_IMAGE"}}),
			values{"from": "2026-11-22T00:00:00Z"},
			with(with(required, token), values{"IncrementalExportSpecification": values{"ExportFromTime": "2026-11-22T00:00:00Z", "ExportViewType": "NEW_IMAGE"}}), "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, err := catalog.Lookup("dynamodb", "ExportTableToPointInTime")
			require.NoError(t, err)
			call := compile.CallOf(e)
			call.Start.Arguments = tt.arguments
			m, err := compile.Compile(e.Waiter, call, compile.Options{Strategy: compile.Loop, MaxWait: time.Hour})
			require.NoError(t, err)
			if tt.warns == "" {
				require.Empty(t, m.Warnings)
			} else {
				require.Len(t, m.Warnings, 1)
				require.Contains(t, m.Warnings[0], tt.warns)
				require.Contains(t, m.Warnings[0], "S3Prefix")
			}
			text, err := json.Marshal(tt.input)
			require.NoError(t, err)
			var started []any
			result, err := sim.Run(t.Context(), m.Machine, text, sim.Options{Handlers: map[string]sim.Handler{
				"arn:aws:states:::aws-sdk:dynamodb:exportTableToPointInTime": func(_ context.Context, call sim.Call) (sim.Reply, error) {
					started = append(started, call.Arguments)
					return sim.Reply{Output: values{"ExportDescription": values{"ExportArn": "arn:export"}}}, nil
				},
				"arn:aws:states:::aws-sdk:dynamodb:describeExport": func(context.Context, sim.Call) (sim.Reply, error) {
					return sim.Reply{Output: values{"ExportDescription": values{"ExportStatus": "COMPLETED"}}}, nil
				},
			}})
			require.NoError(t, err)
			require.Equal(t, sim.StatusSucceeded, result.Status, result.Cause)
			require.Equal(t, []any{tt.want}, started)
		})
	}
}

// Where nothing is required, nothing is known of the input: a machine that passed on
// nothing would ask for all resources.
func TestLoopRefusesToPassOnNothing(t *testing.T) {
	t.Parallel()
	e, err := catalog.Lookup("elbv2", "LoadBalancerExists")
	require.NoError(t, err)
	call, o := compile.CallOf(e), compile.Options{Strategy: compile.Loop, MaxWait: time.Hour}
	_, err = compile.Compile(e.Waiter, call, o)
	refused, ok := err.(*compile.NotCompiledError) //nolint:errorlint // the type is the promise
	require.True(t, ok, err)
	require.Equal(t, []string{"LoadBalancerArns", "Marker", "Names", "PageSize"}, refused.Optional)
	require.ErrorContains(t, err, "DescribeLoadBalancers has no required members")

	call.Arguments = map[string]any{"Names.$": "$.Names"}
	_, err = compile.Compile(e.Waiter, call, o)
	require.NoError(t, err)
}

// An argument of a later call is left out with the member that it is made of.
func TestLoopDescribesWithoutWhatTheStartDoesNotGet(t *testing.T) {
	t.Parallel()
	e, err := catalog.Lookup("cloudformation", "CreateStackInstances")
	require.NoError(t, err)
	require.Equal(t, "input.CallAs", e.Job.Arguments["CallAs"])
	call := compile.CallOf(e)
	for name, arguments := range map[string]map[string]any{
		"not passed on": nil,
		"passed on":     {"StackSetName.$": "$.StackSetName", "Regions.$": "$.Regions", "CallAs": "SELF"},
	} {
		call.Start.Arguments = arguments
		m, err := compile.Compile(e.Waiter, call, compile.Options{Strategy: compile.Loop, MaxWait: time.Hour})
		require.NoError(t, err)
		var states struct {
			States map[string]struct {
				Parameters map[string]any `json:"Parameters"`
			} `json:"States"`
		}
		require.NoError(t, json.Unmarshal(asl.Print(m.Machine), &states))
		for _, state := range []string{"DescribeStackSetOperation", "StopStackSetOperation"} {
			has := states.States[state].Parameters
			require.Equal(t, "$.started.OperationId", has["OperationId.$"], name)
			if arguments == nil {
				require.NotContains(t, has, "CallAs.$")
			} else {
				require.Equal(t, "$.request.CallAs", has["CallAs.$"])
			}
		}
	}
}

// with returns an object with members added.
func with(object, added values) values {
	all := values{}
	maps.Copy(all, object)
	maps.Copy(all, added)
	return all
}
