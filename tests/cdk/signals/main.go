// Command signals is an app of the CDK whose pollers are told of the end of their jobs,
// for tests/external.
package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"

	"github.com/jobpoller/jobpoller/cdkapp"
)

func main() {
	defer cdkapp.Close()
	app := awscdk.NewApp(nil)
	stack := awscdk.NewStack(app, new("JobPoller"), &awscdk.StackProps{Description: new("Waits for jobs that tell of their end")})
	crawler := &[]*string{new("arn:aws:glue:us-east-1:123456789012:crawler/orders")}
	functions := cdkapp.NewFunctions(stack, new("Functions"), &cdkapp.FunctionsProps{
		Jobs: &[]*string{new("glue:StartCrawler")}, Collector: new(true),
		Resources: &map[string]*[]*string{
			"glue:StartCrawler": crawler, "glue:GetCrawler": crawler, "glue:BatchGetCrawlers": crawler, "glue:StopCrawler": crawler,
		},
	})
	wait := func(id, job string, signal cdkapp.Signal, shared cdkapp.Functions, arguments *map[string]any) {
		cdkapp.NewJobPoller(stack, &id, &cdkapp.JobPollerProps{
			Job: cdkapp.JobFromCatalog(&job), Signal: signal, MaxWait: awscdk.Duration_Hours(new(2.0)), Functions: shared, Arguments: arguments,
		})
	}
	wait("Crawl", "glue:StartCrawler", cdkapp.SignalEvents, functions, &map[string]any{"Name": "orders"})
	wait("CrawlAny", "glue:StartCrawler", cdkapp.SignalAuto, functions, nil)
	wait("Transform", "sagemaker:CreateTransformJob", cdkapp.SignalSync, nil, nil)
	app.Synth(nil)
}
