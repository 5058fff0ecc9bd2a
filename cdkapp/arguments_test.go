//go:build e2e

package cdkapp_test

import (
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	sfn "github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"
	"github.com/aws/jsii-runtime-go"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/cdkapp"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// Arguments that the service would refuse once the job has started are refused when
// the app is synthesized.
func TestE2EArgumentsThatTheServiceRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		strategy  compile.Strategy
		arguments map[string]any
		tokens    func() map[string]any // are made in the stack
		want      string
	}{
		"another member": {
			arguments: map[string]any{"JobName": "nightly", "TimeOut": 60},
			want:      `/TimeOut: StartJobRunRequest has no member "TimeOut" (did you mean "Timeout"?)`,
		},
		"no member":            {arguments: map[string]any{}, want: "StartJobRunRequest needs the member JobName"},
		"with functions":       {strategy: compile.LambdaRetry, arguments: map[string]any{}, want: "StartJobRunRequest needs the member JobName"},
		"another type":         {arguments: map[string]any{"JobName": "nightly", "Timeout": "an hour"}, want: "/Timeout: expected a number (integer), found a string"},
		"path in JSONata":      {arguments: map[string]any{"JobName.$": "$.job"}, want: "/JobName.$: this strategy is written in JSONata"},
		"JSONata among paths":  {strategy: compile.Loop, arguments: map[string]any{"JobName": "{% 'nightly' %}"}, want: "/JobName: this strategy is written in JSONPath"},
		"expression with gaps": {arguments: map[string]any{"JobName": "{% $states.input. %}"}, want: "the expression ends where an operand is expected"},
		"a member of $states that is misspelt": {
			arguments: map[string]any{"JobName": "{% $states.inpt.name %}"},
			want:      `Arguments.JobName reads $states.inpt, which does not exist there: Arguments has $states.input and $states.context (did you mean "input"?)`,
		},
		"the result of no call": {arguments: map[string]any{"JobName": "{% $states.result.name %}"}, want: "Arguments.JobName reads $states.result, which does not exist there"},
		"a path in a text": {
			tokens: func() map[string]any {
				return map[string]any{"JobName": "nightly-" + *sfn.JsonPath_StringAt(jsii.String("$.name"))}
			},
			want: `Arguments.JobName joins a path of sfn.JsonPath to other text: write an expression, such as "{% 'text' & $states.input.name %}"`,
		},
		"an intrinsic function": {
			tokens: func() map[string]any {
				return map[string]any{"JobName": sfn.JsonPath_Format(jsii.String("{}-job"), sfn.JsonPath_StringAt(jsii.String("$.name")))}
			},
			want: `Arguments.JobName is States.Format('{}-job', $.name), but the strategy uses JSONata`,
		},
		"a path with a filter": {tokens: func() map[string]any {
			return map[string]any{"JobName": sfn.JsonPath_StringAt(jsii.String("$.jobs[?(@.a)].name"))}
		}, want: "write an expression"},
		"a task token": {tokens: func() map[string]any { return map[string]any{"JobName": sfn.JsonPath_TaskToken()} }, want: "no state of a poller waits for a token"},
		"a path in a list of JSONPath": {
			strategy: compile.Loop,
			tokens: func() map[string]any {
				return map[string]any{"JobName": "nightly", "NotificationProperty": []any{sfn.JsonPath_StringAt(jsii.String("$.name"))}}
			},
			want: "Arguments.NotificationProperty[0] is the path $.name, and JSONPath allows no path in a list",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := problem(t, func(stack awscdk.Stack) {
				if tt.tokens != nil {
					tt.arguments = tt.tokens()
				}
				cdkapp.NewJobPoller(stack, jsii.String("Nightly"), &cdkapp.JobPollerProps{
					Job: fromCatalog("glue:StartJobRun"), Strategy: tt.strategy, MaxWait: seconds(600), Arguments: &tt.arguments,
				})
			})
			require.Equal(t, "Arguments", err.Prop)
			require.Contains(t, err.Problem, tt.want)
		})
	}
}

// Tokens of the CDK that stand for a path are paths in the state machine, in its
// query language, and no texts such as "$.name".
func TestE2EPathTokensAreTranslated(t *testing.T) {
	t.Parallel()
	arguments := func() *map[string]any {
		return &map[string]any{
			"JobName": sfn.JsonPath_StringAt(jsii.String("$.jobs[0].name")), "JobRunQueuingEnabled": sfn.JsonPath_ObjectAt(jsii.String("$.queue")),
			"Timeout": sfn.JsonPath_NumberAt(jsii.String("$.in")), "WorkerType": sfn.JsonPath_StringAt(jsii.String("$$.Execution.Name")),
			"Arguments": map[string]any{"--day": sfn.JsonPath_StringAt(jsii.String("$.day"))},
		}
	}
	for strategy, want := range map[compile.Strategy][]string{
		compile.Variables: {
			`"JobName": "{% $states.input.jobs[0].name %}"`, `"JobRunQueuingEnabled": "{% $states.input.queue %}"`, "\"Timeout\": \"{% $states.input.`in` %}\"",
			`"WorkerType": "{% $states.context.Execution.Name %}"`, `"--day": "{% $states.input.day %}"`,
		},
		compile.Loop: {
			`"JobName.$": "$.jobs[0].name"`, `"JobRunQueuingEnabled.$": "$.queue"`, `"Timeout.$": "$.in"`, `"WorkerType.$": "$$.Execution.Name"`, `"--day.$": "$.day"`,
		},
	} {
		all := synth(t, func(stack awscdk.Stack) {
			cdkapp.NewJobPoller(stack, jsii.String("Nightly"), &cdkapp.JobPollerProps{
				Job: fromCatalog("glue:StartJobRun"), Strategy: strategy, MaxWait: seconds(600), Arguments: arguments(),
			})
		})
		definition := deployed(t, all.only(t, "AWS::StepFunctions::StateMachine"))
		for _, text := range want {
			require.Contains(t, definition, text)
		}
		require.Empty(t, asl.Validate([]byte(definition), asl.Standard))
	}
	whole := synth(t, func(stack awscdk.Stack) {
		cdkapp.NewJobPoller(stack, jsii.String("Ecs"), &cdkapp.JobPollerProps{
			Job: fromCatalog("ecs:ServicesStable"), MaxWait: seconds(600), Start: jsii.Bool(false),
			Arguments: &map[string]any{"Cluster": "c", "Services": sfn.JsonPath_ListAt(jsii.String("$.services"))},
		})
	})
	require.Contains(t, deployed(t, whole.only(t, "AWS::StepFunctions::StateMachine")), `"Services": "{% $states.input.services %}"`)
}

// The scope of a poller inside a Map is such a path, too.
func TestE2EPathTokenAsScope(t *testing.T) {
	t.Parallel()
	for scope, want := range map[string]string{"": "", "{% $states.inpt.index %}": "it reads $states.inpt, which does not exist there"} {
		build := func(stack awscdk.Stack) {
			if want == "" {
				scope = *sfn.JsonPath_StringAt(jsii.String("$.index"))
			}
			f := cdkapp.NewJobPollerFragment(stack, jsii.String("Orders"), &cdkapp.JobPollerFragmentProps{
				Job: fromCatalog("glue:StartJobRun"), Strategy: compile.LambdaLoop, MaxWait: seconds(600), Scope: &scope,
				Functions: newFunctions(t, stack, cdkapp.FunctionsProps{Jobs: jsii.Strings("glue:StartJobRun")}),
			})
			host(stack, f.OrFail(), "")
		}
		if want != "" {
			require.Contains(t, problem(t, build).Problem, want)
			continue
		}
		require.Contains(t, deployed(t, synth(t, build).only(t, "AWS::StepFunctions::StateMachine")), `"{% $states.input.index %}"`)
	}
}

// A definition is text, so a path in it would be the text "$.name".
func TestE2EPathTokenInADefinitionIsRefused(t *testing.T) {
	t.Parallel()
	err := problem(t, func(stack awscdk.Stack) {
		definition := `{"StartAt": "A", "States": {"A": {"Type": "Pass", "Comment": "` + *sfn.JsonPath_StringAt(jsii.String("$.name")) + `", "End": true}}}`
		cdkapp.NewJobPoller(stack, jsii.String("Own"), &cdkapp.JobPollerProps{Job: cdkapp.JobFromDefinition(&definition)})
	})
	require.Equal(t, "Job", err.Prop)
	require.Contains(t, err.Problem, "the definition joins a path of sfn.JsonPath to other text")
}
