package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	sfn "github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/jobpoller/jobpoller/cdkapp"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// NewReports is a stack with a state machine that exports all tables of its
// input, each as a job that a Lambda function starts at most once, and then runs a
// Glue job over the exports. What goes wrong on the way ends in one place.
func NewReports(scope constructs.Construct, id string) awscdk.Stack {
	stack := awscdk.NewStack(scope, &id, nil)
	hours := func(n float64) awscdk.Duration { return awscdk.Duration_Hours(&n) }

	export := cdkapp.NewJobPollerFragment(stack, jsii.String("Export"), &cdkapp.JobPollerFragmentProps{
		Job:      cdkapp.JobFromCatalog(jsii.String("dynamodb:ExportTableToPointInTime")),
		Strategy: compile.LambdaRetry,
		MaxWait:  hours(2),
		Arguments: &map[string]any{
			"TableArn": "{% $states.input.table %}",
			"S3Bucket": "{% $states.input.bucket %}",
		},
		Scope: jsii.String("{% $states.input.index %}"), // each item has a job of its own
	})
	tables := sfn.NewMap(stack, jsii.String("Tables"), &sfn.MapProps{
		QueryLanguage: sfn.QueryLanguage_JSONATA,
		Items:         sfn.ProvideItems_Jsonata(jsii.String("{% $states.input.tables %}")),
		ItemSelector: &map[string]any{
			"table": "{% $states.context.Map.Item.Value %}", "bucket": "{% $states.input.bucket %}", "index": "{% $states.context.Map.Item.Index %}",
		},
		MaxConcurrency: jsii.Number(10),
		Outputs:        map[string]any{"exports": "{% $states.result.output.ExportDescription.ExportArn %}"},
	})
	tables.ItemProcessor(export.OrFail(), nil)

	curate := cdkapp.NewJobPollerFragment(stack, jsii.String("Curate"), &cdkapp.JobPollerFragmentProps{
		Job:     cdkapp.JobFromCatalog(jsii.String("glue:StartJobRun")),
		MaxWait: hours(1),
		Arguments: &map[string]any{
			"JobName":   "curate",
			"Arguments": map[string]any{"--exports": "{% $join($states.input.exports, ',') %}"},
		},
		Resources: &map[string]*[]*string{
			"glue:StartJobRun": jobs(stack), "glue:GetJobRun": jobs(stack), "glue:BatchStopJobRun": jobs(stack),
		},
	})
	curated := curate.InParallel()

	broken := sfn.NewFail(stack, jsii.String("Broken"), &sfn.FailProps{
		QueryLanguage: sfn.QueryLanguage_JSONATA,
		Error:         jsii.String("NoReports"),
		Cause:         jsii.String("{% $states.input.Error & ': ' & $states.input.Cause %}"),
	})
	all := &sfn.CatchProps{Errors: jsii.Strings("States.ALL")}
	tables.AddCatch(broken, all)
	curated.AddCatch(broken, all)

	log := awslogs.NewLogGroup(stack, jsii.String("Log"), &awslogs.LogGroupProps{Retention: awslogs.RetentionDays_ONE_WEEK})
	sfn.NewStateMachine(stack, jsii.String("Machine"), &sfn.StateMachineProps{
		QueryLanguage: sfn.QueryLanguage_JSONATA,
		DefinitionBody: sfn.DefinitionBody_FromChainable(
			tables.Next(curated).Next(sfn.NewSucceed(stack, jsii.String("Reported"), nil))),
		Logs: &sfn.LogOptions{Destination: log, Level: sfn.LogLevel_ERROR},
	})
	return stack
}

// jobs are the Glue jobs that the state machine may run.
func jobs(stack awscdk.Stack) *[]*string {
	return &[]*string{stack.FormatArn(&awscdk.ArnComponents{Service: jsii.String("glue"), Resource: jsii.String("job"), ResourceName: jsii.String("curate")})}
}
