//go:build e2e

package cdkapp_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"
	"github.com/aws/jsii-runtime-go"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/cdkapp"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

// bare are props without what a stack full of pollers has no room for.
func bare(p cdkapp.JobPollerProps) *cdkapp.JobPollerProps {
	p.Alarms, p.TracingEnabled = new(false), new(false)
	p.StateMachineProps = &awsstepfunctions.StateMachineProps{Logs: &awsstepfunctions.LogOptions{Level: awsstepfunctions.LogLevel_OFF}}
	return &p
}

// passed are the roles, keys and secrets that the tests let jobs have.
func passed(e *catalog.Entry) *map[string]*[]*string {
	all := map[string]*[]*string{}
	if e.Job != nil {
		for _, d := range e.Job.Dependent {
			if arns, _ := e.Job.On(d.Resource, nil); len(arns) == 0 {
				continue // of an argument that is optional
			}
			switch service, _, _ := strings.Cut(d.Action, ":"); service {
			case "iam":
				all[d.Action] = jsii.Strings("arn:aws:iam::123456789012:role/jobs")
			case "kms":
				all[d.Action] = jsii.Strings("arn:aws:kms:us-east-1:123456789012:key/jobs")
			case "secretsmanager":
				all[d.Action] = jsii.Strings("arn:aws:secretsmanager:us-east-1:123456789012:secret:jobs")
			}
		}
	}
	return &all
}

// jobsAndWaiters are the jobs whose services do something on behalf of who starts
// them, each by one strategy in turn that takes it, and some of the other entries.
func jobsAndWaiters(t *testing.T) map[compile.Strategy][]*catalog.Entry {
	t.Helper()
	listings, err := catalog.AWS().List()
	require.NoError(t, err)
	all, n := map[compile.Strategy][]*catalog.Entry{}, 0
	for i, service := range listings {
		for _, listed := range service.Entries {
			e, err := catalog.Lookup(service.Key, listed.Name)
			require.NoError(t, err)
			dependent := e.Job != nil && len(e.Job.Dependent) > 0
			if other := i%10 == 5 && listed.Name == service.Entries[0].Name; !dependent && !other {
				continue
			}
			for range strategies {
				n++
				strategy := strategies[n%len(strategies)]
				if _, err := compileEntry(e, strategy); err == nil {
					all[strategy] = append(all[strategy], e)
					break
				}
			}
		}
	}
	return all
}

func compileEntry(e *catalog.Entry, strategy compile.Strategy) (*compile.Compiled, error) {
	return compile.Compile(e.Waiter, compile.CallOf(e), compile.Options{Strategy: strategy, MaxWait: time.Hour, Fit: true})
}

// A job is deployed as it is compiled, and its role may do what the calls of its
// definition need.
func TestE2EDefinitionsOfTheCatalogue(t *testing.T) {
	t.Parallel()
	chosen := jobsAndWaiters(t)
	for _, strategy := range strategies {
		jobs := chosen[strategy]
		require.Greater(t, len(jobs), 10, strategy)
		all := synth(t, func(stack awscdk.Stack) {
			for i, e := range jobs {
				cdkapp.NewJobPoller(stack, new(fmt.Sprintf("P%dX", i)), bare(cdkapp.JobPollerProps{
					Job: fromCatalog(e.FullName()), Strategy: strategy, MaxWait: seconds(3600), Fit: new(true), Resources: passed(e),
				}))
			}
		})
		for i, e := range jobs {
			compiled, err := compileEntry(e, strategy)
			require.NoError(t, err)
			machine := all.named(t, "AWS::StepFunctions::StateMachine", fmt.Sprintf("P%dX", i))
			definition := deployed(t, machine)
			require.Equal(t, string(asl.Print(compiled.Machine)), definition)
			require.Empty(t, asl.Validate([]byte(definition), asl.Standard))
			given := map[string][]string{}
			for action, arns := range *passed(e) {
				given[action] = []string{*(*arns)[0]}
			}
			requireJustified(t, all, machine, given, "", false)
		}
	}
}

// A machine with functions invokes those that are made with it, or that it is
// given, and calls nothing else.
func TestE2EDefinitionsWithFunctions(t *testing.T) {
	t.Parallel()
	names := []string{"dynamodb:ExportTableToPointInTime", "dynamodb:ExportCompleted", "textract:StartDocumentAnalysis"}
	for _, strategy := range []compile.Strategy{compile.LambdaLoop, compile.LambdaRetry} {
		all := synth(t, func(stack awscdk.Stack) {
			functions := newFunctions(t, stack, cdkapp.FunctionsProps{Jobs: &[]*string{&names[0], &names[1], &names[2]}})
			for i, name := range names {
				p := cdkapp.NewJobPoller(stack, new(fmt.Sprintf("P%dX", i)), bare(cdkapp.JobPollerProps{
					Job: fromCatalog(name), Strategy: strategy, MaxWait: seconds(3600), Fit: new(true), Functions: functions,
				}))
				require.Equal(t, functions.Node().Path(), p.Functions().Node().Path())
			}
		})
		run, check := functionARN(t, all, "Poller", "RunJob"), functionARN(t, all, "Poller", "CheckStatus")
		for i, name := range names {
			service, job, _ := strings.Cut(name, ":")
			e, err := catalog.Lookup(service, job)
			require.NoError(t, err)
			compiled, err := compile.Compile(e.Waiter, compile.CallOf(e), compile.Options{
				Strategy: strategy, MaxWait: time.Hour, Fit: true, RunJobFunction: run, CheckStatusFunction: check,
			})
			require.NoError(t, err)
			machine := all.named(t, "AWS::StepFunctions::StateMachine", fmt.Sprintf("P%dX", i))
			require.Equal(t, string(asl.Print(compiled.Machine)), deployed(t, machine))
			require.Empty(t, asl.Validate([]byte(deployed(t, machine)), asl.Standard))
			requireJustified(t, all, machine, nil, "", false)
		}
	}
}

// functionARN is the ARN of one of the two functions, as resolve has it.
func functionARN(t *testing.T, all template, functions, name string) string {
	t.Helper()
	var found []string
	for _, version := range all.of("AWS::Lambda::Version") {
		if strings.HasPrefix(version.id, functions+name) {
			require.Equal(t, "Retain", version.all["DeletionPolicy"], "executions in flight invoke it")
			return "{" + version.id + "}"
		}
	}
	for _, f := range all.of("AWS::Lambda::Function") {
		if strings.HasPrefix(f.id, functions+name) {
			found = append(found, "{"+f.id+".Arn}")
		}
	}
	require.Len(t, found, 1)
	return found[0]
}

// A job that could be stopped is left alone, and one that is running is not started.
func TestE2EStartAndStop(t *testing.T) {
	t.Parallel()
	var all template
	inStackWith(t, map[string]any{"jobpoller:codeFolder": *codeFolder(t)}, func(stack awscdk.Stack) {
		for _, c := range []struct {
			id        string
			onTimeout cdkapp.OnTimeout
			start     *bool
			strategy  compile.Strategy
		}{
			{id: "Stopped"},
			{id: "AlsoStopped", onTimeout: cdkapp.OnTimeoutStop},
			{id: "Left", onTimeout: cdkapp.OnTimeoutLeave},
			{id: "Running", start: new(false)},
			{id: "Lambda", onTimeout: cdkapp.OnTimeoutLeave, strategy: compile.LambdaRetry},
		} {
			props := bare(cdkapp.JobPollerProps{Job: fromCatalog("athena:StartQueryExecution"), MaxWait: seconds(3600)})
			props.OnTimeout, props.Start, props.Strategy = c.onTimeout, c.start, c.strategy
			cdkapp.NewJobPoller(stack, &c.id, props)
		}
		_, all = templateOf(stack)
	})
	for id, want := range map[string]struct{ starts, stops bool }{"Stopped": {true, true}, "AlsoStopped": {true, true}, "Left": {true, false}, "Running": {}} {
		machine := all.named(t, "AWS::StepFunctions::StateMachine", id+"StateMachine")
		require.Equal(t, want.starts, strings.Contains(deployed(t, machine), "athena:startQueryExecution"), id)
		require.Equal(t, want.stops, strings.Contains(deployed(t, machine), "athena:stopQueryExecution"), id)
		requireJustified(t, all, machine, nil, "", false)
	}
	require.Contains(t, deployed(t, all.named(t, "AWS::StepFunctions::StateMachine", "LambdaStateMachine")), `"onTimeout": "leave"`)
}

// Every definition that is shipped is deployed as it is, for the partition and
// with the functions of the stack.
func TestE2EShippedDefinitions(t *testing.T) {
	t.Parallel()
	names := statemachines.Names()
	all := synth(t, func(stack awscdk.Stack) {
		functions := newFunctions(t, stack, cdkapp.FunctionsProps{Jobs: &[]*string{new("dynamodb:ExportTableToPointInTime")}})
		for i, name := range names {
			props := bare(cdkapp.JobPollerProps{Job: cdkapp.JobFromShipped(&name)})
			switch name {
			case "lambda-loop", "lambda-loop-count", "lambda-retry":
				props.Functions = functions
			case "rds-snapshot-export", "comprehend-entities", "bedrock-model-invocation", "cloudformation-stack":
				props.Resources = &map[string]*[]*string{"iam:PassRole": {}}
			}
			p := cdkapp.NewJobPoller(stack, new(fmt.Sprintf("P%dX", i)), props)
			require.Equal(t, !slices.Contains(compile.RecipeNames(), name), p.Report() == nil)
		}
	})
	functions := strings.NewReplacer(
		statemachines.RunJobFunction, functionARN(t, all, "Poller", "RunJob"),
		statemachines.CheckStatusFunction, functionARN(t, all, "Poller", "CheckStatus"),
	)
	for i, name := range names {
		shipped, err := statemachines.Definition(name)
		require.NoError(t, err)
		machine := all.named(t, "AWS::StepFunctions::StateMachine", fmt.Sprintf("P%dX", i))
		definition := deployed(t, machine)
		require.Equal(t, functions.Replace(string(shipped)), definition, name)
		parsed, err := asl.Parse([]byte(definition))
		require.NoError(t, err)
		require.Empty(t, lint.Check(parsed, lint.Options{Off: []string{lint.PollNeedless}}), name)
		given := map[string][]string{}
		if _, passes := needed(t, definition)["iam:PassRole"]; passes {
			given["iam:PassRole"] = nil
		}
		requireJustified(t, all, machine, given, "", false)
	}
}

// A definition of one's own is deployed with its statements; the functions run the
// jobs that it names.
func TestE2EOwnDefinition(t *testing.T) {
	t.Parallel()
	e, err := catalog.Lookup("dynamodb", "ExportTableToPointInTime")
	require.NoError(t, err)
	compiled, err := compile.Compile(e.Waiter, compile.CallOf(e), compile.Options{
		Strategy: compile.LambdaLoop, MaxWait: 2 * time.Hour, RunJobFunction: "${RunJobFunction}", CheckStatusFunction: "${CheckStatusFunction}",
	})
	require.NoError(t, err)
	definition := string(asl.Print(compiled.Machine))
	call := `{"StartAt": "Call", "States": {"Call": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:sts:getCallerIdentity", "Parameters": {}, "End": true}}}`
	var all template
	inStackWith(t, map[string]any{"jobpoller:codeFolder": *codeFolder(t)}, func(stack awscdk.Stack) {
		cdkapp.NewJobPoller(stack, new("Lambda"), bare(cdkapp.JobPollerProps{Job: cdkapp.JobFromDefinition(&definition)}))
		p := cdkapp.NewJobPoller(stack, new("Own"), bare(cdkapp.JobPollerProps{Job: cdkapp.JobFromDefinition(&call,
			awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{Actions: &[]*string{new("sts:GetCallerIdentity")}, Resources: &[]*string{new("*")}}))}))
		require.Nil(t, p.Report())
		require.Nil(t, p.Functions())
		_, all = templateOf(stack)
	})
	require.Equal(t, call, deployed(t, all.named(t, "AWS::StepFunctions::StateMachine", "Own")))
	require.Contains(t, asJSON(t, all.statements(t, "OwnRole")), `"sts:GetCallerIdentity"`)
	machine := all.named(t, "AWS::StepFunctions::StateMachine", "Lambda")
	require.Contains(t, deployed(t, machine), functionARN(t, all, "LambdaFunctions", "RunJob"))
	requireJustified(t, all, machine, nil, "", false)
	environment := all.named(t, "AWS::Lambda::Function", "LambdaFunctionsRunJob").properties["Environment"]
	require.Contains(t, asJSON(t, environment), `"JOBPOLLER_JOBS":"dynamodb:ExportTableToPointInTime"`)
	require.Contains(t, asJSON(t, environment), `"JOBPOLLER_MAX_WAIT_SECONDS":"7200"`)
}

// In another partition calls, principals and resources are those of the partition.
func TestE2EOtherPartition(t *testing.T) {
	t.Parallel()
	var all template
	inStack(t, func(stack awscdk.Stack) {
		china := awscdk.NewStack(stack, new("China"), &awscdk.StackProps{
			Env: &awscdk.Environment{Region: new("cn-north-1"), Account: new("123456789012")},
		})
		props := exporting()
		props.EncryptionKey = awskms.NewKey(china, new("Key"), nil)
		cdkapp.NewJobPoller(china, new("Export"), props)
		_, all = templateOf(china)
	})
	machine := all.only(t, "AWS::StepFunctions::StateMachine")
	definition := machine.properties["DefinitionString"].(string)
	values := machine.properties["DefinitionSubstitutions"]
	require.NotContains(t, definition, "arn:aws:")
	require.Contains(t, definition, `"arn:${Partition}:states:::aws-sdk:dynamodb:describeExport"`)
	require.Contains(t, []any{map[string]any{"Partition": "aws-cn"}, map[string]any{"Partition": map[string]any{"Ref": "AWS::Partition"}}}, values)
	key := asJSON(t, resolve(t, all.only(t, "AWS::KMS::Key").properties["KeyPolicy"]))
	require.Contains(t, key, `"Service":"logs.cn-north-1.amazonaws.com`)
	require.NotContains(t, asJSON(t, all["Resources"]), "arn:aws:")
}
