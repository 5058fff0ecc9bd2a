// Command shop is an app of the AWS CDK that deploys pollers for a driver of its own.
package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/jobpoller/jobpoller/cdkapp"
	"github.com/jobpoller/jobpoller/statemachines/compile"

	"example.com/shop/deployment"
)

func main() {
	defer cdkapp.Close()
	app := awscdk.NewApp(nil)
	NewShop(app, "Shop")
	app.Synth(nil)
}

// NewShop is a stack with a state machine that is told of the end of a deployment, and
// one that polls. Both start deployments through the same functions.
func NewShop(scope constructs.Construct, id string) awscdk.Stack {
	stack := awscdk.NewStack(scope, &id, nil)
	functions := cdkapp.NewFunctions(stack, jsii.String("Functions"), &cdkapp.FunctionsProps{
		Drivers: &[]cdkapp.Driver{deployment.Driver{}}, Package: jsii.String("./functions"), Collector: jsii.Bool(true),
	})
	arguments := map[string]any{"ApplicationName": "shop", "DeploymentGroupName": "{% $states.input.group %}"}
	cdkapp.NewJobPoller(stack, jsii.String("Told"), &cdkapp.JobPollerProps{
		Job: cdkapp.JobFromDriver(deployment.Driver{}), Signal: cdkapp.SignalEvents, Functions: functions,
		MaxWait: awscdk.Duration_Hours(jsii.Number(1)), Arguments: &arguments,
	})
	cdkapp.NewJobPoller(stack, jsii.String("Polled"), &cdkapp.JobPollerProps{
		Job: cdkapp.JobFromDriver(deployment.Driver{}), Strategy: compile.LambdaLoop, Functions: functions,
		MaxWait: awscdk.Duration_Hours(jsii.Number(1)), Arguments: &arguments,
	})
	return stack
}
