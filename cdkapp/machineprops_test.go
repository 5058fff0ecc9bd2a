//go:build e2e

package cdkapp_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/assertions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/cdkapp"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// refusedMachineProps are the fields of awsstepfunctions.StateMachineProps that cannot be
// passed on.
var refusedMachineProps = map[string]func(awscdk.Stack) any{
	"Definition":     func(stack awscdk.Stack) any { return awsstepfunctions.NewPass(stack, new("Pass"), nil) },
	"DefinitionBody": func(awscdk.Stack) any { return awsstepfunctions.DefinitionBody_FromString(new("{}")) },
	"QueryLanguage":  func(awscdk.Stack) any { return awsstepfunctions.QueryLanguage_JSONATA },
	"EncryptionConfiguration": func(stack awscdk.Stack) any {
		return awsstepfunctions.NewCustomerManagedEncryptionConfiguration(awskms.NewKey(stack, new("Key"), nil), nil)
	},
	"TracingEnabled": func(awscdk.Stack) any { return new(false) },
}

const machineKind = "AWS::StepFunctions::StateMachine"

// passedMachineProps are all others.
var passedMachineProps = map[string]field{
	"Comment":                 given(new("of the platform"), machineKind, `\"Comment\": \"of the platform\"`),
	"DefinitionSubstitutions": given(&map[string]*string{"Bucket": new("exports")}, machineKind, `"Bucket":"exports"`),
	"Logs": {func(stack awscdk.Stack) any {
		return &awsstepfunctions.LogOptions{Destination: awslogs.NewLogGroup(stack, new("Own"), nil), Level: awsstepfunctions.LogLevel_ERROR}
	}, machineKind, `"LogGroupArn":{"Fn::GetAtt":["Own`},
	"RemovalPolicy":    given(awscdk.RemovalPolicy_RETAIN, "", `"DeletionPolicy":"Retain"`),
	"Role":             {func(stack awscdk.Stack) any { return newRole(stack) }, machineKind, `"RoleArn":{"Fn::GetAtt":["Role`},
	"StateMachineName": given(new("exports"), machineKind, `"StateMachineName":"exports"`),
	"StateMachineType": given(awsstepfunctions.StateMachineType_STANDARD, machineKind, `"StateMachineType":"STANDARD"`),
	"Timeout":          {func(awscdk.Stack) any { return seconds(9000) }, machineKind, `\"TimeoutSeconds\": 9000`},
}

// Each field of awsstepfunctions.StateMachineProps reaches the state machine, or is refused.
func TestE2EEveryFieldOfStateMachineProps(t *testing.T) {
	t.Parallel()
	requireEveryField(t, reflect.TypeFor[awsstepfunctions.StateMachineProps](), passedMachineProps, refusedMachineProps)
	for name, field := range passedMachineProps {
		all := synth(t, func(stack awscdk.Stack) {
			poller := exporting()
			if name == "DefinitionSubstitutions" {
				poller = &cdkapp.JobPollerProps{Job: cdkapp.JobFromDefinition(new(`{"StartAt": "P", "States": {"P": {"Type": "Pass", "Result": "${Bucket}", "End": true}}}`))}
			}
			poller.StateMachineProps = &awsstepfunctions.StateMachineProps{}
			set(poller.StateMachineProps, name, field.value(stack))
			cdkapp.NewJobPoller(stack, new("Export"), poller)
		})
		machine := all.only(t, machineKind)
		require.Contains(t, asJSON(t, machine.all), field.exists, name)
		require.Empty(t, asl.Validate([]byte(deployed(t, machine)), asl.Standard), name)
	}
	e := problem(t, func(stack awscdk.Stack) {
		props := exporting()
		props.StateMachineProps = &awsstepfunctions.StateMachineProps{}
		for name, value := range refusedMachineProps {
			set(props.StateMachineProps, name, value(stack))
		}
		cdkapp.NewJobPoller(stack, new("Export"), props)
	})
	var want []string
	for name := range refusedMachineProps {
		want = append(want, "StateMachineProps."+name)
	}
	require.ElementsMatch(t, want, propsOf(e))
}

func TestE2EStateMachinePropsThatCannotBe(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		props         func() awsstepfunctions.StateMachineProps // in the stack
		prop, problem string
	}{
		"a limit before the end of the wait": {
			func() awsstepfunctions.StateMachineProps {
				return awsstepfunctions.StateMachineProps{Timeout: seconds(7200)}
			}, "StateMachineProps.Timeout",
			"it must be longer than MaxWait (2h0m0s), is 2h0m0s: the execution would end before the wait, and leave the job alone",
		},
		"a placeholder of ours": {
			func() awsstepfunctions.StateMachineProps {
				return awsstepfunctions.StateMachineProps{DefinitionSubstitutions: &map[string]*string{"Partition": new("aws")}}
			},
			"StateMachineProps.DefinitionSubstitutions", "Partition is set here: leave it out",
		},
		"a placeholder that is not there": {
			func() awsstepfunctions.StateMachineProps {
				return awsstepfunctions.StateMachineProps{DefinitionSubstitutions: &map[string]*string{"Bucket": new("exports")}}
			},
			"StateMachineProps.DefinitionSubstitutions", "the definition has no ${Bucket}: leave it out, or give the definition with JobFromDefinition",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, build := range []func(awscdk.Stack){
				func(stack awscdk.Stack) {
					props := exporting()
					props.StateMachineProps = new(tt.props())
					cdkapp.NewJobPoller(stack, new("Poller"), props)
				},
				func(stack awscdk.Stack) {
					cdkapp.NewFunctionPoller(stack, new("Poller"), &cdkapp.FunctionPollerProps{
						RunJob: ownFunction(stack, "Run", 30), CheckStatus: ownFunction(stack, "Check", 30),
						MaxWait: seconds(7200), StateMachineProps: new(tt.props()),
					})
				},
			} {
				e := problem(t, build)
				require.Equal(t, tt.prop, e.Prop)
				require.Equal(t, tt.problem, e.Problem)
				require.Empty(t, e.Others)
			}
		})
	}
}

// The machine's role is given what it needs, or else the synthesis names it.
func TestE2ERoleOfTheStateMachine(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		role    func(stack awscdk.Stack) awsiam.IRole
		changed bool
	}{
		"made": {func(stack awscdk.Stack) awsiam.IRole { return newRole(stack) }, true},
		"imported": {func(stack awscdk.Stack) awsiam.IRole {
			return awsiam.Role_FromRoleArn(stack, new("Own"), new("arn:aws:iam::123456789012:role/own"), &awsiam.FromRoleArnOptions{Mutable: new(false)})
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inStack(t, func(stack awscdk.Stack) {
				props := exporting()
				role := tt.role(stack)
				props.StateMachineProps = &awsstepfunctions.StateMachineProps{Role: role}
				p := cdkapp.NewJobPoller(stack, new("Export"), props)
				require.Equal(t, *role.RoleArn(), *p.Role().RoleArn())
				needs := assertions.Match_StringLikeRegexp(new("the role of the state machine is imported and cannot be changed: its policies must allow " +
					"dynamodb:DescribeExport, dynamodb:ExportTableToPointInTime, logs:CreateLogDelivery, .*, s3:PutObject, .*, xray:PutTraceSegments"))
				found := assertions.Annotations_FromStack(stack).FindWarning(new("/Stack/Export"), needs)
				require.Equal(t, !tt.changed, len(*found) == 1)
				if _, all := templateOf(stack); tt.changed {
					require.Contains(t, asJSON(t, all.statements(t, "Role")), "dynamodb:ExportTableToPointInTime")
				} else {
					require.Empty(t, all.of("AWS::IAM::Policy"))
				}
			})
		})
	}
}

// Props of functions that a poller or a fragment makes reach them.
func TestE2EFunctionPropsOfPollers(t *testing.T) {
	t.Parallel()
	inStackWith(t, map[string]any{"jobpoller:codeFolder": *codeFolder(t)}, func(stack awscdk.Stack) {
		props := exporting()
		props.Strategy, props.FunctionProps = compile.LambdaLoop, ofMemory(256)
		cdkapp.NewJobPoller(stack, new("Export"), props)
		cdkapp.NewJobPollerFragment(stack, new("Crawl"), &cdkapp.JobPollerFragmentProps{
			Job: fromCatalog("glue:StartCrawler"), Strategy: compile.LambdaRetry, MaxWait: seconds(600), FunctionProps: ofMemory(512),
		})
		_, all := templateOf(stack)
		for prefix, memory := range map[string]float64{"Export": 256, "Crawl": 512} {
			for _, function := range []string{"RunJob", "CheckStatus"} {
				require.InDelta(t, memory, all.named(t, functionKind, prefix+"Functions"+function).properties["MemorySize"], 0)
			}
		}
	})
	e := problem(t, func(stack awscdk.Stack) {
		props := exporting()
		props.FunctionProps = ofMemory(256)
		cdkapp.NewJobPoller(stack, new("Export"), props)
	})
	require.Equal(t, "FunctionProps", e.Prop)
	require.Contains(t, e.Problem, "the state machine invokes none")
}

// The collector has the props of the other functions.
func TestE2EFunctionPropsOfTheCollector(t *testing.T) {
	t.Parallel()
	inStackWith(t, map[string]any{"jobpoller:codeFolder": *codeFolder(t)}, func(stack awscdk.Stack) {
		props := querying(cdkapp.SignalEvents)
		props.FunctionProps = &awslambda.FunctionProps{
			FunctionName: new("queries"), Role: newRole(stack), LogGroup: awslogs.NewLogGroup(stack, new("Own"), nil), Vpc: newVPC(stack), Timeout: seconds(50),
		}
		cdkapp.NewJobPoller(stack, new("Query"), props)
		_, all := templateOf(stack)
		names := []string{}
		for _, f := range all.of(functionKind) {
			names = append(names, f.properties["FunctionName"].(string))
			require.Contains(t, asJSON(t, f.properties), `"SubnetIds":["subnet-`)
			require.Equal(t, all.named(t, "AWS::Logs::LogGroup", "Own").id, f.properties["LoggingConfig"].(map[string]any)["LogGroup"].(map[string]any)["Ref"])
		}
		require.ElementsMatch(t, []string{"queries-run-job", "queries-check-status", "queries-collector"}, names)
		may := allowed(t, all, "Role")
		for _, action := range []string{"sqs:SendMessage", "sqs:ReceiveMessage", "states:SendTaskSuccess", "athena:BatchGetQueryExecution", "ec2:CreateNetworkInterface"} {
			require.Contains(t, may, action)
		}
	})
	inStackWith(t, map[string]any{"jobpoller:codeFolder": *codeFolder(t)}, func(stack awscdk.Stack) {
		props := querying(cdkapp.SignalEvents)
		props.FunctionProps = &awslambda.FunctionProps{Role: newRole(stack).WithoutPolicyUpdates(nil)}
		cdkapp.NewJobPoller(stack, new("Query"), props)
		for path, actions := range map[string]string{
			"/Stack/Query/Functions": "athena:BatchGetQueryExecution, .*, sqs:DeleteMessage, sqs:GetQueueAttributes, sqs:ReceiveMessage, sqs:SendMessage, xray:.*",
			"/Stack/Query":           "states:SendTaskFailure, states:SendTaskSuccess",
		} {
			text := "the role of collector is imported and cannot be changed: its policies must allow " + actions
			assertions.Annotations_FromStack(stack).HasWarning(&path, assertions.Match_StringLikeRegexp(&text))
		}
	})
}

// A policy that names a function is made after it, and the function after its role.
func TestE2EOneRoleForAll(t *testing.T) {
	t.Parallel()
	inStackWith(t, map[string]any{"jobpoller:codeFolder": *codeFolder(t)}, func(stack awscdk.Stack) {
		for id, changed := range map[string]bool{"Changed": true, "Unchanged": false} {
			role := awsiam.IRole(awsiam.NewRole(stack, new(id+"Role"), &awsiam.RoleProps{AssumedBy: awsiam.NewServicePrincipal(new("states.amazonaws.com"), nil)}))
			if !changed {
				role = role.(awsiam.Role).WithoutPolicyUpdates(nil)
			}
			props := exporting()
			props.Strategy = compile.LambdaLoop
			props.StateMachineProps, props.FunctionProps = &awsstepfunctions.StateMachineProps{Role: role}, &awslambda.FunctionProps{Role: role}
			build := func() { cdkapp.NewJobPoller(stack, &id, props) }
			if !changed {
				build()
				continue
			}
			require.PanicsWithError(t, "Stack/Changed: prop StateMachineProps.Role: it is the role of RunJob, too, "+
				"and CloudFormation cannot make a policy before and after a function: give another role", build)
		}
	})
}

// Tags and a permissions boundary that are put on a poller reach all that can have them.
func TestE2ETagsReachAll(t *testing.T) {
	t.Parallel()
	for signal, want := range map[cdkapp.Signal]map[string]int{
		cdkapp.SignalPoll: {machineKind: 1, functionKind: 2, "AWS::S3::Bucket": 1, "AWS::Logs::LogGroup": 3, "AWS::IAM::Role": 3},
		cdkapp.SignalEvents: {
			machineKind: 1, functionKind: 3, "AWS::DynamoDB::Table": 1, "AWS::Logs::LogGroup": 4, "AWS::IAM::Role": 4,
			"AWS::SQS::Queue": 2, "AWS::Events::Rule": 1,
		},
	} {
		var all template
		inStackWith(t, map[string]any{"jobpoller:codeFolder": *codeFolder(t)}, func(stack awscdk.Stack) {
			props := querying(signal)
			if signal == cdkapp.SignalPoll {
				props.Strategy = compile.LambdaLoop
			}
			p := cdkapp.NewJobPoller(stack, new("Query"), props)
			awscdk.Tags_Of(p).Add(new("team"), new("data"), nil)
			awsiam.PermissionsBoundary_Of(p).Apply(awsiam.ManagedPolicy_FromManagedPolicyName(stack, new("Boundary"), new("platform")))
			_, all = templateOf(stack)
		})
		tagged := map[string]int{}
		for kind := range want {
			for _, r := range all.of(kind) {
				require.Contains(t, asJSON(t, r.properties["Tags"]), `{"Key":"team","Value":"data"}`, r.id)
				tagged[kind]++
			}
		}
		require.Equal(t, want, tagged)
		for _, role := range all.of("AWS::IAM::Role") {
			require.Contains(t, asJSON(t, role.properties["PermissionsBoundary"]), `:policy/platform"]]}`, role.id)
		}
	}
}

// The limit of StateMachineProps replaces the definition's; a shorter one gives a warning.
func TestE2ELimitOfTheStateMachine(t *testing.T) {
	t.Parallel()
	for hours, warns := range map[float64]bool{2.5: true, 30: false} {
		inStack(t, func(stack awscdk.Stack) {
			props := exporting()
			props.StateMachineProps = &awsstepfunctions.StateMachineProps{Timeout: seconds(hours * 3600)}
			p := cdkapp.NewJobPoller(stack, new("Export"), props)
			require.Equal(t, 1, strings.Count(*p.Definition(), fmt.Sprintf("\n  \"TimeoutSeconds\": %g", hours*3600)))
			require.Equal(t, 1, strings.Count(*p.Definition(), "\n  \"TimeoutSeconds\": "))
			text := assertions.Match_StringLikeRegexp(new("StateMachineProps.Timeout is shorter than the .* that the definition can take with all retries"))
			require.Equal(t, warns, len(*assertions.Annotations_FromStack(stack).FindWarning(new("/Stack/Export"), text)) == 1)
		})
	}
}

func ofMemory(size float64) *awslambda.FunctionProps {
	return &awslambda.FunctionProps{MemorySize: &size}
}
