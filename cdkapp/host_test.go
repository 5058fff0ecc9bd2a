//go:build e2e

package cdkapp_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/assertions"
	sfn "github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"
	"github.com/aws/jsii-runtime-go"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/cdkapp"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// long waits for so many hours: 36 of them take 22,000 events and more.
func long(t *testing.T, stack awscdk.Stack, id string, hours float64, change ...func(*cdkapp.JobPollerFragmentProps)) cdkapp.JobPollerFragment {
	t.Helper()
	props := &cdkapp.JobPollerFragmentProps{
		Job: fromCatalog("dynamodb:ExportTableToPointInTime"), MaxWait: awscdk.Duration_Hours(&hours), MinDelay: seconds(60), MaxDelay: seconds(60),
	}
	for _, f := range change {
		f(props)
	}
	if props.Strategy == compile.LambdaRetry || props.Strategy == compile.LambdaLoop {
		props.Functions = newFunctions(t, stack, cdkapp.FunctionsProps{Jobs: jsii.Strings("dynamodb:ExportTableToPointInTime")})
	}
	return cdkapp.NewJobPollerFragment(stack, &id, props).OrFail()
}

func throughFunctions(p *cdkapp.JobPollerFragmentProps) { p.Strategy = compile.LambdaRetry }

func scoped(p *cdkapp.JobPollerFragmentProps) { p.Scope = jsii.String("{% $states.input.index %}") }

func inMap(stack awscdk.Stack, f sfn.IChainable) sfn.IChainable {
	return sfn.NewMap(stack, jsii.String("Each"), &sfn.MapProps{ItemsPath: jsii.String("$.items")}).ItemProcessor(f, nil)
}

func inDistributedMap(stack awscdk.Stack, f sfn.IChainable, children sfn.StateMachineType) sfn.IChainable {
	return sfn.NewDistributedMap(stack, jsii.String("Each"), &sfn.DistributedMapProps{ItemsPath: jsii.String("$.items"), MapExecutionType: children}).ItemProcessor(f, nil)
}

// again leads from the end of a fragment to its begin.
func again(stack awscdk.Stack, f cdkapp.JobPollerFragment) sfn.IChainable {
	more := sfn.NewChoice(stack, jsii.String("More?"), nil)
	f.Succeeded().Next(more.When(sfn.Condition_IsPresent(jsii.String("$.more")), f, nil).Otherwise(sfn.NewSucceed(stack, jsii.String("Done"), nil)))
	return sfn.Chain_Start(f)
}

// What a fragment cannot know alone is looked at in the state machine that it ends
// up in, at synth.
func TestE2EFragmentsAreCheckedInTheMachineTheyEndUpIn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		build            func(t *testing.T, stack awscdk.Stack)
		problem, warning string
	}{
		"an Express machine": {func(t *testing.T, stack awscdk.Stack) {
			t.Helper()
			sfn.NewStateMachine(stack, jsii.String("Host"), &sfn.StateMachineProps{
				DefinitionBody: sfn.DefinitionBody_FromChainable(long(t, stack, "Orders", 1)), StateMachineType: sfn.StateMachineType_EXPRESS,
			})
		}, "Stack/Orders in Stack/Host/Resource: it cannot wait in an Express execution", ""},
		"Express children": {func(t *testing.T, stack awscdk.Stack) {
			t.Helper()
			host(stack, inDistributedMap(stack, long(t, stack, "Orders", 1), sfn.StateMachineType_EXPRESS), "")
		}, "it cannot wait in an Express execution", ""},
		"two that fill the history": {func(t *testing.T, stack awscdk.Stack) {
			t.Helper()
			host(stack, long(t, stack, "Orders", 36).Next(long(t, stack, "Customers", 36)), "")
		}, "events with its fragments, and the history has 25000", ""},
		"two in a Parallel": {func(t *testing.T, stack awscdk.Stack) {
			t.Helper()
			host(stack, sfn.NewParallel(stack, jsii.String("Both"), nil).Branch(long(t, stack, "Orders", 36)).Branch(long(t, stack, "Customers", 36)), "")
		}, "events with its fragments, and the history has 25000", ""},
		"one or the other": {func(t *testing.T, stack awscdk.Stack) {
			t.Helper()
			host(stack, sfn.NewChoice(stack, jsii.String("Which?"), nil).When(sfn.Condition_IsPresent(jsii.String("$.orders")), long(t, stack, "Orders", 36), nil).
				Otherwise(long(t, stack, "Customers", 36)), "")
		}, "", ""},
		"one behind the other, with a share": {func(t *testing.T, stack awscdk.Stack) {
			t.Helper()
			fits := func(p *cdkapp.JobPollerFragmentProps) {
				p.Events, p.Fit, p.MaxDelay = jsii.Number(12_000), jsii.Bool(true), nil
			}
			host(stack, long(t, stack, "Orders", 36, fits).Next(long(t, stack, "Customers", 36, fits)), "")
		}, "", ""},
		"a long one for each item": {func(t *testing.T, stack awscdk.Stack) {
			t.Helper()
			host(stack, inMap(stack, long(t, stack, "Orders", 24)), "")
		}, "", "so that the history of 25000 has room for 1 items: let the Map be DISTRIBUTED"},
		"a long one in a child of each item": {func(t *testing.T, stack awscdk.Stack) {
			t.Helper()
			host(stack, inDistributedMap(stack, long(t, stack, "Orders", 24), sfn.StateMachineType_STANDARD), "")
		}, "", ""},
		"records of all items": {func(t *testing.T, stack awscdk.Stack) {
			t.Helper()
			host(stack, inMap(stack, long(t, stack, "Orders", 1, throughFunctions)), "")
		}, "Stack/Orders in Stack/Host/Resource: all items of the Map would use one start record", ""},
		"a record of each item": {func(t *testing.T, stack awscdk.Stack) {
			t.Helper()
			host(stack, inMap(stack, long(t, stack, "Orders", 0.25, throughFunctions, scoped)), "")
		}, "", ""},
		"a record of each child": {func(t *testing.T, stack awscdk.Stack) {
			t.Helper()
			host(stack, inDistributedMap(stack, long(t, stack, "Orders", 1, throughFunctions), sfn.StateMachineType_STANDARD), "")
		}, "", ""},
		"a record of all rounds": {func(t *testing.T, stack awscdk.Stack) {
			t.Helper()
			host(stack, again(stack, long(t, stack, "Orders", 1, throughFunctions)), "")
		}, "Stack/Orders in Stack/Host/Resource: it is in a loop, and each later round would find the start record", ""},
		"rounds without records": {func(t *testing.T, stack awscdk.Stack) {
			t.Helper()
			host(stack, again(stack, long(t, stack, "Orders", 1)), "")
		}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inStack(t, func(stack awscdk.Stack) {
				defer func() {
					if failed := recover(); c.problem == "" {
						require.Nil(t, failed)
					} else {
						require.Contains(t, fmt.Sprint(failed), c.problem)
					}
				}()
				c.build(t, stack)
				warnings := func(text string) int {
					all := assertions.Annotations_FromStack(stack).FindWarning(jsii.String("*"), assertions.Match_StringLikeRegexp(new(regexp.QuoteMeta(text))))
					return len(*all)
				}
				if c.warning == "" {
					require.Zero(t, warnings("Map"))
				} else {
					require.Equal(t, 1, warnings("Map"))
					require.Equal(t, 1, warnings(c.warning))
				}
			})
		})
	}
}

// The same fragment in two stacks is checked in the machine of its own.
func TestE2EFragmentsOfTwoStacksAreCheckedInTheirOwnMachines(t *testing.T) {
	t.Parallel()
	inStack(t, func(stack awscdk.Stack) {
		defer func() {
			failed := fmt.Sprint(recover())
			require.Contains(t, failed, "Other/Orders in Other/Host/Resource: it cannot wait in an Express execution")
			require.NotContains(t, failed, "Stack/Orders in")
		}()
		other := awscdk.NewStack(awscdk.App_Of(stack), jsii.String("Other"), nil)
		host(stack, long(t, stack, "Orders", 1), "")
		sfn.NewStateMachine(other, jsii.String("Host"), &sfn.StateMachineProps{
			DefinitionBody: sfn.DefinitionBody_FromChainable(long(t, other, "Orders", 1)), StateMachineType: sfn.StateMachineType_EXPRESS,
		})
		templateOf(stack)
	})
}
