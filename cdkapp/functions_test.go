//go:build e2e

package cdkapp_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/assertions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/cdkapp"
	"github.com/jobpoller/jobpoller/pollcore"
	permission "github.com/jobpoller/jobpoller/pollcore/access"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// newFunctions deploys functions whose packages are not built.
func newFunctions(t *testing.T, stack awscdk.Stack, props cdkapp.FunctionsProps) cdkapp.Functions {
	t.Helper()
	props.CodeFolder = codeFolder(t)
	return cdkapp.NewFunctions(stack, jsii.String("Poller"), &props)
}

func TestE2EFunctions(t *testing.T) {
	t.Parallel()
	inStack(t, func(stack awscdk.Stack) {
		made := newFunctions(t, stack, cdkapp.FunctionsProps{Jobs: jsii.Strings("glue:StartJobRun")})
		require.Nil(t, made.Table())
		require.Equal(t, *made.Store().Bucket().BucketArn(), *made.Bucket().BucketArn())
		require.Equal(t, *jsii.Strings("glue:StartJobRun"), *made.Jobs())
		made.GrantInvoke(newRole(stack))
		synthesized, all := templateOf(stack)
		synthesized.AllResourcesProperties(jsii.String("AWS::Lambda::Function"), map[string]any{
			"Architectures": []any{"arm64"}, "Handler": "bootstrap", "MemorySize": 128, "PackageType": assertions.Match_Absent(),
			"Runtime": "provided.al2023", "Timeout": 30, "TracingConfig": map[string]any{"Mode": "Active"},
			"ReservedConcurrentExecutions": assertions.Match_Absent(), "KmsKeyArn": assertions.Match_Absent(),
		})
		synthesized.AllResourcesProperties(jsii.String("AWS::Logs::LogGroup"), map[string]any{"RetentionInDays": 30, "KmsKeyId": assertions.Match_Absent()})
		synthesized.ResourceCountIs(jsii.String("AWS::Lambda::Function"), jsii.Number(2))
		synthesized.ResourceCountIs(jsii.String("AWS::Logs::LogGroup"), jsii.Number(2))
		requireGolden(t, "functions", all)

		run, check := all.named(t, "AWS::Lambda::Function", "PollerRunJob").id, all.named(t, "AWS::Lambda::Function", "PollerCheckStatus").id
		require.JSONEq(t, `[{"Effect": "Allow", "Action": "lambda:InvokeFunction",
			"Resource": ["{`+run+`.Arn}", "{`+run+`.Arn}:*", "{`+check+`.Arn}", "{`+check+`.Arn}:*"]}]`, asJSON(t, resolve(t, all.statements(t, "Role"))))
	})
}

// Each function may do what it calls, and no more.
// Where one job knows an action's resources and another does not, all are allowed.
func TestE2EResourcesThatAreNotKnown(t *testing.T) {
	t.Parallel()
	all := synth(t, func(stack awscdk.Stack) {
		newFunctions(t, stack, cdkapp.FunctionsProps{Jobs: jsii.Strings("dynamodb:ExportTableToPointInTime", "dynamodb:ExportCompleted")})
	})
	describe := allowed(t, all, "PollerCheckStatusRole")["dynamodb:DescribeExport"]
	require.Len(t, describe, 1)
	require.Contains(t, describe[0], ":table/*/export/*")
}

func TestE2ERolesOfFunctions(t *testing.T) {
	t.Parallel()
	all := synth(t, func(stack awscdk.Stack) {
		newFunctions(t, stack, cdkapp.FunctionsProps{Jobs: jsii.Strings("glue:StartJobRun"), TracingEnabled: jsii.Bool(false)})
	})
	bucket := all.only(t, "AWS::S3::Bucket").id
	records := `
		{"Effect": "Allow", "Action": ["s3:GetObject", "s3:PutObject"],
		 "Resource": {"Fn::Join": ["", [{"Fn::GetAtt": ["` + bucket + `", "Arn"]}, "/jobpoller/*"]]}},
		{"Effect": "Allow", "Action": "s3:ListBucket", "Resource": {"Fn::GetAtt": ["` + bucket + `", "Arn"]},
		 "Condition": {"StringLike": {"s3:prefix": "jobpoller/*"}}}`
	job := `{"Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, ":glue:", {"Ref": "AWS::Region"}, ":", {"Ref": "AWS::AccountId"}, ":job/*"]]}`
	log := func(of string) string {
		return `{"Effect": "Allow", "Action": ["logs:CreateLogStream", "logs:PutLogEvents"],
			"Resource": {"Fn::GetAtt": ["` + all.named(t, "AWS::Logs::LogGroup", of).id + `", "Arn"]}},`
	}
	require.JSONEq(t, `[{"Effect": "Allow", "Action": "glue:StartJobRun", "Resource": `+job+`},`+log("PollerRunJobLog")+records+`]`,
		asJSON(t, all.statements(t, "PollerRunJobRole")))
	require.JSONEq(t, `[{"Effect": "Allow", "Action": ["glue:BatchStopJobRun", "glue:GetJobRun"], "Resource": `+job+`},`+log("PollerCheckStatusLog")+records+`]`,
		asJSON(t, all.statements(t, "PollerCheckStatusRole")))
	for _, role := range all.of("AWS::IAM::Role") {
		require.NotContains(t, role.properties, "ManagedPolicyArns")
		require.JSONEq(t, `{"Version": "2012-10-17", "Statement": [
			{"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "lambda.amazonaws.com"}}]}`, asJSON(t, role.properties["AssumeRolePolicyDocument"]))
	}
}

// environmentOf returns the environment of the functions, which is the same for
// both.
func environmentOf(t *testing.T, all template) map[string]any {
	t.Helper()
	run := all.named(t, "AWS::Lambda::Function", "PollerRunJob").properties["Environment"]
	require.Equal(t, run, all.named(t, "AWS::Lambda::Function", "PollerCheckStatus").properties["Environment"])
	return run.(map[string]any)["Variables"].(map[string]any)
}

func TestE2EEnvironmentOfFunctions(t *testing.T) {
	t.Parallel()
	all := synth(t, func(stack awscdk.Stack) {
		newFunctions(t, stack, cdkapp.FunctionsProps{
			Jobs:             jsii.Strings("http:Request", "athena:StartQueryExecution", "http:Request"),
			HttpHosts:        jsii.Strings("api.example.com", "*.example.org"),
			MaxWait:          days(50),
			LogLevel:         jsii.String("debug"),
			MetricsNamespace: jsii.String("none"),
			FunctionProps:    &awslambda.FunctionProps{Environment: &map[string]*string{"PALETTE": jsii.String("warm")}},
		})
	})
	bucket := all.only(t, "AWS::S3::Bucket")
	require.Equal(t, map[string]any{
		"JOBPOLLER_BUCKET": map[string]any{"Ref": bucket.id}, "JOBPOLLER_PREFIX": "jobpoller",
		"JOBPOLLER_JOBS": "athena:StartQueryExecution,http:Request", "JOBPOLLER_HTTP_HOSTS": "api.example.com,*.example.org",
		"JOBPOLLER_MAX_WAIT_SECONDS": "4320000", "JOBPOLLER_RETENTION_DAYS": "65",
		"JOBPOLLER_LOG_LEVEL": "debug", "JOBPOLLER_METRICS_NAMESPACE": "none", "PALETTE": "warm",
	}, environmentOf(t, all))
	require.Contains(t, asJSON(t, bucket.properties["LifecycleConfiguration"]), `"ExpirationInDays":65`)
}

func TestE2EFunctionsWithATable(t *testing.T) {
	t.Parallel()
	all := synth(t, func(stack awscdk.Stack) {
		made := newFunctions(t, stack, cdkapp.FunctionsProps{
			Jobs:  jsii.Strings("dynamodb:ExportCompleted"),
			Store: cdkapp.NewRecordTable(stack, jsii.String("Records"), &cdkapp.RecordTableProps{Retention: days(20)}),
		})
		require.Nil(t, made.Bucket())
	})
	require.Empty(t, all.of("AWS::S3::Bucket"))
	table := all.only(t, "AWS::DynamoDB::Table").id
	require.Equal(t, map[string]any{
		"JOBPOLLER_TABLE": map[string]any{"Ref": table}, "JOBPOLLER_PREFIX": "jobpoller", "JOBPOLLER_JOBS": "dynamodb:ExportCompleted",
		"JOBPOLLER_RETENTION_DAYS": "20", "JOBPOLLER_LOG_LEVEL": "info", "JOBPOLLER_DEPLOYMENT": "Stack/Poller",
	}, environmentOf(t, all))
	// A waiter starts nothing.
	require.Equal(t, []string{"dynamodb:GetItem", "dynamodb:PutItem", "logs:CreateLogStream", "logs:PutLogEvents", "xray:PutTelemetryRecords", "xray:PutTraceSegments"},
		slices.Sorted(maps.Keys(allowed(t, all, "PollerRunJobRole"))))
	describe := allowed(t, all, "PollerCheckStatusRole")["dynamodb:DescribeExport"]
	require.Len(t, describe, 1)
	require.Contains(t, describe[0], ":table/*/export/*")
}

// CloudWatch takes values of dimensions in ASCII alone, which an id need not be.
func TestE2EDeploymentInASCII(t *testing.T) {
	t.Parallel()
	all := synth(t, func(stack awscdk.Stack) {
		cdkapp.NewFunctions(stack, new("Aufträge"), &cdkapp.FunctionsProps{Jobs: jsii.Strings("glue:StartJobRun"), CodeFolder: codeFolder(t)})
	})
	for _, f := range all.of("AWS::Lambda::Function") {
		require.Equal(t, `Stack/Auftr\u00e4ge`, f.properties["Environment"].(map[string]any)["Variables"].(map[string]any)["JOBPOLLER_DEPLOYMENT"])
	}
}

// allowed returns the resources of each action that a role is allowed, as JSON.
func allowed(t *testing.T, all template, role string) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	list := func(value any) []any {
		if several, ok := value.([]any); ok {
			return several
		}
		return []any{value}
	}
	for _, s := range all.statements(t, role) {
		s := s.(map[string]any)
		require.Equal(t, "Allow", s["Effect"])
		for _, action := range list(s["Action"]) {
			require.NotContains(t, action, "*")
			for _, resource := range list(s["Resource"]) {
				found[action.(string)] = append(found[action.(string)], asJSON(t, resource))
			}
		}
	}
	return found
}

func TestE2ENarrowedResources(t *testing.T) {
	t.Parallel()
	all := synth(t, func(stack awscdk.Stack) {
		newFunctions(t, stack, cdkapp.FunctionsProps{
			Jobs: jsii.Strings("comprehend:StartEntitiesDetectionJob", "redshift-data:ExecuteStatement", "ec2:InstanceRunning"),
			Resources: &map[string]*[]*string{
				"iam:PassRole":                   jsii.Strings("arn:aws:iam::123456789012:role/comprehend"),
				"redshift-data:ExecuteStatement": jsii.Strings("arn:aws:redshift:eu-west-1:123456789012:cluster:b", "arn:aws:redshift:eu-west-1:123456789012:cluster:a"),
				"secretsmanager:GetSecretValue":  {},
			},
		})
	})
	run := allowed(t, all, "PollerRunJobRole")
	require.Equal(t, []string{`"arn:aws:iam::123456789012:role/comprehend"`}, run["iam:PassRole"])
	require.Equal(t, []string{`"arn:aws:redshift:eu-west-1:123456789012:cluster:a"`, `"arn:aws:redshift:eu-west-1:123456789012:cluster:b"`}, run["redshift-data:ExecuteStatement"])
	require.NotContains(t, run, "secretsmanager:GetSecretValue")
	require.Contains(t, run, "redshift:GetClusterCredentials")
	require.Len(t, run["comprehend:StartEntitiesDetectionJob"], 3, "a job, a recognizer and a flywheel")
	require.NotContains(t, run, "comprehend:DescribeEntitiesDetectionJob")
	check := allowed(t, all, "PollerCheckStatusRole")
	require.Contains(t, check, "comprehend:DescribeEntitiesDetectionJob")
	require.Contains(t, check, "comprehend:StopEntitiesDetectionJob")
	require.Contains(t, check, "ec2:DescribeInstances")
	require.NotContains(t, check, "comprehend:StartEntitiesDetectionJob")
}

func TestE2EFunctionsWithOptions(t *testing.T) {
	t.Parallel()
	all := synth(t, func(stack awscdk.Stack) {
		newFunctions(t, stack, cdkapp.FunctionsProps{
			Jobs: jsii.Strings("lambda:Invoke"),
			FunctionProps: &awslambda.FunctionProps{
				Architecture: awslambda.Architecture_X86_64(), MemorySize: jsii.Number(256),
				Timeout: awscdk.Duration_Seconds(jsii.Number(50)), ReservedConcurrentExecutions: jsii.Number(5),
			},
			LogRetention:   awslogs.RetentionDays_ONE_WEEK,
			TracingEnabled: jsii.Bool(false),
			EncryptionKey:  awskms.NewKey(stack, jsii.String("Key"), nil),
			RemovalPolicy:  awscdk.RemovalPolicy_DESTROY,
		})
	})
	key := all.only(t, "AWS::KMS::Key")
	for _, f := range all.of("AWS::Lambda::Function") {
		require.Equal(t, []any{"x86_64"}, f.properties["Architectures"])
		require.EqualValues(t, 256, f.properties["MemorySize"])
		require.EqualValues(t, 50, f.properties["Timeout"])
		require.EqualValues(t, 5, f.properties["ReservedConcurrentExecutions"])
		require.NotContains(t, f.properties, "TracingConfig")
	}
	for _, log := range all.of("AWS::Logs::LogGroup") {
		require.EqualValues(t, 7, log.properties["RetentionInDays"])
		require.Equal(t, map[string]any{"Fn::GetAtt": []any{key.id, "Arn"}}, log.properties["KmsKeyId"])
		require.Equal(t, "Delete", log.all["DeletionPolicy"])
	}
	require.Equal(t, "Delete", all.only(t, "AWS::S3::Bucket").all["DeletionPolicy"])
	require.Contains(t, asJSON(t, all.only(t, "AWS::S3::Bucket").properties["BucketEncryption"]), "aws:kms")
	for _, role := range []string{"PollerRunJobRole", "PollerCheckStatusRole"} {
		may := allowed(t, all, role)
		require.Equal(t, []string{`{"Fn::GetAtt":["` + key.id + `","Arn"]}`}, may["kms:GenerateDataKey"])
		require.Contains(t, may, "kms:Decrypt")
		require.NotContains(t, may, "xray:PutTraceSegments")
	}
	require.Contains(t, allowed(t, all, "PollerRunJobRole"), "lambda:InvokeFunction")
	require.NotContains(t, allowed(t, all, "PollerCheckStatusRole"), "lambda:InvokeFunction")

	// The logs of this account may use the key, which the key itself has to say.
	statements := key.properties["KeyPolicy"].(map[string]any)["Statement"].([]any)
	require.Len(t, statements, 2, "one for the account, one for the logs of both functions")
	require.JSONEq(t, `{"Effect": "Allow", "Resource": "*",
		"Action": ["kms:Encrypt", "kms:Decrypt", "kms:ReEncryptFrom", "kms:ReEncryptTo", "kms:GenerateDataKey", "kms:GenerateDataKeyWithoutPlaintext", "kms:DescribeKey"],
		"Principal": {"Service": {"Fn::Join": ["", ["logs.", {"Ref": "AWS::Region"}, ".", {"Ref": "AWS::URLSuffix"}]]}},
		"Condition": {"ArnLike": {"kms:EncryptionContext:aws:logs:arn": {"Fn::Join": ["", [
			"arn:", {"Ref": "AWS::Partition"}, ":logs:", {"Ref": "AWS::Region"}, ":", {"Ref": "AWS::AccountId"}, ":log-group:*"]]}}}}`, asJSON(t, statements[1]))
}

// Drivers of one's own come with functions of one's own.
func TestE2EFunctionsOfOnesOwn(t *testing.T) {
	t.Parallel()
	oven := "oven:Bake" + strings.Repeat("Bread", 50)
	all := synth(t, func(stack awscdk.Stack) {
		code := awslambda.Code_FromAsset(codeFolder(t), nil)
		made := cdkapp.NewFunctions(stack, jsii.String("Poller"), &cdkapp.FunctionsProps{
			Jobs: jsii.Strings(oven, "glue:StartJobRun"), RunJobCode: code, CheckStatusCode: code,
		})
		made.RunJob().AddToRolePolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
			Actions: jsii.Strings("oven:Bake"), Resources: jsii.Strings("arn:aws:oven:eu-west-1:123456789012:rack/1"),
		}))
	})
	run := allowed(t, all, "PollerRunJobRole")
	require.Contains(t, run, "oven:Bake")
	require.Contains(t, run, "glue:StartJobRun")
	require.Equal(t, "glue:StartJobRun,"+oven, environmentOf(t, all)["JOBPOLLER_JOBS"])
	for _, function := range all.of("AWS::Lambda::Function") {
		require.LessOrEqual(t, len(function.properties["Description"].(string)), 256)
	}
}

// baking is a driver of one's own, as a stack needs it.
type baking struct{ name string }

func (d baking) Name() string { return d.name }
func (baking) Waiter() *pollcore.Waiter {
	return pollcore.MustNew("Baked", pollcore.Succeed(pollcore.Output("Status").Is("DONE")))
}

func (baking) Permissions() []permission.Permission {
	return []permission.Permission{
		{Action: "oven:Bake", For: permission.ForStart, Resource: "arn:${Partition}:oven:${Region}:${Account}:rack/${Rack}"},
		{Action: "oven:Look", For: permission.ForDescribe, Resource: "*"},
	}
}

// Each role gets the driver's permissions for its own calls, and one main is built for all functions.
func TestE2EFunctionsWithDrivers(t *testing.T) {
	t.Parallel()
	build := func(driver baking, props cdkapp.JobPollerProps) func(awscdk.Stack) {
		return func(stack awscdk.Stack) {
			props.Functions = cdkapp.NewFunctions(stack, jsii.String("Poller"), &cdkapp.FunctionsProps{
				Drivers: &[]cdkapp.Driver{driver}, Package: jsii.String("../lambdas/runjob"),
			})
			props.Job, props.MaxWait = cdkapp.JobFromDriver(driver), seconds(3600)
			cdkapp.NewJobPoller(stack, jsii.String("Bakery"), &props)
		}
	}
	all := synth(t, build(baking{"oven:Bake"}, cdkapp.JobPollerProps{Strategy: compile.LambdaLoop, Arguments: &map[string]any{"Bread": "{% $states.input.bread %}"}}))
	run, check := allowed(t, all, "PollerRunJobRole"), allowed(t, all, "PollerCheckStatusRole")
	require.Contains(t, run, "oven:Bake")
	require.NotContains(t, run, "oven:Look")
	require.Contains(t, check, "oven:Look")
	require.NotContains(t, check, "oven:Bake")
	require.Equal(t, "oven:Bake", environmentOf(t, all)["JOBPOLLER_JOBS"])
	for _, tt := range []struct {
		prop, want string
		driver     baking
		props      cdkapp.JobPollerProps
	}{
		{"Signal", "functions run the job oven:Bake", baking{"oven:Bake"}, cdkapp.JobPollerProps{}},
		{"OnTimeout", "if its driver can", baking{"oven:Bake"}, cdkapp.JobPollerProps{Strategy: compile.LambdaLoop, OnTimeout: cdkapp.OnTimeoutLeave}},
		{"Job", "a name with a colon", baking{"bake"}, cdkapp.JobPollerProps{Strategy: compile.LambdaLoop}},
	} {
		err := problem(t, build(tt.driver, tt.props))
		require.Equal(t, tt.prop, err.Prop)
		require.Contains(t, err.Problem, tt.want)
	}
}

// A package that is not main cannot be the functions.
func TestE2EPackageThatIsNotMain(t *testing.T) {
	t.Parallel()
	err := problem(t, func(stack awscdk.Stack) {
		cdkapp.NewFunctions(stack, jsii.String("Poller"), &cdkapp.FunctionsProps{
			Drivers: &[]cdkapp.Driver{baking{"oven:Bake"}}, Package: jsii.String("../lambdas/jobs"),
		})
	})
	require.Equal(t, "Package", err.Prop)
	require.Contains(t, err.Problem, "../lambdas/jobs is package jobs, which cannot run: name a package main, such as one that calls handler.Main")
}

// announcing is a driver whose service sends events.
type announcing struct{ baking }

func (announcing) EventPattern() map[string]any { return map[string]any{"source": []string{"oven"}} }

// AUTO is EVENTS for a driver of one's own where there is a collector, and polls by
// functions where there is none.
func TestE2ESignalAutoOfADriver(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		driver    cdkapp.Driver
		collector bool
		want      compile.Strategy
		says      string
	}{
		{announcing{baking{"oven:Bake"}}, true, compile.LambdaEvents, "EVENTS here: the function collector polls, and is told by events"},
		{baking{"oven:Bake"}, true, compile.LambdaEvents, "EVENTS here: the function collector polls, because no event"},
		{announcing{baking{"oven:Bake"}}, false, compile.LambdaRetry, "POLL here: it can be no other. SYNC: functions run the job oven:Bake; EVENTS: neither"},
	} {
		inStack(t, func(stack awscdk.Stack) {
			code := awslambda.Code_FromAsset(codeFolder(t), nil)
			props := &cdkapp.FunctionsProps{Drivers: &[]cdkapp.Driver{tt.driver}, RunJobCode: code, CheckStatusCode: code}
			if tt.collector {
				props.Collector, props.CollectorCode = new(true), code
			}
			p := cdkapp.NewJobPoller(stack, new("Bakery"), &cdkapp.JobPollerProps{
				Job: cdkapp.JobFromDriver(tt.driver), Signal: cdkapp.SignalAuto, MaxWait: seconds(3600), Functions: cdkapp.NewFunctions(stack, new("Poller"), props),
			})
			require.Equal(t, tt.want, p.Report().Strategy)
			assertions.Annotations_FromStack(stack).HasInfo(new("/Stack/Bakery"), assertions.Match_StringLikeRegexp(&tt.says))
		})
	}
}

func TestE2EFunctionsProps(t *testing.T) {
	t.Parallel()
	functions := func(props cdkapp.FunctionsProps) func(awscdk.Stack) {
		return func(stack awscdk.Stack) {
			if props.Jobs == nil {
				props.Jobs = jsii.Strings("glue:StartJobRun")
			}
			newFunctions(t, stack, props)
		}
	}
	passed := func(props awslambda.FunctionProps) func(awscdk.Stack) {
		return functions(cdkapp.FunctionsProps{FunctionProps: &props})
	}
	variables := func(name, value string) *map[string]*string { return &map[string]*string{name: &value} }
	for _, tt := range []struct {
		prop, want string
		build      func(awscdk.Stack)
	}{
		{"Jobs", `it is required: name the jobs`, func(stack awscdk.Stack) { cdkapp.NewFunctions(stack, jsii.String("Poller"), nil) }},
		{"Jobs", `the catalogue has no job or waiter "glue": expected a service and a name, such as dynamodb:ExportCompleted`, functions(cdkapp.FunctionsProps{Jobs: jsii.Strings("glue")})},
		{"Jobs", `the functions have no driver for the job "glue:StartJobRuns": glue has no waiter or job "StartJobRuns" (did you mean "StartJobRun"?)`, functions(cdkapp.FunctionsProps{Jobs: jsii.Strings("glue:StartJobRuns")})},
		{"Jobs", `the catalogue has no job or waiter "comprehend:startEntitiesDetectionJob" (did you mean "comprehend:StartEntitiesDetectionJob"?)`, functions(cdkapp.FunctionsProps{Jobs: jsii.Strings("comprehend:startEntitiesDetectionJob")})},
		{"Jobs", "the environment of a Lambda function can have 4096 bytes", passed(awslambda.FunctionProps{Environment: variables("LONG", strings.Repeat("x", 4096))})},
		{"FunctionProps.Environment", "JOBPOLLER_JOBS is set by other props", passed(awslambda.FunctionProps{Environment: variables("JOBPOLLER_JOBS", "x")})},
		{"FunctionProps.Environment", "JOBPOLLER_TABLE is set by other props", passed(awslambda.FunctionProps{Environment: variables("JOBPOLLER_TABLE", "x")})},
		{"FunctionProps.Environment", "LEVEL is nil", passed(awslambda.FunctionProps{Environment: &map[string]*string{"LEVEL": nil}})},
		{"HttpHosts", `the job http:Request needs it`, functions(cdkapp.FunctionsProps{Jobs: jsii.Strings("http:Request")})},
		{"HttpHosts", `it is only for the job http:Request`, functions(cdkapp.FunctionsProps{HttpHosts: jsii.Strings("api.example.com")})},
		{"Store", "the job lambda:Invoke keeps the status of its functions in a bucket", func(stack awscdk.Stack) {
			functions(cdkapp.FunctionsProps{Jobs: jsii.Strings("lambda:Invoke"), Store: cdkapp.NewRecordTable(stack, jsii.String("Table"), nil)})(stack)
		}},
		{"RemovalPolicy", "it is for a new one, but Store is given", func(stack awscdk.Stack) {
			functions(cdkapp.FunctionsProps{RemovalPolicy: awscdk.RemovalPolicy_DESTROY, Store: cdkapp.NewRecordTable(stack, jsii.String("Table"), nil)})(stack)
		}},
		{"MaxWait", "the store keeps records for 60 days, and an execution can be redriven for 14 days after a wait of 1104h0m0s: " +
			"give the store a Retention of at least 61 days, or wait less", func(stack awscdk.Stack) {
			functions(cdkapp.FunctionsProps{MaxWait: days(46), Store: cdkapp.NewRecordTable(stack, jsii.String("Table"), nil)})(stack)
		}},
		{"MaxWait", "it must be a literal duration, is a token", func(stack awscdk.Stack) {
			token := awscdk.NewCfnParameter(stack, jsii.String("Wait"), &awscdk.CfnParameterProps{Type: jsii.String("Number")}).ValueAsNumber()
			functions(cdkapp.FunctionsProps{MaxWait: awscdk.Duration_Seconds(token)})(stack)
		}},
		{
			"Resources", `the action "glue:StopJobRun" is not needed; these are: glue:BatchStopJobRun, glue:GetJobRun, glue:StartJobRun`,
			functions(cdkapp.FunctionsProps{Resources: &map[string]*[]*string{"glue:StopJobRun": jsii.Strings("*")}}),
		},
		{
			"Resources", `an ARN of glue:StartJobRun is empty`,
			functions(cdkapp.FunctionsProps{Resources: &map[string]*[]*string{"glue:StartJobRun": jsii.Strings("")}}),
		},
		{
			"Resources", `expected ARNs for glue:StartJobRun, found "nightly": IAM needs ARNs, not names`,
			functions(cdkapp.FunctionsProps{Resources: &map[string]*[]*string{"glue:StartJobRun": jsii.Strings("nightly")}}),
		},
		{
			"Resources", `give the ARNs under the action "iam:PassRole"`,
			functions(cdkapp.FunctionsProps{Jobs: jsii.Strings("comprehend:StartEntitiesDetectionJob")}),
		},
		{"Store", "the collector finds a record by its job, which a bucket cannot", func(stack awscdk.Stack) {
			functions(cdkapp.FunctionsProps{Collector: new(true), Store: cdkapp.NewRecordBucket(stack, new("Records"), nil)})(stack)
		}},
		{
			"Store", "give a RecordBucket, and no collector",
			functions(cdkapp.FunctionsProps{Jobs: jsii.Strings("lambda:Invoke"), Collector: new(true)}),
		},
		{
			"Resources", `the action "glue:BatchGetCrawlers" is not needed`,
			functions(cdkapp.FunctionsProps{Jobs: jsii.Strings("glue:StartCrawler"), Resources: &map[string]*[]*string{"glue:BatchGetCrawlers": jsii.Strings("*")}}),
		},
		{"Jobs", "the functions have no driver for the job", func(stack awscdk.Stack) {
			own := awslambda.Code_FromInline(new("bootstrap"))
			functions(cdkapp.FunctionsProps{Jobs: jsii.Strings("shop:Report"), RunJobCode: own, CheckStatusCode: own, Collector: new(true)})(stack)
		}},
		{"CollectorConcurrency", "there is no collector: give Collector true", functions(cdkapp.FunctionsProps{CollectorConcurrency: new(5.0)})},
		{
			"CollectorConcurrency", "a whole number from 2 to 1000, found 1.5",
			functions(cdkapp.FunctionsProps{Collector: new(true), CollectorConcurrency: new(1.5)}),
		},
		{
			"CollectorConcurrency", "more than FunctionProps.ReservedConcurrentExecutions, 5",
			functions(cdkapp.FunctionsProps{
				Collector: new(true), CollectorConcurrency: new(6.0), FunctionProps: &awslambda.FunctionProps{ReservedConcurrentExecutions: new(5.0)},
			}),
		},
		{
			"FunctionProps.ReservedConcurrentExecutions", "the collector needs a whole number from 2 to 1000, found 1",
			functions(cdkapp.FunctionsProps{Collector: new(true), FunctionProps: &awslambda.FunctionProps{ReservedConcurrentExecutions: new(1.0)}}),
		},
		{"LogLevel", `expected "debug", "info", "warn" or "error", found "loud"`, functions(cdkapp.FunctionsProps{LogLevel: jsii.String("loud")})},
		{"FunctionProps.Timeout", "expected 1 to 55 seconds, found 1m30s", func(stack awscdk.Stack) {
			passed(awslambda.FunctionProps{Timeout: awscdk.Duration_Seconds(jsii.Number(90))})(stack)
		}},
		{"FunctionProps.Architecture", `expected ARM_64 or X86_64, found "riscv"`, func(stack awscdk.Stack) {
			passed(awslambda.FunctionProps{Architecture: awslambda.Architecture_Custom(jsii.String("riscv"), nil)})(stack)
		}},
		{"FunctionProps.FunctionName", `expected up to 51 letters, digits, - and _, found "my.jobs": each function adds its own name, such as -check-status`, passed(awslambda.FunctionProps{FunctionName: jsii.String("my.jobs")})},
		{"FunctionProps.CurrentVersionOptions", "its RemovalPolicy must be RETAIN", passed(awslambda.FunctionProps{
			CurrentVersionOptions: &awslambda.VersionOptions{RemovalPolicy: awscdk.RemovalPolicy_DESTROY},
		})},
		{"LogRetention", "it is for a new one, but FunctionProps.LogGroup is given", func(stack awscdk.Stack) {
			functions(cdkapp.FunctionsProps{
				LogRetention: awslogs.RetentionDays_ONE_DAY, FunctionProps: &awslambda.FunctionProps{LogGroup: awslogs.NewLogGroup(stack, jsii.String("Own"), nil)},
			})(stack)
		}},
	} {
		t.Run(tt.prop, func(t *testing.T) {
			t.Parallel()
			err := problem(t, tt.build)
			require.Equal(t, "Stack/Poller", err.Path)
			require.Equal(t, tt.prop, err.Prop)
			require.Contains(t, err.Problem, tt.want)
		})
	}
}
