package cli

import (
	"context"
	"encoding/json"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/athena"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/glue"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/redshiftdata"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/transcribe"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
)

// sdkCall prepares a call of an operation by the SDK's client. The input and
// what the call returns are spelled as in Step Functions' SDK integrations. The error is
// one of the input.
type sdkCall func(cfg aws.Config, name string, input json.RawMessage) (func(context.Context) (any, error), error)

// sdkCalls are the operations that waiters and jobs of the catalogue poll, of
// the services whose clients the drivers link anyway. Each is named, so that the
// linker leaves out all others.
var sdkCalls = map[string]sdkCall{
	"athena:GetCalculationExecution": through(athena.NewFromConfig, (*athena.Client).GetCalculationExecution),
	"athena:GetQueryExecution":       through(athena.NewFromConfig, (*athena.Client).GetQueryExecution),

	"dynamodb:DescribeBackup":                      through(dynamodb.NewFromConfig, (*dynamodb.Client).DescribeBackup),
	"dynamodb:DescribeBulkOperation":               through(dynamodb.NewFromConfig, (*dynamodb.Client).DescribeBulkOperation),
	"dynamodb:DescribeContributorInsights":         through(dynamodb.NewFromConfig, (*dynamodb.Client).DescribeContributorInsights),
	"dynamodb:DescribeExport":                      through(dynamodb.NewFromConfig, (*dynamodb.Client).DescribeExport),
	"dynamodb:DescribeImport":                      through(dynamodb.NewFromConfig, (*dynamodb.Client).DescribeImport),
	"dynamodb:DescribeKinesisStreamingDestination": through(dynamodb.NewFromConfig, (*dynamodb.Client).DescribeKinesisStreamingDestination),
	"dynamodb:DescribeTable":                       through(dynamodb.NewFromConfig, (*dynamodb.Client).DescribeTable),

	"glue:GetCrawler":                         through(glue.NewFromConfig, (*glue.Client).GetCrawler),
	"glue:GetDataQualityRulesetEvaluationRun": through(glue.NewFromConfig, (*glue.Client).GetDataQualityRulesetEvaluationRun),
	"glue:GetJobRun":                          through(glue.NewFromConfig, (*glue.Client).GetJobRun),
	"glue:GetWorkflowRun":                     through(glue.NewFromConfig, (*glue.Client).GetWorkflowRun),

	"lambda:GetFunction":              through(lambda.NewFromConfig, (*lambda.Client).GetFunction),
	"lambda:GetFunctionConfiguration": through(lambda.NewFromConfig, (*lambda.Client).GetFunctionConfiguration),

	"redshift-data:DescribeStatement": through(redshiftdata.NewFromConfig, (*redshiftdata.Client).DescribeStatement),

	"s3:HeadBucket": through(newS3Client, (*s3.Client).HeadBucket),
	"s3:HeadObject": through(newS3Client, (*s3.Client).HeadObject),

	"stepfunctions:DescribeExecution": through(sfn.NewFromConfig, (*sfn.Client).DescribeExecution),

	"transcribe:DescribeLanguageModel":      through(transcribe.NewFromConfig, (*transcribe.Client).DescribeLanguageModel),
	"transcribe:GetCallAnalyticsJob":        through(transcribe.NewFromConfig, (*transcribe.Client).GetCallAnalyticsJob),
	"transcribe:GetMedicalScribeJob":        through(transcribe.NewFromConfig, (*transcribe.Client).GetMedicalScribeJob),
	"transcribe:GetMedicalTranscriptionJob": through(transcribe.NewFromConfig, (*transcribe.Client).GetMedicalTranscriptionJob),
	"transcribe:GetMedicalVocabulary":       through(transcribe.NewFromConfig, (*transcribe.Client).GetMedicalVocabulary),
	"transcribe:GetTranscriptionJob":        through(transcribe.NewFromConfig, (*transcribe.Client).GetTranscriptionJob),
	"transcribe:GetVocabulary":              through(transcribe.NewFromConfig, (*transcribe.Client).GetVocabulary),
}

// newS3Client returns a client that names buckets in the path where an endpoint
// is given, for servers that have no host name for each bucket.
func newS3Client(cfg aws.Config, more ...func(*s3.Options)) *s3.Client {
	return s3.NewFromConfig(cfg, append(more, func(o *s3.Options) { o.UsePathStyle = cfg.BaseEndpoint != nil })...)
}

// through calls an operation of an SDK client.
func through[Client, In, Out, Opt any](
	newClient func(aws.Config, ...Opt) *Client, operation func(*Client, context.Context, *In, ...Opt) (*Out, error),
) sdkCall {
	return func(cfg aws.Config, name string, input json.RawMessage) (func(context.Context) (any, error), error) {
		in, err := jobs.Arguments[In](name, input)
		if err != nil {
			return nil, err
		}
		client := newClient(cfg)
		return func(ctx context.Context) (any, error) {
			out, err := operation(client, ctx, in)
			if err != nil {
				return nil, err
			}
			return jobs.Output(out)
		}, nil
	}
}
