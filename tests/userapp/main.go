// Command reports is an app of the AWS CDK, as a user of jobpoller writes one: a
// state machine that waits for two kinds of jobs. Its module knows nothing of the
// Lambda functions that it deploys.
package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"

	"github.com/jobpoller/jobpoller/cdkapp"
)

func main() {
	defer cdkapp.Close()
	app := awscdk.NewApp(nil)
	NewReports(app, "Reports")
	app.Synth(nil)
}
