package cdkapp

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"
	"github.com/aws/constructs-go/constructs/v10"
)

// live is the name of the aliases of functions and state machines: the version that
// was deployed last.
const live = "live"

// keepVersions keeps the versions of a function that a deployment replaces, which
// executions in flight invoke. The options are a user's, or nil.
func keepVersions(options *awslambda.VersionOptions) *awslambda.VersionOptions {
	kept := orElse(options, awslambda.VersionOptions{})
	kept.RemovalPolicy = awscdk.RemovalPolicy_RETAIN
	return &kept
}

// released is a function with the version that this deployment makes of it.
type released struct {
	awslambda.Function

	alias awslambda.Alias
}

// release makes a version of the function and the alias of it.
func release(scope constructs.Construct, id string, function awslambda.Function) released {
	alias := awslambda.NewAlias(scope, new(id+"Live"), &awslambda.AliasProps{AliasName: new(live), Version: function.CurrentVersion()})
	return released{function, alias}
}

// arnFor is what a state machine of the scope invokes: the version, so that an
// execution has the same functions from its start to its end. One of another stack
// invokes the alias: CloudFormation refuses to change what another stack imports.
func (r released) arnFor(scope constructs.Construct) *string {
	if sameStack(r.Function, scope) {
		return r.CurrentVersion().FunctionArn()
	}
	return r.alias.FunctionArn()
}

// allowInvoke allows to invoke functions in all versions, for executions in flight
// invoke earlier ones.
func allowInvoke(grantee awsiam.IGrantable, arns []string) awsiam.Grant {
	return allow(grantee, withVersions(arns), nil, invokeAction)
}

// withVersions are the functions, and all their versions.
func withVersions(arns []string) []string {
	var all []string
	for _, arn := range arns {
		all = append(all, arn, arn+":*")
	}
	return all
}

// releaseMachine makes a version of the state machine, which stays when the next one
// is deployed, and the alias of it.
func (p *jobPoller) releaseMachine() {
	machine := p.stateMachine.Node().DefaultChild().(awsstepfunctions.CfnStateMachine) //nolint:forcetypeassert // the CDK made it
	version := awsstepfunctions.NewCfnStateMachineVersion(p, new("Version"), &awsstepfunctions.CfnStateMachineVersionProps{
		StateMachineArn: p.StateMachineArn(), StateMachineRevisionId: machine.AttrStateMachineRevisionId(),
	})
	version.ApplyRemovalPolicy(awscdk.RemovalPolicy_RETAIN, nil)
	p.alias = awsstepfunctions.NewCfnStateMachineAlias(p, new("Live"), &awsstepfunctions.CfnStateMachineAliasProps{
		Name: new(live),
		RoutingConfiguration: &[]any{&awsstepfunctions.CfnStateMachineAlias_RoutingConfigurationVersionProperty{
			StateMachineVersionArn: version.AttrArn(), Weight: new(100.0),
		}},
	})
}
