// Command app is the CDK app that deploys the definitions that jobpoller ships:
// npx cdk deploy, in the folder of cdk.json. docs/guide/cdk-app.md describes its context.
package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"github.com/jobpoller/jobpoller/cdkapp"
)

func main() {
	defer cdkapp.Close()
	app := awscdk.NewApp(nil)
	cdkapp.NewShippedStack(app, jsii.String("JobPoller"), nil)
	app.Synth(nil)
}
