package cdkapp_test

import (
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/cdkapp"
	"github.com/jobpoller/jobpoller/statemachines"
)

// Arguments that the service would refuse once the job is started are refused when
// the app is synthesized.
func TestArgumentsThatTheServiceRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		strategy  statemachines.Strategy
		arguments map[string]any
		want      string
	}{
		"another member": {
			arguments: map[string]any{"JobName": "nightly", "TimeOut": 60},
			want:      `/TimeOut: StartJobRunRequest has no member "TimeOut" (did you mean "Timeout"?)`,
		},
		"no member":            {arguments: map[string]any{}, want: "StartJobRunRequest needs the member JobName"},
		"with functions":       {strategy: statemachines.LambdaRetry, arguments: map[string]any{}, want: "StartJobRunRequest needs the member JobName"},
		"another type":         {arguments: map[string]any{"JobName": "nightly", "Timeout": "an hour"}, want: "/Timeout: expected a number (integer), found a string"},
		"path in JSONata":      {arguments: map[string]any{"JobName.$": "$.job"}, want: "/JobName.$: this strategy is written in JSONata"},
		"JSONata among paths":  {strategy: statemachines.Loop, arguments: map[string]any{"JobName": "{% 'nightly' %}"}, want: "/JobName: this strategy is written in JSONPath"},
		"expression with gaps": {arguments: map[string]any{"JobName": "{% $states.input. %}"}, want: "the expression ends where an operand is expected"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := problem(t, func(stack awscdk.Stack) {
				cdkapp.NewJobPoller(stack, jsii.String("Nightly"), &cdkapp.JobPollerProps{
					Job: fromCatalog("glue", "StartJobRun"), Strategy: tt.strategy, MaxWait: seconds(600), Arguments: &tt.arguments,
				})
			})
			require.Equal(t, "Arguments", err.Prop)
			require.Contains(t, err.Problem, tt.want)
		})
	}
}
