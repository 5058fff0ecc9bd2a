// Command clients is a Lambda function that has the SDK's clients of the shipped
// functions and nothing of this module: what these clients alone cost.
package main

import (
	"context"
	"errors"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/athena"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/glue"
	awslambda "github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/redshiftdata"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/transcribe"
)

func main() {
	var cfg aws.Config
	queries, tables, etl, functions := athena.NewFromConfig(cfg), dynamodb.NewFromConfig(cfg), glue.NewFromConfig(cfg), awslambda.NewFromConfig(cfg)
	statements, buckets, machines, speech := redshiftdata.NewFromConfig(cfg), s3.NewFromConfig(cfg), sfn.NewFromConfig(cfg), transcribe.NewFromConfig(cfg)
	lambda.Start(func(ctx context.Context) error {
		var errs [8]error
		_, errs[0] = queries.GetQueryExecution(ctx, nil)
		_, errs[1] = tables.GetItem(ctx, nil)
		_, errs[2] = etl.GetJobRun(ctx, nil)
		_, errs[3] = functions.Invoke(ctx, nil)
		_, errs[4] = statements.DescribeStatement(ctx, nil)
		_, errs[5] = buckets.GetObject(ctx, nil)
		_, errs[6] = machines.DescribeExecution(ctx, nil)
		_, errs[7] = speech.GetTranscriptionJob(ctx, nil)
		return errors.Join(errs[:]...)
	})
}
