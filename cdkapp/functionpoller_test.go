//go:build e2e

package cdkapp_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/cdkapp"
	"github.com/jobpoller/jobpoller/statemachines"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// ownFunction is a function of a user's, with a timeout in seconds.
func ownFunction(stack awscdk.Stack, id string, timeout float64) awslambda.Function {
	return awslambda.NewFunction(stack, &id, &awslambda.FunctionProps{
		Runtime: awslambda.Runtime_NODEJS_22_X(), Handler: new("index.handler"), Code: awslambda.Code_FromInline(new("exports.handler = async () => {}")),
		Timeout: seconds(timeout),
	})
}

func TestE2EFunctionPoller(t *testing.T) {
	t.Parallel()
	for limit, definition := range map[cdkapp.LimitBy]string{"": "lambda-loop", cdkapp.LimitByTime: "lambda-loop", cdkapp.LimitByCount: "lambda-loop-count"} {
		all := synth(t, func(stack awscdk.Stack) {
			p := cdkapp.NewFunctionPoller(stack, new("Poller"), &cdkapp.FunctionPollerProps{
				RunJob: ownFunction(stack, "Run", 30), CheckStatus: ownFunction(stack, "Check", 30),
				LimitBy: limit, MaxWait: awscdk.Duration_Days(new(60.0)), Dashboard: new(true),
			})
			require.NotNil(t, p.Store().Bucket())
			require.Nil(t, p.Functions())
			require.Nil(t, p.Report())
			awscdk.Tags_Of(p).Add(new("team"), new("data"), nil)
		})
		requireGolden(t, "functionpoller-"+definition, all)
		run, check := functionARN(t, all, "Run", ""), functionARN(t, all, "Check", "")
		machine := all.only(t, "AWS::StepFunctions::StateMachine")
		if limit == cdkapp.LimitByCount {
			shipped, err := statemachines.Definition(definition)
			require.NoError(t, err)
			names := strings.NewReplacer(statemachines.RunJobFunction, run, statemachines.CheckStatusFunction, check)
			require.Equal(t, names.Replace(string(shipped)), deployed(t, machine))
		}
		require.Empty(t, asl.Validate([]byte(deployed(t, machine)), asl.Standard))
		requireJustified(t, all, machine, nil, "", true)

		bucket := all.only(t, "AWS::S3::Bucket").id
		for _, function := range all.of("AWS::Lambda::Function") {
			require.Equal(t, map[string]any{"Variables": map[string]any{
				"JOBPOLLER_BUCKET": "{" + bucket + "}", "JOBPOLLER_PREFIX": "jobpoller", "JOBPOLLER_RETENTION_DAYS": "75",
			}}, resolve(t, function.properties["Environment"]))
			records := asJSON(t, resolve(t, all.statements(t, strings.TrimRight(function.id, "0123456789ABCDEF")+"ServiceRole")))
			require.Contains(t, records, `"Action":["s3:GetObject","s3:PutObject"],"Effect":"Allow","Resource":"{`+bucket+`.Arn}/jobpoller/*"`)
		}
		require.Len(t, all.of("AWS::CloudWatch::Alarm"), 7, "three of executions, throttles and errors of both functions")
	}
}

// Functions that others have deployed, with a table of theirs.
func TestE2EFunctionPollerOfOthers(t *testing.T) {
	t.Parallel()
	arn := "arn:aws:lambda:us-east-1:123456789012:function:"
	all := synth(t, func(stack awscdk.Stack) {
		store := cdkapp.NewRecordTable(stack, new("Records"), nil)
		cdkapp.NewFunctionPoller(stack, new("Poller"), &cdkapp.FunctionPollerProps{
			RunJob:      awslambda.Function_FromFunctionArn(stack, new("Run"), new(arn+"run")),
			CheckStatus: awslambda.Function_FromFunctionArn(stack, new("Check"), new(arn+"check")),
			Store:       store, Alarms: new(false),
		})
	})
	require.Empty(t, all.of("AWS::S3::Bucket"))
	machine := all.only(t, "AWS::StepFunctions::StateMachine")
	require.Contains(t, deployed(t, machine), arn+"check")
	requireJustified(t, all, machine, nil, "", true)
}

// Functions are told of the store that is given, which is not in this stack if they
// are in another.
func TestE2EFunctionPollerWithAStore(t *testing.T) {
	t.Parallel()
	inStack(t, func(stack awscdk.Stack) {
		other := awscdk.NewStack(awscdk.App_Of(stack), new("Other"), nil)
		cdkapp.NewFunctionPoller(stack, new("Poller"), &cdkapp.FunctionPollerProps{
			RunJob: ownFunction(other, "Run", 30), CheckStatus: ownFunction(other, "Check", 30),
			Store: cdkapp.NewRecordTable(other, new("Records"), nil),
		})
		_, all := templateOf(other)
		for _, function := range all.of("AWS::Lambda::Function") {
			require.Equal(t, map[string]any{"Variables": map[string]any{
				"JOBPOLLER_TABLE": "{" + all.only(t, "AWS::DynamoDB::Table").id + "}", "JOBPOLLER_PREFIX": "jobpoller", "JOBPOLLER_RETENTION_DAYS": "60",
			}}, resolve(t, function.properties["Environment"]))
		}
		require.Len(t, all.of("AWS::Lambda::Function"), 2)
		templateOf(stack)
	})
	e := problem(t, func(stack awscdk.Stack) {
		other := awscdk.NewStack(awscdk.App_Of(stack), new("Other"), nil)
		cdkapp.NewFunctionPoller(stack, new("Poller"), &cdkapp.FunctionPollerProps{
			RunJob: ownFunction(other, "Run", 30), CheckStatus: ownFunction(other, "Check", 30),
		})
	})
	require.Equal(t, "Store", e.Prop)
	require.Contains(t, e.Problem, "RunJob is in another stack")
}

func TestE2EFunctionPollerRefusesProps(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change  func(stack awscdk.Stack, p *cdkapp.FunctionPollerProps)
		prop    string
		problem []string
	}{
		"no run":   {func(_ awscdk.Stack, p *cdkapp.FunctionPollerProps) { p.RunJob = nil }, "RunJob", []string{"required"}},
		"no check": {func(_ awscdk.Stack, p *cdkapp.FunctionPollerProps) { p.CheckStatus = nil }, "CheckStatus", []string{"required"}},
		"slow check": {
			func(stack awscdk.Stack, p *cdkapp.FunctionPollerProps) {
				p.CheckStatus = ownFunction(stack, "Slow", 300)
			},
			"CheckStatus",
			[]string{"5m0s", "55s"},
		},
		"unknown limit": {func(_ awscdk.Stack, p *cdkapp.FunctionPollerProps) { p.LimitBy = "LUCK" }, "LimitBy", []string{`"TIME"`, `"LUCK"`}},
		"a stop after a count": {
			func(stack awscdk.Stack, p *cdkapp.FunctionPollerProps) {
				p.LimitBy, p.StopJob = cdkapp.LimitByCount, ownFunction(stack, "Stop", 30)
			},
			"StopJob",
			[]string{"nothing stops the job", "LimitByTime"},
		},
		"express": {
			func(_ awscdk.Stack, p *cdkapp.FunctionPollerProps) {
				p.StateMachineProps = &awsstepfunctions.StateMachineProps{StateMachineType: awsstepfunctions.StateMachineType_EXPRESS}
			},
			"StateMachineProps.StateMachineType",
			[]string{"5 minutes"},
		},
		"two years": {func(_ awscdk.Stack, p *cdkapp.FunctionPollerProps) { p.MaxWait = awscdk.Duration_Days(new(730.0)) }, "MaxWait", []string{"from 1 to a year"}},
		"records that are gone": {
			func(stack awscdk.Stack, p *cdkapp.FunctionPollerProps) {
				p.Store, p.MaxWait = cdkapp.NewRecordTable(stack, new("Records"), nil), awscdk.Duration_Days(new(50.0))
			},
			"MaxWait",
			[]string{"60 days", "65 days"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := problem(t, func(stack awscdk.Stack) {
				props := &cdkapp.FunctionPollerProps{RunJob: ownFunction(stack, "Run", 30), CheckStatus: ownFunction(stack, "Check", 30)}
				c.change(stack, props)
				cdkapp.NewFunctionPoller(stack, new("Poller"), props)
			})
			require.Equal(t, "Stack/Poller", e.Path)
			require.Equal(t, c.prop, e.Prop)
			for _, text := range c.problem {
				require.Contains(t, e.Problem, text)
			}
		})
	}
}
