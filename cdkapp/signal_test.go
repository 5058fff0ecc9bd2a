//go:build e2e

package cdkapp_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/assertions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"
	"github.com/aws/jsii-runtime-go"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/cdkapp"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// querying are the props of a poller of Athena, which has an event and a batch call.
func querying(signal cdkapp.Signal) *cdkapp.JobPollerProps {
	return &cdkapp.JobPollerProps{Job: fromCatalog("athena:StartQueryExecution"), Signal: signal, MaxWait: seconds(7200)}
}

// collecting are functions with a collector.
func collecting(stack awscdk.Stack, jobs ...string) cdkapp.Functions {
	return cdkapp.NewFunctions(stack, new("Functions"), &cdkapp.FunctionsProps{Jobs: jsii.Strings(jobs...), Collector: new(true)})
}

// With events one Task waits, and a collector with its queue is made that answers it.
func TestE2ESignalEvents(t *testing.T) {
	t.Parallel()
	var all template
	inStackWith(t, map[string]any{"jobpoller:codeFolder": *codeFolder(t)}, func(stack awscdk.Stack) {
		props := querying(cdkapp.SignalEvents)
		props.Arguments = &map[string]any{"QueryString": "SELECT 1", "WorkGroup": "etl"}
		p := cdkapp.NewJobPoller(stack, new("Query"), props)
		require.Equal(t, compile.LambdaEvents, p.Report().Strategy)
		require.Contains(t, *p.Definition(), ":states:::lambda:invoke.waitForTaskToken")
		_, all = templateOf(stack)
	})
	requireGolden(t, "jobpoller-events", all)
	queue, dead := all.named(t, "AWS::SQS::Queue", "QueryFunctionsWaits"), all.named(t, "AWS::SQS::Queue", "QueryFunctionsDeadLetters")
	require.Equal(t, map[string]any{
		"MessageRetentionPeriod": 604800.0, "SqsManagedSseEnabled": true, "VisibilityTimeout": 6*30.0 + 5,
		"RedrivePolicy": map[string]any{"deadLetterTargetArn": "{" + dead.id + ".Arn}", "maxReceiveCount": 10.0},
	}, resolve(t, queue.properties))
	require.Equal(t, map[string]any{"MessageRetentionPeriod": 1209600.0, "SqsManagedSseEnabled": true}, dead.properties)
	for _, policy := range all.of("AWS::SQS::QueuePolicy") {
		of := resolve(t, policy.properties["Queues"]).([]any)[0].(string)
		require.Equal(t, []any{
			map[string]any{
				"Effect": "Deny", "Principal": map[string]any{"AWS": "*"}, "Action": "sqs:*", "Resource": of[:len(of)-1] + ".Arn}",
				"Condition": map[string]any{"Bool": map[string]any{"aws:SecureTransport": "false"}},
			},
			map[string]any{
				"Effect": "Allow", "Principal": map[string]any{"Service": "events.amazonaws.com"}, "Action": "sqs:SendMessage", "Resource": of[:len(of)-1] + ".Arn}",
				"Condition": map[string]any{"ArnLike": map[string]any{"aws:SourceArn": "arn:aws:events:us-east-1:123456789012:rule/*"}},
			},
		}, resolve(t, policy.properties["PolicyDocument"]).(map[string]any)["Statement"])
	}
	function := all.named(t, "AWS::Lambda::Function", "QueryFunctionsCollector")
	require.Equal(t, "Allow", function.properties["RecursiveLoop"], "each poll sends the message of the next")
	require.Equal(t, map[string]any{
		"BatchSize": 100.0, "MaximumBatchingWindowInSeconds": 5.0, "FunctionResponseTypes": []any{"ReportBatchItemFailures"},
		"ScalingConfig":  map[string]any{"MaximumConcurrency": 10.0},
		"EventSourceArn": "{" + queue.id + ".Arn}", "FunctionName": "{" + function.id + "}",
	}, resolve(t, all.only(t, "AWS::Lambda::EventSourceMapping").properties))
	table := all.only(t, "AWS::DynamoDB::Table")
	for _, f := range all.of("AWS::Lambda::Function") {
		variables := f.properties["Environment"].(map[string]any)["Variables"].(map[string]any)
		require.Equal(t, "{"+table.id+"}", resolve(t, variables["JOBPOLLER_TABLE"]))
		if f.id == all.named(t, "AWS::Lambda::Function", "QueryFunctionsCheckStatus").id {
			require.NotContains(t, variables, "JOBPOLLER_QUEUE_URL")
		} else {
			require.Equal(t, "{"+queue.id+"}", resolve(t, variables["JOBPOLLER_QUEUE_URL"]))
		}
	}
	require.Equal(t, map[string]any{
		"Description": "Tells the collector of jobpoller that a job of athena:StartQueryExecution has ended",
		"EventPattern": map[string]any{"source": []any{"aws.athena"}, "detail-type": []any{"Athena Query State Change"}, "detail": map[string]any{
			"currentState": []any{"SUCCEEDED", "FAILED", "CANCELLED"}, "workgroupName": []any{"etl"},
		}},
		"Targets": []any{map[string]any{"Id": "Collector", "Arn": "{" + queue.id + ".Arn}", "DeadLetterConfig": map[string]any{"Arn": "{" + dead.id + ".Arn}"}}},
	}, resolve(t, all.only(t, "AWS::Events::Rule").properties))
}

// The collector, its backlog and its dead letters are watched, once for all pollers. A
// message that is due may be as old as its delay.
func TestE2EAlarmsOnTheCollector(t *testing.T) {
	t.Parallel()
	var all template
	inStackWith(t, map[string]any{"jobpoller:codeFolder": *codeFolder(t)}, func(stack awscdk.Stack) {
		functions := collecting(stack, "athena:StartQueryExecution")
		for _, id := range []string{"First", "Second"} {
			props := querying(cdkapp.SignalEvents)
			props.Functions = functions
			cdkapp.NewJobPoller(stack, &id, props)
		}
		_, all = templateOf(stack)
	})
	collector := "{" + all.named(t, "AWS::Lambda::Function", "FunctionsCollector").id + "}"
	for metric, want := range map[string][]any{
		"Throttles": {"Sum", 1.0, collector}, "Errors": {"Sum", 7.0, collector},
		"ApproximateAgeOfOldestMessage":      {"Maximum", 1200.0, "{" + all.named(t, "AWS::SQS::Queue", "FunctionsWaits").id + ".QueueName}"},
		"ApproximateNumberOfMessagesVisible": {"Maximum", 1.0, "{" + all.named(t, "AWS::SQS::Queue", "FunctionsDeadLetters").id + ".QueueName}"},
	} {
		var found [][]any
		for _, alarm := range all.of("AWS::CloudWatch::Alarm") {
			if alarm.properties["MetricName"] == metric {
				dimension := resolve(t, alarm.properties["Dimensions"]).([]any)[0].(map[string]any)["Value"]
				if one := []any{alarm.properties["Statistic"], alarm.properties["Threshold"], dimension}; dimension == want[2] {
					found = append(found, one)
				}
			}
		}
		require.Equal(t, [][]any{want}, found, metric)
	}
}

// The collector may do what it calls, and no more.
func TestE2ERoleOfCollector(t *testing.T) {
	t.Parallel()
	var all template
	inStackWith(t, map[string]any{"jobpoller:codeFolder": *codeFolder(t)}, func(stack awscdk.Stack) {
		props := querying(cdkapp.SignalEvents)
		props.TracingEnabled = new(false)
		cdkapp.NewJobPoller(stack, new("Query"), props)
		_, all = templateOf(stack)
	})
	machine, queue := all.only(t, "AWS::StepFunctions::StateMachine").id, all.named(t, "AWS::SQS::Queue", "QueryFunctionsWaits").id
	query := "arn:aws:athena:us-east-1:123456789012:workgroup/*"
	inQueue := []string{"{" + queue + ".Arn}"}
	table := []string{"{" + all.only(t, "AWS::DynamoDB::Table").id + ".Arn}"}
	log := []string{"{" + all.named(t, "AWS::Logs::LogGroup", "QueryFunctionsCollectorLog").id + ".Arn}"}
	require.Equal(t, map[string][]string{
		"athena:BatchGetQueryExecution": {query}, "athena:GetQueryExecution": {query}, "athena:StopQueryExecution": {query},
		"dynamodb:GetItem": table, "dynamodb:PutItem": table, "logs:CreateLogStream": log, "logs:PutLogEvents": log,
		"sqs:SendMessage": inQueue, "sqs:ReceiveMessage": inQueue, "sqs:DeleteMessage": inQueue, "sqs:GetQueueAttributes": inQueue,
		"states:SendTaskSuccess": {"{" + machine + "}"}, "states:SendTaskFailure": {"{" + machine + "}"},
	}, resourcesOf(t, all, "QueryFunctionsCollectorRole"))
	require.Equal(t, inQueue, resourcesOf(t, all, "QueryFunctionsRunJobRole")["sqs:SendMessage"])
	for action := range resourcesOf(t, all, "QueryFunctionsCheckStatusRole") {
		require.NotContains(t, []string{"athena:BatchGetQueryExecution", "sqs:SendMessage"}, action)
	}
}

// resourcesOf are those of each action that a role is allowed.
func resourcesOf(t *testing.T, all template, role string) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	for _, s := range statementsOf(t, all, all.named(t, "AWS::IAM::Role", role).id) {
		for _, action := range s.actions {
			found[action] = append(found[action], s.resources...)
		}
	}
	return found
}

// A definition whose Task waits for a callback gets a collector, too.
func TestE2EDefinitionThatWaitsForACallback(t *testing.T) {
	t.Parallel()
	e, err := catalog.Lookup("athena", "StartQueryExecution")
	require.NoError(t, err)
	compiled, err := compile.Compile(e.Waiter, compile.CallOf(e), compile.Options{
		Strategy: compile.LambdaEvents, MaxWait: 2 * time.Hour, RunJobFunction: "${RunJobFunction}", CheckStatusFunction: "${CheckStatusFunction}",
	})
	require.NoError(t, err)
	definition := string(asl.Print(compiled.Machine))
	inStackWith(t, map[string]any{"jobpoller:codeFolder": *codeFolder(t)}, func(stack awscdk.Stack) {
		p := cdkapp.NewJobPoller(stack, new("Query"), &cdkapp.JobPollerProps{Job: cdkapp.JobFromDefinition(&definition)})
		require.NotNil(t, p.Functions().Collector())
		require.NotNil(t, p.Functions().Table())
		_, all := templateOf(stack)
		all.only(t, "AWS::Events::Rule")
	})
}

// Pollers share a collector, also of another stack, which cannot refer to them.
func TestE2ESharedCollector(t *testing.T) {
	t.Parallel()
	inStackWith(t, map[string]any{"jobpoller:codeFolder": *codeFolder(t)}, func(stack awscdk.Stack) {
		functions := collecting(stack, "athena:StartQueryExecution", "dynamodb:ExportTableToPointInTime", "redshift-data:ExecuteStatement")
		require.NotNil(t, functions.Collector())
		require.NotNil(t, functions.Queue())
		require.NotNil(t, functions.DeadLetterQueue())
		other := awscdk.NewStack(awscdk.App_Of(stack), new("Other"), nil)
		props := querying(cdkapp.SignalEvents)
		props.Functions = functions
		cdkapp.NewJobPoller(stack, new("Near"), props)
		far := cdkapp.NewJobPoller(other, new("Far"), props)
		require.Len(t, *far.Alarms(), 3+3+4+3)
		host(other, cdkapp.NewJobPollerFragment(other, new("Part"), &cdkapp.JobPollerFragmentProps{
			Job: fromCatalog("dynamodb:ExportTableToPointInTime"), Signal: cdkapp.SignalEvents, MaxWait: seconds(7200), Functions: functions,
		}).OrFail(), "")
		statement := func(id string, arguments *map[string]any) {
			cdkapp.NewJobPoller(stack, &id, &cdkapp.JobPollerProps{
				Job: fromCatalog("redshift-data:ExecuteStatement"), Signal: cdkapp.SignalEvents, MaxWait: seconds(7200), Functions: functions, Arguments: arguments,
			})
		}
		statement("Silent", nil)
		statement("Loud", &map[string]any{"Sql": "select 1", "Database": "sales", "WithEvent": true})
		for _, id := range []string{"Etl", "Etl2"} {
			narrow := querying(cdkapp.SignalEvents)
			narrow.Functions, narrow.Arguments = functions, &map[string]any{"QueryString": "SELECT 1", "WorkGroup": "etl"}
			cdkapp.NewJobPoller(stack, &id, narrow)
		}
		_, near := templateOf(stack)
		_, apart := templateOf(other)

		require.Len(t, near.of("AWS::Lambda::Function"), 3)
		require.Len(t, near.of("AWS::Events::Rule"), 3, "queries, those of one workgroup, and statements")
		require.Empty(t, apart.of("AWS::Events::Rule"), "the rule for all queries is with the functions, and AWS sends no event of an export")
		machine := "{" + near.named(t, "AWS::StepFunctions::StateMachine", "Near").id + "}"
		require.Contains(t, resourcesOf(t, near, "FunctionsCollectorRole")["states:SendTaskSuccess"], machine)
		var answers []string
		for _, policy := range apart.of("AWS::IAM::Policy") {
			for _, s := range policy.properties["PolicyDocument"].(map[string]any)["Statement"].([]any) {
				if s := resolve(t, s).(map[string]any); slices.Contains(oneOrMore(s["Action"]), "states:SendTaskSuccess") {
					answers = append(answers, oneOrMore(s["Resource"])...)
				}
			}
		}
		require.ElementsMatch(t, []string{
			"{" + apart.named(t, "AWS::StepFunctions::StateMachine", "Far").id + "}", "arn:aws:states:us-east-1:123456789012:stateMachine:*",
		}, answers)
		notes := assertions.Annotations_FromStack(stack)
		notes.HasWarning(new("/Stack/Silent"), assertions.Match_StringLikeRegexp(new("WithEvent = true")))
		notes.HasNoWarning(new("/Stack/Loud"), assertions.Match_StringLikeRegexp(new("WithEvent")))
	})
}

// A key of the user's encrypts the queues, and who uses these may use it.
func TestE2ECollectorWithAKey(t *testing.T) {
	t.Parallel()
	var all template
	inStackWith(t, map[string]any{"jobpoller:codeFolder": *codeFolder(t)}, func(stack awscdk.Stack) {
		props := querying(cdkapp.SignalEvents)
		props.EncryptionKey = awskms.NewKey(stack, new("Key"), nil)
		props.StateMachineProps = &awsstepfunctions.StateMachineProps{StateMachineName: new("Queries")}
		cdkapp.NewJobPoller(stack, new("Query"), props)
		_, all = templateOf(stack)
	})
	key := "{" + all.only(t, "AWS::KMS::Key").id + ".Arn}"
	for _, queue := range all.of("AWS::SQS::Queue") {
		require.Equal(t, key, resolve(t, queue.properties["KmsMasterKeyId"]))
		require.NotContains(t, queue.properties, "SqsManagedSseEnabled")
	}
	for _, role := range []string{"QueryFunctionsRunJobRole", "QueryFunctionsCollectorRole"} {
		require.Contains(t, resourcesOf(t, all, role)["kms:GenerateDataKey"], key)
		require.Contains(t, resourcesOf(t, all, role)["kms:Decrypt"], key)
	}
	answers := asJSON(t, resolve(t, all.statements(t, "QueryFunctionsCollectorRole")))
	require.Contains(t, answers, `{"Action":["kms:Decrypt","kms:GenerateDataKey"],"Condition":{"StringEquals":`+
		`{"kms:EncryptionContext:aws:states:stateMachineArn":"{`+all.only(t, "AWS::StepFunctions::StateMachine").id+`}"}},"Effect":"Allow","Resource":"`+key+`"}`,
		"Step Functions encrypts the answer in the name of the collector")
	policy := asJSON(t, resolve(t, all.only(t, "AWS::KMS::Key").properties["KeyPolicy"]))
	require.Contains(t, policy, `{"Action":["kms:Decrypt","kms:GenerateDataKey"],"Condition":{"StringEquals":{"aws:SourceAccount":"123456789012"}},`+
		`"Effect":"Allow","Principal":{"Service":"events.amazonaws.com"},"Resource":"*"}`)
}

// The policy of another app's key cannot be changed. The synthesis says what must be added
// there, because no event would reach the queue without it.
func TestE2ECollectorWithAKeyOfAnotherApp(t *testing.T) {
	t.Parallel()
	inStackWith(t, map[string]any{"jobpoller:codeFolder": *codeFolder(t)}, func(stack awscdk.Stack) {
		cdkapp.NewFunctions(stack, new("Functions"), &cdkapp.FunctionsProps{
			Jobs: jsii.Strings("athena:StartQueryExecution"), Collector: new(true),
			EncryptionKey: awskms.Key_FromKeyArn(stack, new("Key"), new("arn:aws:kms:us-east-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab")),
		})
		assertions.Annotations_FromStack(stack).HasWarning(new("/Stack/Functions"), assertions.Match_StringLikeRegexp(new("must allow events.amazonaws.com to use the key")))
	})
}

// AUTO takes what the job and the props allow, and says which.
func TestE2ESignalAuto(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(stack awscdk.Stack, props *cdkapp.JobPollerProps)
		want   compile.Strategy
		says   string
	}{
		"a job with a proved Task": {func(_ awscdk.Stack, p *cdkapp.JobPollerProps) {
			p.Job = fromCatalog("sagemaker:CreateTransformJob")
		}, compile.SyncTask, "Signal AUTO is SYNC here: Step Functions itself waits for the job"},
		"whose stop call needs an id": {func(_ awscdk.Stack, p *cdkapp.JobPollerProps) {
			p.Job, p.Resources = fromCatalog("ecs:RunTask"), &map[string]*[]*string{"iam:PassRole": {}}
		}, compile.Variables, "Signal AUTO is POLL here: it can be no other. SYNC: prop OnTimeout: .*leave the stop call out; EVENTS: neither Functions"},
		"and that is left at the deadline": {func(_ awscdk.Stack, p *cdkapp.JobPollerProps) {
			p.Job, p.OnTimeout, p.Resources = fromCatalog("ecs:RunTask"), cdkapp.OnTimeoutLeave, &map[string]*[]*string{"iam:PassRole": {}}
		}, compile.SyncTask, "SYNC"},
		"a table": {func(stack awscdk.Stack, p *cdkapp.JobPollerProps) {
			p.Store = cdkapp.NewRecordTable(stack, new("Records"), nil)
		}, compile.LambdaEvents, "Signal AUTO is EVENTS here: the function collector polls, and is told by events"},
		"a table that a .sync Task needs not": {func(stack awscdk.Stack, p *cdkapp.JobPollerProps) {
			p.Job, p.Store = fromCatalog("sagemaker:CreateTransformJob"), cdkapp.NewRecordTable(stack, new("Records"), nil)
		}, compile.SyncTask, "SYNC"},
		"a table, for a job without an event": {func(stack awscdk.Stack, p *cdkapp.JobPollerProps) {
			p.Job, p.Store = fromCatalog("dynamodb:ExportTableToPointInTime"), cdkapp.NewRecordTable(stack, new("Records"), nil)
		}, compile.LambdaEvents, "because no event of the job's end is known"},
		"a collector": {func(stack awscdk.Stack, p *cdkapp.JobPollerProps) {
			p.Functions = collecting(stack, "athena:StartQueryExecution")
		}, compile.LambdaEvents, "EVENTS"},
		"a bucket": {func(stack awscdk.Stack, p *cdkapp.JobPollerProps) {
			p.Store = cdkapp.NewRecordBucket(stack, new("Records"), nil)
		}, compile.Variables, "POLL"},
		"nothing": {func(awscdk.Stack, *cdkapp.JobPollerProps) {}, compile.Variables, "POLL"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inStackWith(t, map[string]any{"jobpoller:codeFolder": *codeFolder(t)}, func(stack awscdk.Stack) {
				props := querying(cdkapp.SignalAuto)
				tt.change(stack, props)
				p := cdkapp.NewJobPoller(stack, new("Poller"), props)
				require.Equal(t, tt.want, p.Report().Strategy)
				require.Equal(t, tt.want.UsesFunctions(), p.Functions() != nil)
				assertions.Annotations_FromStack(stack).HasInfo(new("/Stack/Poller"), assertions.Match_StringLikeRegexp(new(tt.says)))
			})
		})
	}
}

// Functions that a poller makes for itself may do no more than the synthesis says.
func TestE2EUnnamedResourcesOfFunctions(t *testing.T) {
	t.Parallel()
	inStackWith(t, map[string]any{"jobpoller:codeFolder": *codeFolder(t)}, func(stack awscdk.Stack) {
		deploy := func(id string, arguments *map[string]any, resources *map[string]*[]*string) {
			cdkapp.NewJobPoller(stack, &id, &cdkapp.JobPollerProps{
				Job: fromCatalog("glue:StartJobRun"), Signal: cdkapp.SignalEvents, MaxWait: seconds(3600), Arguments: arguments, Resources: resources,
			})
		}
		job := jsii.Strings("arn:aws:glue:us-east-1:123456789012:job/nightly")
		deploy("Wide", nil, nil)
		deploy("Named", &map[string]any{"JobName": "nightly"}, nil)
		deploy("Narrow", nil, &map[string]*[]*string{"glue:StartJobRun": job, "glue:GetJobRun": job, "glue:BatchStopJobRun": job})
		found := assertions.Annotations_FromStack(stack)
		wide := assertions.Match_StringLikeRegexp(new("all resources of their kind.*glue:StartJobRun.*literal JobName"))
		found.HasWarning(new("/Stack/Wide"), wide)
		for _, id := range []string{"/Stack/Named", "/Stack/Narrow"} {
			found.HasNoWarning(&id, assertions.Match_StringLikeRegexp(new("all resources of their kind")))
		}
	})
}

// SYNC runs the job in a Task of Step Functions, by a fragment as by a machine.
func TestE2ESignalSync(t *testing.T) {
	t.Parallel()
	all := synth(t, func(stack awscdk.Stack) {
		p := cdkapp.NewJobPoller(stack, new("Transform"), &cdkapp.JobPollerProps{
			Job: fromCatalog("sagemaker:CreateTransformJob"), Signal: cdkapp.SignalSync, MaxWait: seconds(7200),
		})
		require.Contains(t, *p.Definition(), `"arn:${Partition}:states:::sagemaker:createTransformJob.sync"`)
		require.Nil(t, p.Functions())
		host(stack, cdkapp.NewJobPollerFragment(stack, new("Part"), &cdkapp.JobPollerFragmentProps{
			Job: fromCatalog("sagemaker:CreateTransformJob"), Signal: cdkapp.SignalSync, MaxWait: seconds(7200),
		}).OrFail(), "")
	})
	requireGolden(t, "jobpoller-sync", all)
	require.Empty(t, all.of("AWS::Lambda::Function"))
	for _, role := range []string{"TransformRole", "HostRole"} {
		require.Contains(t, slices.Collect(maps.Keys(resourcesOf(t, all, role))), "events:PutRule")
	}
}

func TestE2ESignalRefusesProps(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(stack awscdk.Stack, props *cdkapp.JobPollerProps)
		prop   string
		want   string
	}{
		"unknown": {
			func(_ awscdk.Stack, p *cdkapp.JobPollerProps) { p.Signal = "PUSH" },
			"Signal", `it must be one of "POLL", "SYNC", "EVENTS", "AUTO", is "PUSH"`,
		},
		"a strategy that does not poll": {
			func(_ awscdk.Stack, p *cdkapp.JobPollerProps) { p.Signal, p.Strategy = "", compile.SyncTask },
			"Strategy", `sync does not poll: give Signal "SYNC" in its place`,
		},
		"another": {
			func(_ awscdk.Stack, p *cdkapp.JobPollerProps) { p.Strategy = compile.LambdaEvents },
			"Strategy", `events does not poll: give Signal "EVENTS" in its place`,
		},
		"both": {
			func(_ awscdk.Stack, p *cdkapp.JobPollerProps) { p.Strategy = compile.RetryTask },
			"Strategy", "Signal is EVENTS: leave one of the two out",
		},
		"both, with AUTO": {
			func(_ awscdk.Stack, p *cdkapp.JobPollerProps) {
				p.Signal, p.Strategy = cdkapp.SignalAuto, compile.RetryTask
			},
			"Strategy", "Signal is AUTO",
		},
		"a definition": {
			func(_ awscdk.Stack, p *cdkapp.JobPollerProps) {
				p.Job, p.MaxWait = cdkapp.JobFromShipped(new("dynamodb-export-variables")), nil
			},
			"Signal", "says how it waits",
		},
		"a bucket": {
			func(stack awscdk.Stack, p *cdkapp.JobPollerProps) {
				p.Store = cdkapp.NewRecordBucket(stack, new("Records"), nil)
			},
			"Store", "give what NewRecordTable returns",
		},
		"no collector": {
			func(stack awscdk.Stack, p *cdkapp.JobPollerProps) {
				p.Functions = cdkapp.NewFunctions(stack, new("Functions"), &cdkapp.FunctionsProps{Jobs: jsii.Strings("athena:StartQueryExecution")})
			},
			"Functions", "give NewFunctions Collector true",
		},
		"no .sync Task": {
			func(_ awscdk.Stack, p *cdkapp.JobPollerProps) {
				p.Signal, p.Job = cdkapp.SignalSync, fromCatalog("dynamodb:ExportTableToPointInTime")
			},
			"Signal", `take another signal: "POLL", "EVENTS", "AUTO"`,
		},
		"a stop call without an id": {
			func(_ awscdk.Stack, p *cdkapp.JobPollerProps) {
				p.Signal, p.Job = cdkapp.SignalSync, fromCatalog("ecs:RunTask")
			},
			"OnTimeout", "cannot stop the job",
		},
		"a delay before the .sync Task's end": {
			func(_ awscdk.Stack, p *cdkapp.JobPollerProps) {
				p.Signal, p.Job, p.InitialDelay = cdkapp.SignalSync, fromCatalog("sagemaker:CreateTransformJob"), seconds(60)
			},
			"InitialDelay", "leave the initial delay out",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := *codeFolder(t)
			e := problem(t, func(stack awscdk.Stack) {
				stack.Node().SetContext(new("jobpoller:codeFolder"), folder)
				props := querying(cdkapp.SignalEvents)
				tt.change(stack, props)
				cdkapp.NewJobPoller(stack, new("Poller"), props)
			})
			require.Equal(t, tt.prop, e.Prop)
			require.Contains(t, e.Problem, tt.want)
		})
	}
}

// A Task that waits for a callback of another function needs no collector.
func TestE2ECallbackOfAnotherFunction(t *testing.T) {
	t.Parallel()
	folder := *codeFolder(t)
	poll := func(stack awscdk.Stack, waitsFor string) {
		stack.Node().SetContext(new("jobpoller:codeFolder"), folder)
		definition := strings.ReplaceAll(`{"QueryLanguage": "JSONata", "StartAt": "Approve", "States": {
			"Approve": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke.waitForTaskToken", "TimeoutSeconds": 3600, "Next": "Check",
				"Arguments": {"FunctionName": "NAME", "Payload": {"token": "{% $states.context.Task.Token %}"}}},
			"Check": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Arguments": {"FunctionName": "${CheckStatusFunction}"}, "End": true}}}`,
			"NAME", waitsFor)
		cdkapp.NewJobPoller(stack, new("Poller"), &cdkapp.JobPollerProps{
			Job:       cdkapp.JobFromDefinition(&definition),
			Functions: cdkapp.NewFunctions(stack, new("Functions"), &cdkapp.FunctionsProps{Jobs: jsii.Strings("athena:StartQueryExecution")}),
		})
	}
	require.Len(t, synth(t, func(stack awscdk.Stack) { poll(stack, "approve") }).of("AWS::Lambda::Function"), 2)
	require.Contains(t, problem(t, func(stack awscdk.Stack) { poll(stack, "${RunJobFunction}") }).Problem, "they have no collector")
}
