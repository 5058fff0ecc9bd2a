//go:build e2e

package cdkapp_test

import (
	"cmp"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/cdkapp"
)

// All problems of the props are told at once.
func TestE2EAllProblemsAtOnce(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		build func(stack awscdk.Stack)
		want  []string
	}{
		"one": {func(stack awscdk.Stack) {
			cdkapp.NewJobPoller(stack, new("Poller"), &cdkapp.JobPollerProps{Job: fromCatalog("dynamodb:ExportCompleted")})
		}, []string{"MaxWait"}},
		"of the machine and of the wait": {func(stack awscdk.Stack) {
			cdkapp.NewJobPoller(stack, new("Poller"), &cdkapp.JobPollerProps{
				Job: fromCatalog("dynamodb:ExportCompleted"), StateMachineProps: &awsstepfunctions.StateMachineProps{StateMachineType: "EXPRESS"},
				Alarms: new(false), AlarmActions: &[]awscloudwatch.IAlarmAction{},
				Strategy: "often", MinDelay: awscdk.Duration_Millis(new(1.0)), Events: new(0.5),
			})
		}, []string{"StateMachineProps.StateMachineType", "AlarmActions", "Strategy", "MinDelay", "MaxWait", "Events"}},
		"beside no job": {func(stack awscdk.Stack) {
			cdkapp.NewJobPoller(stack, new("Poller"), &cdkapp.JobPollerProps{MaxDelay: awscdk.Duration_Millis(new(1.0))})
		}, []string{"Job", "MaxDelay", "MaxWait"}},
		"of functions that a poller makes": {func(stack awscdk.Stack) {
			props := exporting()
			props.Strategy, props.Events = "often", new(0.5)
			props.FunctionProps = &awslambda.FunctionProps{Handler: new("main"), Profiling: new(true)}
			cdkapp.NewJobPoller(stack, new("Poller"), props)
		}, []string{"FunctionProps.Profiling", "FunctionProps.Handler", "Strategy", "Events"}},
		"of functions that a poller is given": {func(stack awscdk.Stack) {
			props := exporting()
			props.Strategy, props.Functions = "lambda-loop", newFunctions(t, stack, cdkapp.FunctionsProps{Jobs: &[]*string{new("glue:StartJobRun")}})
			props.Store, props.FunctionProps = props.Functions.Store(), ofMemory(256)
			cdkapp.NewJobPoller(stack, new("Poller2"), props)
		}, []string{"FunctionProps", "Store", "Functions"}},
		"functions": {func(stack awscdk.Stack) {
			cdkapp.NewFunctions(stack, new("Poller"), &cdkapp.FunctionsProps{
				Jobs: &[]*string{new("glue"), new("glue:StartJobRuns")}, HttpHosts: &[]*string{new("example.com")}, RetiredJobs: &[]*string{new("glue")},
				MaxWait: awscdk.Duration_Millis(new(1.0)), LogLevel: new("loud"), FunctionProps: &awslambda.FunctionProps{
					Timeout: awscdk.Duration_Minutes(new(2.0)), Environment: &map[string]*string{"JOBPOLLER_JOBS": new("x")},
				},
			})
		}, []string{"HttpHosts", "Jobs", "Jobs", "RetiredJobs", "MaxWait", "FunctionProps.Environment", "FunctionProps.Timeout", "LogLevel"}},
		"functions of one's own": {func(stack awscdk.Stack) {
			cdkapp.NewFunctionPoller(stack, new("Poller"), &cdkapp.FunctionPollerProps{
				RunJob: ownFunction(stack, "Run", 300), LimitBy: "LUCK", MaxWait: awscdk.Duration_Millis(new(1.0)), TracingEnabled: new(true),
				PreviousStore: cdkapp.NewRecordTable(stack, new("Before"), nil),
			})
		}, []string{"RunJob", "CheckStatus", "PreviousStore", "LimitBy", "MaxWait"}},
		"a bucket of records": {func(stack awscdk.Stack) {
			cdkapp.NewRecordBucket(stack, new("Poller"), &cdkapp.RecordBucketProps{
				Bucket: awss3.Bucket_FromBucketName(stack, new("Own"), new("own")), Prefix: new("*"), Retention: days(1),
				AutoDeleteObjects: new(true), RemovalPolicy: awscdk.RemovalPolicy_DESTROY,
			})
		}, []string{"Prefix", "Retention", "AutoDeleteObjects", "RemovalPolicy"}},
		"a table of records": {func(stack awscdk.Stack) {
			cdkapp.NewRecordTable(stack, new("Poller"), &cdkapp.RecordTableProps{Prefix: new("/"), MaxWait: days(730), Retention: days(5)})
		}, []string{"Prefix", "MaxWait", "Retention"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireProblems(t, problem(t, tt.build), tt.want)
		})
	}
}

func TestE2EAllProblemsOfTheContextAtOnce(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		context map[string]any
		want    []string
	}{
		{
			map[string]any{
				"jobs": "ec2-image,lambda-loop", "job": "lambda-loop", "stackName": "My Stack", "store": "tabel", "logLevel": "error", "tracing": "yes",
				"alarmTopic": "alarms", "dashboard": "maybe", "removal": "keep", "remove": "glue-crawler", "httpHosts": "example.com",
				"ec2-image:ec2:CreateImages": "*", "ec2-image:ec2:CreateImage": "i-1",
			},
			[]string{
				"job", "ec2-image:ec2:CreateImage", "ec2-image:ec2:CreateImages", "httpHosts", "remove",
				"stackName", "store", "logLevel", "tracing", "alarmTopic", "dashboard", "removal",
			},
		},
		{map[string]any{"jobs": "ec2-image", "store": "table", "retiredJobs": "glue:StartJobRun", "alarms": "no"}, []string{"store", "retiredJobs", "alarms"}},
	} {
		requireProblems(t, contextProblem(t, tt.context), tt.want)
	}
}

// requireProblems tells the props, or the keys of the context, that an Error has a line
// for each.
func requireProblems(t *testing.T, e *cdkapp.Error, want []string) {
	t.Helper()
	found := []string{cmp.Or(e.Prop, e.Context)}
	for _, other := range e.Others {
		require.Empty(t, other.Others)
		found = append(found, cmp.Or(other.Prop, other.Context))
	}
	require.Equal(t, want, found)
	require.Len(t, strings.Split(e.Error(), "\n"), len(want))
}
