package cdkapp_test

import (
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"github.com/jobpoller/jobpoller/cdkapp"
)

// A state machine that waits for an export that somebody else has started.
func ExampleNewJobPoller() {
	stack := awscdk.NewStack(awscdk.NewApp(nil), jsii.String("Exports"), nil)
	poller := cdkapp.NewJobPoller(stack, jsii.String("Export"), &cdkapp.JobPollerProps{
		Job:     cdkapp.JobFromCatalog(jsii.String("dynamodb:ExportCompleted")),
		MaxWait: awscdk.Duration_Hours(jsii.Number(2)),
	})
	report := poller.Report()
	fmt.Println(report.Strategy, report.MaxWaitSeconds, report.Worst.Transitions)
	fmt.Println("needs functions:", poller.Functions() != nil)
	// Output:
	// variables 7200 378
	// needs functions: false
}
