//go:build e2e

package cdkapp_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/assertions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatchactions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/cdkapp"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

func fromCatalog(name string) cdkapp.Job { return cdkapp.JobFromCatalog(&name) }

func seconds(n float64) awscdk.Duration { return awscdk.Duration_Seconds(&n) }

// exporting are props that can be used.
func exporting() *cdkapp.JobPollerProps {
	return &cdkapp.JobPollerProps{Job: fromCatalog("dynamodb:ExportTableToPointInTime"), MaxWait: seconds(7200)}
}

// strategies are those that need no functions.
var strategies = []compile.Strategy{compile.Variables, compile.RetryTask, compile.Loop}

// A poller with nothing but the props that are required.
func TestE2EJobPollerDefaults(t *testing.T) {
	t.Parallel()
	var report *compile.Report
	all := synth(t, func(stack awscdk.Stack) {
		p := cdkapp.NewJobPoller(stack, new("Export"), exporting())
		report = p.Report()
		require.Len(t, *p.Alarms(), 3)
		require.Nil(t, p.Dashboard())
		require.Contains(t, *p.Definition(), `"arn:${Partition}:states:::aws-sdk:dynamodb:describeExport"`)
	})
	requireGolden(t, "jobpoller", all)
	require.Equal(t, 7200, report.MaxWaitSeconds)
	require.Len(t, all["Resources"], 9)

	machine := all.only(t, "AWS::StepFunctions::StateMachine")
	require.Equal(t, "STANDARD", machine.properties["StateMachineType"])
	require.Equal(t, map[string]any{"Enabled": true}, machine.properties["TracingConfiguration"])
	logs := all.only(t, "AWS::Logs::LogGroup")
	require.Equal(t, map[string]any{
		"Destinations":         []any{map[string]any{"CloudWatchLogsLogGroup": map[string]any{"LogGroupArn": "{" + logs.id + ".Arn}"}}},
		"IncludeExecutionData": false, "Level": "ALL",
	}, resolve(t, machine.properties["LoggingConfiguration"]))
	require.InDelta(t, 30, logs.properties["RetentionInDays"], 0)
	require.Equal(t, "Delete", logs.all["DeletionPolicy"])
	require.Equal(t, "/aws/vendedlogs/states/StackExportB7923C16-0c5f6a7e-1111-2222-3333-444455556666", resolve(t, logs.properties["LogGroupName"]))

	require.Equal(t, map[string]any{"Version": "2012-10-17", "Statement": []any{map[string]any{
		"Action": "sts:AssumeRole", "Effect": "Allow", "Principal": map[string]any{"Service": "states.amazonaws.com"},
		"Condition": map[string]any{
			"StringEquals": map[string]any{"aws:SourceAccount": "123456789012"},
			"ArnLike":      map[string]any{"aws:SourceArn": "arn:aws:states:us-east-1:123456789012:stateMachine:*"},
		},
	}}}, resolve(t, all.only(t, "AWS::IAM::Role").properties["AssumeRolePolicyDocument"]))
	requireJustified(t, all, machine, nil, "", true)

	for _, metric := range []string{"ExecutionsFailed", "ExecutionsTimedOut", "ExecutionThrottled"} {
		alarm := all.named(t, "AWS::CloudWatch::Alarm", "Export"+metric).properties
		require.NotEmpty(t, alarm["AlarmDescription"])
		delete(alarm, "AlarmDescription")
		require.Equal(t, map[string]any{
			"Namespace": "AWS/States", "MetricName": metric, "Statistic": "Sum", "Period": 300.0, "EvaluationPeriods": 1.0, "Threshold": 1.0,
			"ComparisonOperator": "GreaterThanOrEqualToThreshold", "TreatMissingData": "notBreaching",
			"Dimensions": []any{map[string]any{"Name": "StateMachineArn", "Value": "{" + machine.id + "}"}},
		}, resolve(t, alarm))
	}
}

// Every prop that changes what is deployed.
func TestE2EJobPollerProps(t *testing.T) {
	t.Parallel()
	all := synth(t, func(stack awscdk.Stack) {
		key, topic := awskms.NewKey(stack, new("Key"), nil), awssns.NewTopic(stack, new("Topic"), nil)
		table, bucket := awsdynamodb.Table_FromTableName(stack, new("Table"), new("Orders")), awss3.NewBucket(stack, new("Exports"), nil)
		p := cdkapp.NewJobPoller(stack, new("Export"), &cdkapp.JobPollerProps{
			Job: fromCatalog("dynamodb:ExportTableToPointInTime"), Strategy: compile.RetryTask,
			MaxWait: seconds(7200), MinDelay: seconds(60), MaxDelay: seconds(60), InitialDelay: seconds(300),
			Arguments: &map[string]any{"TableArn": table.TableArn(), "S3Bucket": bucket.BucketName(), "S3Prefix": "{% $states.input.day %}"},
			Output:    new("{Manifest: ExportDescription.ExportManifest}"),
			Resources: &map[string]*[]*string{
				"dynamodb:ExportTableToPointInTime": {table.TableArn()},
				"s3:PutObject":                      {bucket.ArnForObjects(new("*"))}, "s3:AbortMultipartUpload": {bucket.ArnForObjects(new("*"))},
				"s3:PutObjectAcl": {},
			},
			StateMachineProps: &awsstepfunctions.StateMachineProps{
				Logs: &awsstepfunctions.LogOptions{Level: awsstepfunctions.LogLevel_ERROR, IncludeExecutionData: new(true)},
			},
			LogRetention:  awslogs.RetentionDays_ONE_WEEK,
			EncryptionKey: key, AlarmActions: &[]awscloudwatch.IAlarmAction{awscloudwatchactions.NewSnsAction(topic)},
			Dashboard: new(true), Outputs: new(true), RemovalPolicy: awscdk.RemovalPolicy_RETAIN,
		})
		require.NotNil(t, p.Dashboard())
		user := awsiam.NewUser(stack, new("User"), nil)
		p.GrantStartExecution(user)
		p.GrantRead(user)
		p.GrantRedrive(user)
		awscdk.Tags_Of(p).Add(new("team"), new("data"), nil)
	})
	requireGolden(t, "jobpoller-props", all)
	machine, key := all.only(t, "AWS::StepFunctions::StateMachine"), all.only(t, "AWS::KMS::Key")
	keyArn := "{" + key.id + ".Arn}"
	encryption := resolve(t, machine.properties["EncryptionConfiguration"]).(map[string]any)
	require.Equal(t, keyArn, encryption["KmsKeyId"])
	require.Equal(t, "CUSTOMER_MANAGED_KMS_KEY", encryption["Type"])
	logging := machine.properties["LoggingConfiguration"].(map[string]any)
	require.Equal(t, "ERROR", logging["Level"])
	require.Equal(t, true, logging["IncludeExecutionData"])
	require.Equal(t, []any{map[string]any{"Key": "team", "Value": "data"}}, machine.properties["Tags"])

	logs := all.only(t, "AWS::Logs::LogGroup")
	require.Equal(t, keyArn, resolve(t, logs.properties["KmsKeyId"]))
	require.InDelta(t, 7, logs.properties["RetentionInDays"], 0)
	require.Equal(t, "Retain", logs.all["DeletionPolicy"])

	// The role may use the key for the machine of this name, and CloudWatch Logs for
	// the logs of this name.
	name := machine.properties["StateMachineName"].(string)
	role := strings.TrimSuffix(strings.TrimPrefix(resolve(t, machine.properties["RoleArn"]).(string), "{"), ".Arn}")
	require.Contains(t, asJSON(t, conditionsOf(statementsOf(t, all, role))), `"kms:EncryptionContext:aws:states:stateMachineArn":"arn:aws:states:us-east-1:123456789012:stateMachine:`+name+`"`)
	logName := resolve(t, logs.properties["LogGroupName"]).(string)
	pattern := "arn:aws:logs:us-east-1:123456789012:log-group:" + logName[:len(logName)-len("0c5f6a7e-1111-2222-3333-444455556666")] + "*"
	require.Contains(t, asJSON(t, resolve(t, key.properties["KeyPolicy"])), `"kms:EncryptionContext:aws:logs:arn":"`+pattern+`"`)

	bucket := all.only(t, "AWS::S3::Bucket")
	objects := "{" + bucket.id + ".Arn}/*"
	requireJustified(t, all, machine, map[string][]string{
		"dynamodb:ExportTableToPointInTime": {"arn:aws:dynamodb:us-east-1:123456789012:table/Orders"},
		"dynamodb:DescribeExport":           {"arn:aws:dynamodb:us-east-1:123456789012:table/Orders/export/*"},
		"s3:PutObject":                      {objects}, "s3:AbortMultipartUpload": {objects}, "s3:PutObjectAcl": {},
	}, keyArn, true)
	definition := deployed(t, machine)
	require.Contains(t, definition, `"TableArn": "arn:aws:dynamodb:us-east-1:123456789012:table/Orders"`)
	require.Contains(t, definition, `"S3Bucket": "{`+bucket.id+`}"`)
	require.Contains(t, definition, "{'Manifest': $states.input.output.ExportDescription.ExportManifest}")
	require.Empty(t, asl.Validate([]byte(definition), asl.Standard))

	topic := "{" + all.only(t, "AWS::SNS::Topic").id + "}"
	for _, alarm := range all.of("AWS::CloudWatch::Alarm") {
		require.Equal(t, []any{topic}, resolve(t, alarm.properties["AlarmActions"]), alarm.id)
	}
	require.Len(t, all.of("AWS::CloudWatch::Alarm"), 3)
	require.True(t, json.Valid([]byte(resolve(t, all.only(t, "AWS::CloudWatch::Dashboard").properties["DashboardBody"]).(string))))
	require.Len(t, all["Outputs"], 2)
	var user []string
	for _, policy := range all.of("AWS::IAM::Policy") {
		if strings.HasPrefix(policy.id, "User") {
			user = append(user, asJSON(t, policy.properties))
		}
	}
	require.Contains(t, strings.Join(user, ""), "states:StartExecution")
	require.Contains(t, strings.Join(user, ""), "states:DescribeExecution")
	require.Contains(t, strings.Join(user, ""), "states:RedriveExecution")
	require.Contains(t, strings.Join(user, ""), `"Action":"kms:Decrypt","Condition":{"StringEquals":{"kms:EncryptionContext:aws:states:stateMachineArn"`)
}

// The policy of a key of others is for them to change.
func TestE2EKeyOfOthers(t *testing.T) {
	t.Parallel()
	inStack(t, func(stack awscdk.Stack) {
		props := exporting()
		props.EncryptionKey = awskms.Key_FromKeyArn(stack, new("Key"), new("arn:aws:kms:us-east-1:123456789012:key/0c5f6a7e-1111-2222-3333-444455556666"))
		cdkapp.NewJobPoller(stack, new("Export"), props)
		assertions.Annotations_FromStack(stack).HasWarning(new("/Stack/Export"), assertions.Match_StringLikeRegexp(new("must allow CloudWatch Logs to use the key for the log groups /aws/vendedlogs/states/StackExport")))
	})
}

// With a strategy that needs functions, they are made, and what they do is watched.
func TestE2EJobPollerWithFunctions(t *testing.T) {
	t.Parallel()
	for _, strategy := range []compile.Strategy{compile.LambdaLoop, compile.LambdaRetry} {
		var all template
		inStackWith(t, map[string]any{"jobpoller:codeFolder": *codeFolder(t)}, func(stack awscdk.Stack) {
			props := exporting()
			props.Strategy, props.Dashboard = strategy, new(true)
			props.Resources = &map[string]*[]*string{"s3:PutObject": {new("arn:aws:s3:::exports/*")}}
			props.LogRetention, props.RemovalPolicy = awslogs.RetentionDays_ONE_YEAR, awscdk.RemovalPolicy_DESTROY
			p := cdkapp.NewJobPoller(stack, new("Export"), props)
			require.Equal(t, []*string{new("dynamodb:ExportTableToPointInTime")}, *p.Functions().Jobs())
			require.Equal(t, strategy == compile.LambdaRetry, p.Report().Redrivable)
			_, all = templateOf(stack)
		})
		requireGolden(t, "jobpoller-"+string(strategy), all)
		machine := all.only(t, "AWS::StepFunctions::StateMachine")
		requireJustified(t, all, machine, nil, "", true)
		run, check := all.named(t, "AWS::Lambda::Function", "ExportFunctionsRunJob"), all.named(t, "AWS::Lambda::Function", "ExportFunctionsCheckStatus")
		require.Contains(t, asJSON(t, all.statements(t, "ExportFunctionsRunJobRole")), `"arn:aws:s3:::exports/*"`)
		require.Equal(t, "Delete", all.only(t, "AWS::S3::Bucket").all["DeletionPolicy"])
		for _, logs := range all.of("AWS::Logs::LogGroup") {
			require.InDelta(t, 365, logs.properties["RetentionInDays"], 0, logs.id)
		}

		watched := map[string]string{} // metric and function, by alarm
		for _, alarm := range all.of("AWS::CloudWatch::Alarm") {
			dimensions := resolve(t, alarm.properties["Dimensions"]).([]any)
			dimension := dimensions[len(dimensions)-1].(map[string]any)
			if len(dimensions) > 1 {
				require.Equal(t, map[string]any{"Name": "Deployment", "Value": "Stack/Export/Functions"}, dimensions[0])
				for _, f := range []resource{run, check} {
					require.Equal(t, "Stack/Export/Functions", f.properties["Environment"].(map[string]any)["Variables"].(map[string]any)["JOBPOLLER_DEPLOYMENT"])
				}
			}
			watched[alarm.properties["MetricName"].(string)+" of "+dimension["Value"].(string)] = asJSON(t, alarm.properties["Threshold"])
		}
		want := map[string]string{
			"ExecutionsFailed of {" + machine.id + "}": "1", "ExecutionsTimedOut of {" + machine.id + "}": "1", "ExecutionThrottled of {" + machine.id + "}": "1",
			"Throttles of {" + run.id + "}": "1", "Errors of {" + run.id + "}": "7", "Throttles of {" + check.id + "}": "1",
			"StartsUnknown of dynamodb:ExportTableToPointInTime": "1", "JobsTimedOut of dynamodb:ExportTableToPointInTime": "1",
			"Lateness of dynamodb:ExportTableToPointInTime": "360",
		}
		if strategy == compile.LambdaLoop { // else JobPoller.Running is one of them
			want["Errors of {"+check.id+"}"] = "7"
		}
		require.Equal(t, want, watched)
		dashboard := resolve(t, all.only(t, "AWS::CloudWatch::Dashboard").properties["DashboardBody"]).(string)
		require.True(t, json.Valid([]byte(dashboard)))
		require.Contains(t, dashboard, `["JobPoller","JobsTimedOut","Deployment","Stack/Export/Functions","Job","dynamodb:ExportTableToPointInTime"`)
	}
}

// The functions that are made keep their records in a store that is given.
func TestE2EJobPollerWithStore(t *testing.T) {
	t.Parallel()
	for _, fragment := range []bool{true, false} {
		var all template
		inStackWith(t, map[string]any{"jobpoller:codeFolder": *codeFolder(t)}, func(stack awscdk.Stack) {
			table := cdkapp.NewRecordTable(stack, new("Records"), nil)
			if job := fromCatalog("dynamodb:ExportTableToPointInTime"); fragment {
				host(stack, cdkapp.NewJobPollerFragment(stack, new("Export"), &cdkapp.JobPollerFragmentProps{
					Job: job, MaxWait: seconds(7200), Strategy: compile.LambdaLoop, Store: table,
				}).OrFail(), "")
			} else {
				cdkapp.NewJobPoller(stack, new("Export"), &cdkapp.JobPollerProps{
					Job: job, MaxWait: seconds(7200), Strategy: compile.LambdaLoop, Store: table, RemovalPolicy: awscdk.RemovalPolicy_DESTROY,
				})
			}
			_, all = templateOf(stack)
		})
		require.Empty(t, all.of("AWS::S3::Bucket"))
		table := all.only(t, "AWS::DynamoDB::Table")
		for _, function := range all.of("AWS::Lambda::Function") {
			environment := function.properties["Environment"].(map[string]any)["Variables"].(map[string]any)
			require.Equal(t, "{"+table.id+"}", resolve(t, environment["JOBPOLLER_TABLE"]))
		}
	}
}

// Functions that pollers share are watched once, and their errors are no alarm. All
// pollers are on the dashboard of the stack. The longest delay says what is late.
func TestE2ESharedFunctions(t *testing.T) {
	t.Parallel()
	all := synth(t, func(stack awscdk.Stack) {
		functions := newFunctions(t, stack, cdkapp.FunctionsProps{Jobs: &[]*string{new("dynamodb:ExportTableToPointInTime")}})
		for _, poller := range []struct {
			id             string
			strategy       compile.Strategy
			maxDelay, late awscdk.Duration
		}{{"First", compile.LambdaLoop, nil, nil}, {"Slow", compile.LambdaRetry, seconds(600), seconds(900)}, {"Last", compile.LambdaLoop, nil, nil}} {
			props := exporting()
			props.Functions, props.Strategy, props.Dashboard, props.MaxDelay = functions, poller.strategy, new(true), poller.maxDelay
			props.InitialDelay = poller.late
			if poller.id == "Last" {
				props.Schedule = &pollcore.Planned{Delays: []time.Duration{20 * time.Minute, 30 * time.Second}, Then: time.Minute, Jitter: 5 * time.Minute}
			}
			p := cdkapp.NewJobPoller(stack, &poller.id, props)
			require.NotNil(t, p.Dashboard())
		}
	})
	require.Len(t, all.of("AWS::Lambda::Function"), 2)
	var functions []string
	for _, alarm := range all.of("AWS::CloudWatch::Alarm") {
		if alarm.properties["Namespace"] == "AWS/Lambda" {
			functions = append(functions, alarm.properties["MetricName"].(string))
		}
	}
	require.ElementsMatch(t, []string{"Throttles", "Throttles", "Errors"}, functions)
	require.Len(t, all.of("AWS::CloudWatch::Alarm"), 3*3+len(functions)+3, "three of the job that all wait for")
	late := slices.DeleteFunc(all.of("AWS::CloudWatch::Alarm"), func(r resource) bool { return r.properties["MetricName"] != "Lateness" })
	require.Len(t, late, 1)
	require.InDelta(t, 1500+300, late[0].properties["Threshold"], 0)
	require.Equal(t, "Maximum", late[0].properties["Statistic"])
	dashboard := resolve(t, all.only(t, "AWS::CloudWatch::Dashboard").properties["DashboardBody"]).(string)
	for _, section := range []string{"## First", "## Slow", "## Last", `"Lateness"`} {
		require.Contains(t, dashboard, section)
	}
}

// The Retry blocks of a machine have all delays of the prop.
func TestE2EScheduleInRetryBlocks(t *testing.T) {
	t.Parallel()
	for strategy, retried := range map[compile.Strategy]string{
		compile.RetryTask:   "States.QueryEvaluationError %d, States.QueryEvaluationError %d, States.QueryEvaluationError %d",
		compile.LambdaRetry: "JobPoller.Running.15 %d, JobPoller.Running.30 %d, JobPoller.Running.60 %d",
	} {
		all := synth(t, func(stack awscdk.Stack) {
			props := exporting()
			props.Strategy = strategy
			props.Schedule = &pollcore.Planned{
				Delays: []time.Duration{20 * time.Minute, 15 * time.Second, 15 * time.Second, 30 * time.Second, 30 * time.Second}, Then: time.Minute,
			}
			cdkapp.NewJobPoller(stack, new("Export"), props)
		})
		m, err := asl.Parse([]byte(deployed(t, all.only(t, "AWS::StepFunctions::StateMachine"))))
		require.NoError(t, err)
		var retriers []string
		for s := range m.All {
			for _, r := range s.Retry {
				if name := r.ErrorEquals[0]; strings.HasPrefix(name, "JobPoller.Running") || name == "States.QueryEvaluationError" {
					retriers = append(retriers, fmt.Sprint(name, " ", r.IntervalSeconds))
				}
			}
		}
		require.Equal(t, fmt.Sprintf(retried, 15, 30, 60), strings.Join(retriers, ", "))
	}
}

// An alarm that pollers share has the actions of all, each once.
func TestE2ESharedAlarmActions(t *testing.T) {
	t.Parallel()
	all := synth(t, func(stack awscdk.Stack) {
		functions := newFunctions(t, stack, cdkapp.FunctionsProps{Jobs: &[]*string{new("dynamodb:ExportTableToPointInTime")}})
		calls, mails := awssns.NewTopic(stack, new("Calls"), nil), awssns.NewTopic(stack, new("Mails"), nil)
		for id, topics := range map[string][]awssns.ITopic{"First": nil, "Second": {calls}, "Third": {calls, mails}} {
			props := exporting()
			props.Functions, props.Strategy, props.AlarmActions = functions, compile.LambdaLoop, &[]awscloudwatch.IAlarmAction{}
			for _, topic := range topics {
				*props.AlarmActions = append(*props.AlarmActions, awscloudwatchactions.NewSnsAction(topic))
			}
			cdkapp.NewJobPoller(stack, &id, props)
		}
	})
	shared := 0
	for _, alarm := range all.of("AWS::CloudWatch::Alarm") {
		if alarm.properties["Namespace"] != "AWS/States" {
			shared++
			require.Len(t, alarm.properties["AlarmActions"], 2, alarm.id)
		}
	}
	require.Positive(t, shared)
}

// Functions of another stack are watched from the poller's, which the other cannot
// refer to.
func TestE2EFunctionsOfAnotherStack(t *testing.T) {
	t.Parallel()
	all := synth(t, func(stack awscdk.Stack) {
		other := awscdk.NewStack(awscdk.App_Of(stack), new("Other"), nil)
		props := exporting()
		props.Strategy = compile.LambdaLoop
		props.Functions = newFunctions(t, other, cdkapp.FunctionsProps{Jobs: &[]*string{new("dynamodb:ExportTableToPointInTime")}})
		props.AlarmActions = &[]awscloudwatch.IAlarmAction{awscloudwatchactions.NewSnsAction(awssns.NewTopic(stack, new("Topic"), nil))}
		cdkapp.NewJobPoller(stack, new("Export"), props)
		_, watched := templateOf(other)
		require.Empty(t, watched.of("AWS::CloudWatch::Alarm"))
	})
	require.Len(t, all.of("AWS::CloudWatch::Alarm"), 9, "three of executions, three of the functions, three of their job")
}

// What IAM and CloudWatch Logs would refuse in other countries.
func TestE2EJobPollerAbroad(t *testing.T) {
	t.Parallel()
	all := synth(t, func(stack awscdk.Stack) {
		props := exporting()
		props.EncryptionKey = awskms.NewKey(stack, new("Key"), nil)
		cdkapp.NewJobPoller(stack, new("輸出"), props)
	})
	require.NotContains(t, asJSON(t, all.only(t, "AWS::IAM::Role").properties["Description"]), "輸")
	require.Contains(t, asJSON(t, all.only(t, "AWS::KMS::Key").properties["KeyPolicy"]), `{"Fn::Join":["",["logs.",{"Ref":"AWS::Region"},".",{"Ref":"AWS::URLSuffix"}]]}`)
}

// What can be left out.
func TestE2EJobPollerWithout(t *testing.T) {
	t.Parallel()
	all := synth(t, func(stack awscdk.Stack) {
		props := exporting()
		props.Alarms, props.TracingEnabled = new(false), new(false)
		props.StateMachineProps = &awsstepfunctions.StateMachineProps{
			StateMachineName: new("exports"), StateMachineType: awsstepfunctions.StateMachineType_STANDARD,
			Logs: &awsstepfunctions.LogOptions{Level: awsstepfunctions.LogLevel_OFF},
		}
		p := cdkapp.NewJobPoller(stack, new("Export"), props)
		require.Nil(t, p.LogGroup())
		require.Empty(t, *p.Alarms())
	})
	require.Len(t, all["Resources"], 5)
	machine := all.only(t, "AWS::StepFunctions::StateMachine").properties
	require.Equal(t, "exports", machine["StateMachineName"])
	require.NotContains(t, machine, "LoggingConfiguration")
	require.Equal(t, map[string]any{"Enabled": false}, machine["TracingConfiguration"])
}

func TestE2ENoProps(t *testing.T) {
	t.Parallel()
	e := problem(t, func(stack awscdk.Stack) { cdkapp.NewJobPoller(stack, new("Export"), nil) })
	require.Equal(t, "Job", e.Prop)
	page, err := os.ReadFile("../docs/guide/cdk.md")
	require.NoError(t, err)
	e = problem(t, func(stack awscdk.Stack) {
		props := exporting()
		props.MaxWait = nil
		cdkapp.NewJobPoller(stack, new("Export"), props)
	})
	require.Contains(t, string(page), "\nExports/Export"+strings.TrimPrefix(e.Error(), "Stack/Export")+"\n")
	e = problem(t, func(stack awscdk.Stack) { cdkapp.NewFunctionPoller(stack, new("Poller"), nil) })
	require.Equal(t, "RunJob", e.Prop)
}

// Functions that do not fit the poller.
func TestE2EJobPollerRefusesFunctions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change  func(p *cdkapp.JobPollerProps)
		prop    string
		problem []string
	}{
		"nobody invokes them": {func(p *cdkapp.JobPollerProps) { p.Strategy = compile.Loop }, "Functions", []string{"invokes none", "lambda-retry"}},
		"other jobs": {
			func(p *cdkapp.JobPollerProps) { p.Job = fromCatalog("glue:StartCrawler") },
			"Functions",
			[]string{"cannot run the job glue:StartCrawler", "prop Jobs", "dynamodb:ExportTableToPointInTime"},
		},
		"policy of their own": {
			func(p *cdkapp.JobPollerProps) { p.Resources = &map[string]*[]*string{"s3:PutObject": {new("*")}} },
			"Resources",
			[]string{"roles of their own", "NewFunctions"},
		},
		"a store besides": {
			func(p *cdkapp.JobPollerProps) { p.Store = p.Functions.Store() }, "Store", []string{"a store and roles of their own", "NewFunctions"},
		},
		"a store for nobody": {
			func(p *cdkapp.JobPollerProps) {
				p.Store, p.Functions, p.Strategy = p.Functions.Store(), nil, compile.Loop
			},
			"Store",
			[]string{"invokes none", "lambda-retry"},
		},
		"a store that forgets": {
			func(p *cdkapp.JobPollerProps) {
				p.Store, p.Functions, p.MaxWait, p.Fit = p.Functions.Store(), nil, awscdk.Duration_Days(new(50.0)), new(true)
			},
			"MaxWait",
			[]string{"60 days", "Retention of at least 65 days"},
		},
		"records that are gone": {
			func(p *cdkapp.JobPollerProps) { p.MaxWait, p.Fit = awscdk.Duration_Days(new(50.0)), new(true) },
			"MaxWait",
			[]string{"60 days", "Retention of at least 65 days"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := problem(t, func(stack awscdk.Stack) {
				props := exporting()
				props.Strategy = compile.LambdaRetry
				props.Functions = newFunctions(t, stack, cdkapp.FunctionsProps{Jobs: &[]*string{new("dynamodb:ExportTableToPointInTime")}})
				c.change(props)
				cdkapp.NewJobPoller(stack, new("Export"), props)
			})
			require.Equal(t, "Stack/Export", e.Path)
			require.Equal(t, c.prop, e.Prop)
			for _, text := range c.problem {
				require.Contains(t, e.Problem, text)
			}
		})
	}
}

// asked is a definition that asks RunJob for two jobs.
func asked(first, second string) *string {
	return new(fmt.Sprintf(`{"QueryLanguage": "JSONata", "StartAt": "A", "States": {
		"A": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Arguments": {"FunctionName": "${RunJobFunction}", "Payload": {"Input": {"job": %s}}}, "Next": "B"},
		"B": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Arguments": {"FunctionName": "${RunJobFunction}", "Payload": {"Input": {"job": %s}}}, "End": true}}}`,
		first, second))
}

// The functions keep records for as long as the longest wait of a definition.
func TestE2EDefinitionOfTwoWaits(t *testing.T) {
	t.Parallel()
	inStackWith(t, map[string]any{"jobpoller:codeFolder": *codeFolder(t)}, func(stack awscdk.Stack) {
		job := cdkapp.JobFromDefinition(asked(`"glue:StartJobRun", "maxWaitSeconds": 60`, `"glue:StartJobRun", "maxWaitSeconds": 5184000`))
		p := cdkapp.NewJobPoller(stack, new("Twice"), &cdkapp.JobPollerProps{Job: job})
		require.InDelta(t, 75, *p.Functions().Store().Retention().ToDays(nil), 0)
		require.Equal(t, []*string{new("glue:StartJobRun")}, *p.Functions().Jobs())
	})
}

// A name has one spelling, and the waiter of a job does not start the job.
func TestE2ENamesOfTheCatalogue(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"ExportCompleted", "DynamoDB:exportCompleted", "dynamodb:exportcompleted"} {
		err := problem(t, func(stack awscdk.Stack) {
			cdkapp.NewJobPoller(stack, new("Poller"), &cdkapp.JobPollerProps{Job: fromCatalog(name), MaxWait: seconds(7200)})
		})
		require.Equal(t, "Job", err.Prop)
		require.Contains(t, err.Problem+fmt.Sprint(err.Err), `did you mean "dynamodb:ExportCompleted"?`)
	}
	err := problem(t, func(stack awscdk.Stack) {
		props := &cdkapp.JobPollerProps{Job: fromCatalog("athena:QueryExecutionSucceeded"), MaxWait: seconds(7200), Start: new(true)}
		cdkapp.NewJobPoller(stack, new("Poller"), props)
	})
	require.Equal(t, "Start", err.Prop)
	require.Contains(t, err.Problem, "athena:QueryExecutionSucceeded is a waiter")
}

// Each wrong prop is named, with what to do.
func TestE2EJobPollerRefusesProps(t *testing.T) {
	t.Parallel()
	mine := pollcore.MustNew("Mine", pollcore.Succeed(pollcore.Output("ExportDescription.ExportStatus").Is("COMPLETED")))
	for name, c := range map[string]struct {
		change  func(p *cdkapp.JobPollerProps)
		prop    string
		problem []string
	}{
		"no job":            {func(p *cdkapp.JobPollerProps) { p.Job = nil }, "Job", []string{"required", "JobFromCatalog"}},
		"unknown service":   {func(p *cdkapp.JobPollerProps) { p.Job = fromCatalog("dynamo:ExportCompleted") }, "Job", []string{"dynamo", `"jobpoller list" has all names`}},
		"unknown job":       {func(p *cdkapp.JobPollerProps) { p.Job = fromCatalog("dynamodb:ExportCompletd") }, "Job", []string{"ExportCompletd", "ExportCompleted"}},
		"unknown operation": {func(p *cdkapp.JobPollerProps) { p.Job = cdkapp.JobFromWaiter(new("dynamodb:DescribeExprot"), mine) }, "Job", []string{"DescribeExprot", "DescribeExport"}},
		"waiter that does not fit an operation without an entry": {func(p *cdkapp.JobPollerProps) {
			p.Job = cdkapp.JobFromWaiter(new("cognito-idp:DescribeUserPool"), mine)
		}, "Job", []string{`DescribeUserPoolResponse has no member "ExportDescription"`}},
		"no waiter": {func(p *cdkapp.JobPollerProps) {
			p.Job = cdkapp.JobFromWaiter(new("dynamodb:DescribeExport"), nil)
		}, "Job", []string{"nil"}},
		"waiter that does not fit": {
			func(p *cdkapp.JobPollerProps) {
				p.Job = cdkapp.JobFromWaiter(new("dynamodb:DescribeTable"), mine)
			},
			"Job",
			[]string{"does not fit DescribeTable"},
		},
		"unknown shipped definition": {
			func(p *cdkapp.JobPollerProps) { *p = cdkapp.JobPollerProps{Job: cdkapp.JobFromShipped(new("export"))} },
			"Job",
			[]string{`"export"`, "dynamodb-export-variables"},
		},
		"definition that is not JSON": {
			func(p *cdkapp.JobPollerProps) { *p = cdkapp.JobPollerProps{Job: cdkapp.JobFromDefinition(new("{"))} },
			"Job",
			[]string{"refuse the definition"},
		},
		"definition without an end": {
			func(p *cdkapp.JobPollerProps) {
				*p = cdkapp.JobPollerProps{Job: cdkapp.JobFromDefinition(new(`{"StartAt": "A", "States": {"A": {"Type": "Pass"}}}`))}
			},
			"Job",
			[]string{"Next"},
		},
		"definition that is too large": {
			func(p *cdkapp.JobPollerProps) {
				long := `{"Comment": "` + strings.Repeat("x", 1<<20) + `", "StartAt": "A", "States": {"A": {"Type": "Succeed"}}}`
				*p = cdkapp.JobPollerProps{Job: cdkapp.JobFromDefinition(&long)}
			},
			"Job",
			[]string{"1048576 bytes", "1048645"},
		},
		"definition with a schedule": {
			func(p *cdkapp.JobPollerProps) { p.Job = cdkapp.JobFromShipped(new("dynamodb-export-variables")) },
			"MaxWait",
			[]string{"dynamodb-export-variables", "leave this prop out"},
		},
		"unknown strategy": {func(p *cdkapp.JobPollerProps) { p.Strategy = "spin" }, "Strategy", []string{`"spin"`, `"variables"`, `"lambda-retry"`}},
		"no time":          {func(p *cdkapp.JobPollerProps) { p.MaxWait = nil }, "MaxWait", []string{"required", "Duration_Hours"}},
		"half seconds":     {func(p *cdkapp.JobPollerProps) { p.MinDelay = awscdk.Duration_Millis(new(1500.0)) }, "MinDelay", []string{"whole seconds", "1.5s"}},
		"two years":        {func(p *cdkapp.JobPollerProps) { p.MaxWait = awscdk.Duration_Days(new(730.0)) }, "MaxWait", []string{"a year"}},
		"token for a time": {func(p *cdkapp.JobPollerProps) {
			p.MaxWait = seconds(*awscdk.Token_AsNumber(awscdk.Fn_Ref(new("Time"))))
		}, "MaxWait", []string{"token"}},
		"bounds swapped":      {func(p *cdkapp.JobPollerProps) { p.MinDelay, p.MaxDelay = seconds(60), seconds(30) }, "MaxDelay", []string{"1m", "30s"}},
		"delay above MaxWait": {func(p *cdkapp.JobPollerProps) { p.MinDelay = seconds(7201) }, "MinDelay", []string{"max wait", "2h"}},
		"late first poll":     {func(p *cdkapp.JobPollerProps) { p.InitialDelay = seconds(7201) }, "InitialDelay", []string{"max wait", "2h"}},
		"delays beside a schedule": {
			func(p *cdkapp.JobPollerProps) {
				p.Schedule, p.MinDelay = &pollcore.Planned{Delays: make([]time.Duration, 1), Then: time.Minute}, seconds(5)
			},
			"MinDelay",
			[]string{"the schedule has all delays"},
		},
		"too many events":  {func(p *cdkapp.JobPollerProps) { p.Events = new(25001.0) }, "Events", []string{"25000", "25001"}},
		"part of an event": {func(p *cdkapp.JobPollerProps) { p.Events = new(0.5) }, "Events", []string{"whole"}},
		"schedule that fills the history": {
			func(p *cdkapp.JobPollerProps) { p.MinDelay, p.MaxDelay, p.Events = seconds(1), seconds(1), new(1000.0) },
			"MaxDelay",
			[]string{"with a longest delay of ", "; give MaxDelay ", "or Fit true"},
		},
		"waiter that is started": {
			func(p *cdkapp.JobPollerProps) { p.Job, p.Start = fromCatalog("dynamodb:ExportCompleted"), new(true) },
			"Start",
			[]string{"dynamodb:ExportCompleted is a waiter"},
		},
		"functions that do not start": {
			func(p *cdkapp.JobPollerProps) { p.Strategy, p.Start = compile.LambdaRetry, new(false) },
			"Start",
			[]string{"lambda-retry", "name the waiter"},
		},
		"job that cannot be stopped": {func(p *cdkapp.JobPollerProps) { p.OnTimeout = cdkapp.OnTimeoutStop }, "OnTimeout", []string{"no call that stops"}},
		"unknown end":                {func(p *cdkapp.JobPollerProps) { p.OnTimeout = "KILL" }, "OnTimeout", []string{`"STOP"`, `"KILL"`}},
		"list that is a token": {
			func(p *cdkapp.JobPollerProps) {
				p.Arguments = &map[string]any{"SubnetIds": awscdk.Fn_Split(new(","), awscdk.Fn_Ref(new("Subnets")), nil)}
			},
			"Arguments",
			[]string{"Arguments.SubnetIds", "$split"},
		},
		"number that is a token": {
			func(p *cdkapp.JobPollerProps) {
				p.Arguments = &map[string]any{"A": []any{map[string]any{"N": awscdk.Token_AsNumber(awscdk.Fn_Ref(new("N")))}}}
			},
			"Arguments",
			[]string{"Arguments.A[0].N", "$number"},
		},
		"token that is not a string": {
			func(p *cdkapp.JobPollerProps) {
				p.Arguments = &map[string]any{"A": awscdk.Fn_GetAtt(new("Table"), new("Arn"))}
			},
			"Arguments",
			[]string{"Arguments.A", "Token_AsString"},
		},
		"no JSON": {func(p *cdkapp.JobPollerProps) { p.Arguments = &map[string]any{"A": make(chan int)} }, "Arguments", []string{"Arguments.A", "chan int"}},
		"errors that get lost": {
			func(p *cdkapp.JobPollerProps) { p.Job = fromCatalog("elbv2:TargetInService") },
			"CausePatterns",
			[]string{"InvalidInstance", "give a pattern for each"},
		},
		"pattern of another error": {
			func(p *cdkapp.JobPollerProps) { p.CausePatterns = &map[string]*string{"Gone": new("gone")} },
			"CausePatterns",
			[]string{"Gone", "no acceptor names"},
		},
		"output that is not there": {
			func(p *cdkapp.JobPollerProps) { p.Output = new("ExportDescription.Manifest") },
			"Output",
			[]string{`ExportDescription has no member "Manifest"`},
		},
		"output that JSONPath cannot say": {
			func(p *cdkapp.JobPollerProps) {
				p.Strategy, p.Output = compile.Loop, new("[ExportDescription.ExportArn]")
			},
			"Output",
			[]string{"loop"},
		},
		"empty pattern": {func(p *cdkapp.JobPollerProps) { p.CausePatterns = &map[string]*string{"Gone": nil} }, "CausePatterns", []string{"Gone", "empty"}},
		"pattern for functions": {
			func(p *cdkapp.JobPollerProps) {
				p.Strategy, p.CausePatterns = compile.LambdaLoop, &map[string]*string{"Gone": new("gone")}
			},
			"CausePatterns",
			[]string{"lambda-loop", "leave it out"},
		},
		"waiter that JSONPath cannot judge": {
			func(p *cdkapp.JobPollerProps) {
				p.Job, p.Strategy = fromCatalog("autoscaling:GroupInService"), compile.Loop
			},
			"Strategy",
			[]string{"JSONPath", `"variables"`},
		},
		"definition that does not say its jobs": {
			func(p *cdkapp.JobPollerProps) {
				*p = cdkapp.JobPollerProps{Job: cdkapp.JobFromShipped(new("lambda-loop"))}
			},
			"Functions",
			[]string{"does not say which jobs", "NewFunctions"},
		},
		"definition that is told a job": {
			func(p *cdkapp.JobPollerProps) {
				*p = cdkapp.JobPollerProps{Job: cdkapp.JobFromDefinition(asked(`"glue:StartJobRun", "maxWaitSeconds": 60`, `"{% $states.input.job %}", "maxWaitSeconds": 60`))}
			},
			"Functions",
			[]string{"does not say which jobs"},
		},
		"definition that is told a time": {
			func(p *cdkapp.JobPollerProps) {
				*p = cdkapp.JobPollerProps{Job: cdkapp.JobFromDefinition(asked(`"glue:StartJobRun", "maxWaitSeconds": 60`, `"glue:StartJobRun", "maxWaitSeconds": "{% 60 %}"`))}
			},
			"Functions",
			[]string{"and for how long"},
		},
		"express":           {ofMachine(awsstepfunctions.StateMachineProps{StateMachineType: awsstepfunctions.StateMachineType_EXPRESS}), "StateMachineProps.StateMachineType", []string{"STANDARD", "5 minutes", "may run twice", "redriven"}},
		"unknown type":      {ofMachine(awsstepfunctions.StateMachineProps{StateMachineType: "FAST"}), "StateMachineProps.StateMachineType", []string{"STANDARD", "FAST"}},
		"action of another": {func(p *cdkapp.JobPollerProps) { p.Resources = &map[string]*[]*string{"s3:GetObject": {new("*")}} }, "Resources", []string{"s3:GetObject", "dynamodb:DescribeExport"}},
		"empty resource": {
			func(p *cdkapp.JobPollerProps) {
				p.Resources = &map[string]*[]*string{"dynamodb:DescribeExport": {new("")}}
			},
			"Resources",
			[]string{"dynamodb:DescribeExport", "empty"},
		},
		"any role": {
			func(p *cdkapp.JobPollerProps) { p.Job = fromCatalog("comprehend:StartEntitiesDetectionJob") },
			"Resources",
			[]string{"iam:PassRole", "give the ARNs under the action"},
		},
		"actions of no alarm": {func(p *cdkapp.JobPollerProps) { p.Alarms, p.AlarmActions = new(false), &[]awscloudwatch.IAlarmAction{} }, "AlarmActions", []string{"Alarms"}},
		"data that is not logged": {
			ofMachine(awsstepfunctions.StateMachineProps{
				Logs: &awsstepfunctions.LogOptions{Level: awsstepfunctions.LogLevel_OFF, IncludeExecutionData: new(true)},
			}),
			"StateMachineProps.Logs",
			[]string{"OFF"},
		},
		"retention of no logs": {
			func(p *cdkapp.JobPollerProps) {
				ofMachine(awsstepfunctions.StateMachineProps{Logs: &awsstepfunctions.LogOptions{Level: awsstepfunctions.LogLevel_OFF}})(p)
				p.LogRetention = awslogs.RetentionDays_ONE_DAY
			},
			"LogRetention",
			[]string{"OFF"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := problem(t, func(stack awscdk.Stack) {
				props := exporting()
				c.change(props)
				cdkapp.NewJobPoller(stack, new("Export"), props)
			})
			require.Equal(t, "Stack/Export", e.Path)
			require.Equal(t, c.prop, e.Prop)
			for _, text := range c.problem {
				require.Contains(t, e.Problem, text)
			}
		})
	}
}

// ofMachine gives a poller props of its state machine.
func ofMachine(props awsstepfunctions.StateMachineProps) func(p *cdkapp.JobPollerProps) {
	return func(p *cdkapp.JobPollerProps) { p.StateMachineProps = &props }
}
