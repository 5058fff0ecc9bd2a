//go:build e2e

package cdkapp_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/assertions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/cdkapp"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// looping is a stack with a poller whose functions have this environment.
func looping(t *testing.T, change func(stack awscdk.Stack, p *cdkapp.FunctionsProps)) template {
	t.Helper()
	return synth(t, func(stack awscdk.Stack) {
		props := cdkapp.FunctionsProps{Jobs: &[]*string{new("dynamodb:ExportTableToPointInTime")}}
		change(stack, &props)
		poller := exporting()
		poller.Strategy, poller.Functions = compile.LambdaLoop, newFunctions(t, stack, props)
		cdkapp.NewJobPoller(stack, new("Export"), poller).GrantStartExecution(awsiam.NewUser(stack, new("User"), nil))
	})
}

// A deployment with other functions leaves the versions in place that executions in
// flight invoke, and makes a version of the state machine that names the new ones.
func TestE2EDeploymentKeepsTheVersionsOfExecutionsInFlight(t *testing.T) {
	t.Parallel()
	versions := map[string]bool{}
	for _, level := range []string{"info", "debug"} {
		all := looping(t, func(_ awscdk.Stack, p *cdkapp.FunctionsProps) { p.LogLevel = &level })
		definition := deployed(t, all.only(t, "AWS::StepFunctions::StateMachine"))
		require.Len(t, all.of("AWS::Lambda::Version"), 2)
		for _, version := range all.of("AWS::Lambda::Version") {
			require.Equal(t, "Retain", version.all["DeletionPolicy"])
			require.Equal(t, "Retain", version.all["UpdateReplacePolicy"])
			require.Contains(t, definition, `"FunctionName": "{`+version.id+`}"`)
			require.NotContains(t, versions, version.id, "a version that is changed is a new one")
			versions[version.id] = true
		}
		require.Len(t, all.of("AWS::Lambda::Alias"), 2)

		machine, version := all.only(t, "AWS::StepFunctions::StateMachine"), all.only(t, "AWS::StepFunctions::StateMachineVersion")
		require.Equal(t, "Retain", version.all["UpdateReplacePolicy"])
		require.Equal(t, "{"+machine.id+".StateMachineRevisionId}", resolve(t, version.properties["StateMachineRevisionId"]))
		alias := all.only(t, "AWS::StepFunctions::StateMachineAlias")
		require.Equal(t, "live", alias.properties["Name"])
		require.Equal(t, []any{map[string]any{"StateMachineVersionArn": "{" + version.id + ".Arn}", "Weight": 100.0}}, resolve(t, alias.properties["RoutingConfiguration"]))

		invoked := asJSON(t, resolve(t, all.statements(t, "ExportRole")))
		for _, function := range all.of("AWS::Lambda::Function") {
			require.Contains(t, invoked, `"{`+function.id+`.Arn}","{`+function.id+`.Arn}:*"`, "the role is that of earlier versions of the state machine, too")
		}
		granted := ""
		for _, policy := range all.of("AWS::IAM::Policy") {
			granted += asJSON(t, resolve(t, policy.properties))
		}
		require.Contains(t, granted, `"Resource":"{`+alias.id+`.Arn}"`, "who may start the state machine may start its alias")
	}
}

// CloudFormation does not let a stack change what another one imports, so a poller of
// another stack names what does not change.
func TestE2EPollerOfAnotherStackInvokesTheAlias(t *testing.T) {
	t.Parallel()
	inStack(t, func(stack awscdk.Stack) {
		functions := newFunctions(t, stack, cdkapp.FunctionsProps{Jobs: &[]*string{new("dynamodb:ExportTableToPointInTime")}})
		other := awscdk.NewStack(awscdk.App_Of(stack), new("Other"), nil)
		poller := exporting()
		poller.Strategy, poller.Functions = compile.LambdaLoop, functions
		cdkapp.NewJobPoller(other, new("Export"), poller)
		_, theirs := templateOf(stack)
		exported := asJSON(t, theirs["Outputs"])
		require.NotContains(t, exported, "CurrentVersion")
		require.Contains(t, exported, "RunJobLive")
	})
}

// The store of before stays readable for both functions, and writable: records stay
// where they are.
func TestE2EFunctionsReadThePreviousStore(t *testing.T) {
	t.Parallel()
	all := looping(t, func(stack awscdk.Stack, p *cdkapp.FunctionsProps) {
		p.PreviousStore = cdkapp.NewRecordBucket(stack, new("Before"), &cdkapp.RecordBucketProps{Prefix: new("old")})
		p.Store = cdkapp.NewRecordTable(stack, new("Records"), nil)
	})
	bucket := all.only(t, "AWS::S3::Bucket").id
	for _, function := range all.of("AWS::Lambda::Function") {
		variables := resolve(t, function.properties["Environment"]).(map[string]any)["Variables"].(map[string]any)
		require.Equal(t, "{"+bucket+"}", variables["JOBPOLLER_PREVIOUS_BUCKET"])
		require.Equal(t, "old", variables["JOBPOLLER_PREVIOUS_PREFIX"])
		require.NotContains(t, variables, "JOBPOLLER_BUCKET")
		require.NotContains(t, variables, "JOBPOLLER_PREVIOUS_TABLE")
	}
	for _, role := range []string{"PollerRunJobRole", "PollerCheckStatusRole"} {
		granted := asJSON(t, resolve(t, all.statements(t, role)))
		require.Contains(t, granted, `"Action":["s3:GetObject","s3:PutObject"],"Effect":"Allow","Resource":"{`+bucket+`.Arn}/old/*"`)
		require.Contains(t, granted, `dynamodb:PutItem`)
	}
	same := func(stack awscdk.Stack) {
		store := cdkapp.NewRecordTable(stack, new("Records"), nil)
		newFunctions(t, stack, cdkapp.FunctionsProps{Jobs: &[]*string{new("glue:StartJobRun")}, Store: store, PreviousStore: store})
	}
	require.Equal(t, "PreviousStore", problem(t, same).Prop)
	alone := func(stack awscdk.Stack) {
		store := cdkapp.NewRecordTable(stack, new("Records"), nil)
		newFunctions(t, stack, cdkapp.FunctionsProps{Jobs: &[]*string{new("glue:StartJobRun")}, PreviousStore: store})
	}
	require.Contains(t, problem(t, alone).Problem, "give Store too")
}

// A job that is started no more is still looked after.
func TestE2ERetiredJobMayBePolledAndNotStarted(t *testing.T) {
	t.Parallel()
	all := looping(t, func(_ awscdk.Stack, p *cdkapp.FunctionsProps) { p.RetiredJobs = &[]*string{new("glue:StartJobRun")} })
	check, run := allowed(t, all, "PollerCheckStatusRole"), allowed(t, all, "PollerRunJobRole")
	require.Contains(t, check, "glue:GetJobRun")
	require.Contains(t, check, "glue:BatchStopJobRun")
	require.NotContains(t, run, "glue:StartJobRun")
	for _, function := range all.of("AWS::Lambda::Function") {
		require.Equal(t, "dynamodb:ExportTableToPointInTime", function.properties["Environment"].(map[string]any)["Variables"].(map[string]any)["JOBPOLLER_JOBS"])
	}
	for job, text := range map[string]string{"dynamodb:ExportTableToPointInTime": "is also in Jobs", "glue:StartJobRuns": `the functions have no driver for the job "glue:StartJobRuns"`} {
		found := problem(t, func(stack awscdk.Stack) {
			newFunctions(t, stack, cdkapp.FunctionsProps{Jobs: &[]*string{new("dynamodb:ExportTableToPointInTime")}, RetiredJobs: &[]*string{&job}})
		})
		require.Equal(t, "RetiredJobs", found.Prop)
		require.Contains(t, found.Problem, text)
	}
}

// A key of one's own gives the state machine a name, so one that had none is
// replaced. With a name of its own it is not.
func TestE2EKeyDoesNotReplaceAMachineWithoutAWord(t *testing.T) {
	t.Parallel()
	for name, warns := range map[string]bool{"": true, "exports": false} {
		inStack(t, func(stack awscdk.Stack) {
			props := exporting()
			props.EncryptionKey = awskms.NewKey(stack, new("Key"), nil)
			if name != "" {
				props.StateMachineProps = &awsstepfunctions.StateMachineProps{StateMachineName: &name}
			}
			cdkapp.NewJobPoller(stack, new("Export"), props)
			found := assertions.Annotations_FromStack(stack).FindWarning(new("*"), assertions.Match_StringLikeRegexp(new("this deployment replaces one")))
			require.Equal(t, warns, len(*found) == 1)
		})
	}
}

// A version that is given is what the definition names; its function gets the
// variables, and its other versions may be invoked.
func TestE2EFunctionPollerInvokesTheVersionsGiven(t *testing.T) {
	t.Parallel()
	all := synth(t, func(stack awscdk.Stack) {
		run := ownFunction(stack, "Run", 30)
		check := awslambda.NewAlias(stack, new("Live"), &awslambda.AliasProps{AliasName: new("live"), Version: ownFunction(stack, "Check", 30).CurrentVersion()})
		cdkapp.NewFunctionPoller(stack, new("Poller"), &cdkapp.FunctionPollerProps{RunJob: run.CurrentVersion(), CheckStatus: check})
	})
	definition := deployed(t, all.only(t, "AWS::StepFunctions::StateMachine"))
	require.Contains(t, definition, `"FunctionName": "{RunCurrentVersion`)
	require.Contains(t, definition, `"FunctionName": "{Live`)
	invoked := asJSON(t, resolve(t, all.statements(t, "PollerRole")))
	for _, function := range all.of("AWS::Lambda::Function") {
		require.Contains(t, invoked, `"{`+function.id+`.Arn}:*"`)
		require.Contains(t, asJSON(t, function.properties["Environment"]), "JOBPOLLER_BUCKET")
		require.True(t, strings.HasPrefix(function.id, "Run") || strings.HasPrefix(function.id, "Check"))
	}
}
