package jobs_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
)

// echo is an operation that returns an output for the input it got.
func echo[In, Out any](got *In, out *Out, err error) func(context.Context, *In, ...func(*dynamodb.Options)) (*Out, error) {
	return func(_ context.Context, in *In, _ ...func(*dynamodb.Options)) (*Out, error) {
		*got = *in
		return out, err
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	var got dynamodb.DescribeExportInput
	describe := jobs.Describe(echo(&got, &dynamodb.DescribeExportOutput{ExportDescription: &dynamodbtypes.ExportDescription{
		ExportStatus: dynamodbtypes.ExportStatusCompleted, EndTime: aws.Time(time.Unix(1, 0)),
	}}, nil))
	output, err := describe(t.Context(), jobs.Ref{"ExportArn": "arn:x"})
	require.NoError(t, err)
	require.Equal(t, dynamodb.DescribeExportInput{ExportArn: aws.String("arn:x")}, got)
	require.Equal(t, map[string]any{"ExportDescription": map[string]any{
		"ExportStatus": "COMPLETED", "EndTime": "1970-01-01T00:00:01Z",
	}}, output)

	// Calls share nothing.
	_, err = describe(t.Context(), nil)
	require.NoError(t, err)
	require.Equal(t, dynamodb.DescribeExportInput{}, got)
}

func TestDescribeFillsListsAndEnums(t *testing.T) {
	t.Parallel()
	var tasks ecs.DescribeTasksInput
	_, err := jobs.Describe(echo(&tasks, &ecs.DescribeTasksOutput{}, nil))(t.Context(), jobs.Ref{"Cluster": "c", "Tasks": "t"})
	require.NoError(t, err)
	require.Equal(t, ecs.DescribeTasksInput{Cluster: aws.String("c"), Tasks: []string{"t"}}, tasks)

	var invoke lambda.InvokeInput
	_, err = jobs.Describe(echo(&invoke, &lambda.InvokeOutput{}, nil))(t.Context(), jobs.Ref{"InvocationType": "DryRun"})
	require.NoError(t, err)
	require.Equal(t, lambda.InvokeInput{InvocationType: lambdatypes.InvocationTypeDryRun}, invoke)
}

// The service's error comes as it is.
func TestDescribeFails(t *testing.T) {
	t.Parallel()
	refused := errors.New("no")
	var got dynamodb.DescribeExportInput
	_, err := jobs.Describe(echo[dynamodb.DescribeExportInput, dynamodb.DescribeExportOutput](&got, nil, refused))(t.Context(), jobs.Ref{"ExportArn": "arn:x"})
	require.Same(t, refused, err)
}

func TestDescribeRefusesReferences(t *testing.T) {
	t.Parallel()
	called := false
	describe := jobs.Describe(func(context.Context, *lambda.InvokeInput, ...func(*lambda.Options)) (*lambda.InvokeOutput, error) {
		called = true
		return &lambda.InvokeOutput{}, nil
	})
	for name, want := range map[string]string{
		"Id":                    `job reference has the member "Id", which lambda.InvokeInput does not have`,
		"noSmithyDocumentSerde": "which lambda.InvokeInput does not have",
		"Payload":               `job reference has the member "Payload", but lambda.InvokeInput.Payload is a []uint8, not a string`,
	} {
		_, err := describe(t.Context(), jobs.Ref{name: "x"})
		require.ErrorContains(t, err, want)
	}
	require.False(t, called)
}
