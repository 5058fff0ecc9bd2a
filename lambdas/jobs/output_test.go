package jobs_test

import (
	"encoding/json"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	gluetypes "github.com/aws/aws-sdk-go-v2/service/glue/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/transcribe"
	"github.com/aws/smithy-go/middleware"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
)

func TestOutput(t *testing.T) {
	t.Parallel()
	var metadata middleware.Metadata
	metadata.Set("key", "value")
	tests := []struct {
		name string
		in   any
		want string // null: there is none
	}{
		{"nothing", nil, `null`},
		{"no output", (*dynamodb.DescribeExportOutput)(nil), `null`},
		{"empty output", &dynamodb.DescribeExportOutput{ResultMetadata: metadata}, `{}`},
		{
			"strings, enums, numbers and times",
			&dynamodb.DescribeExportOutput{
				ExportDescription: &types.ExportDescription{
					ExportArn: aws.String("arn:x"), ExportStatus: types.ExportStatusCompleted, FailureMessage: aws.String(""),
					ItemCount: aws.Int64(9007199254740993), BilledSizeBytes: aws.Int64(0),
					StartTime: aws.Time(time.Date(2026, 11, 20, 10, 30, 0, 0, time.FixedZone("CET", 3600))),
					EndTime:   aws.Time(time.Date(2026, 11, 20, 9, 31, 0, 250e6, time.UTC)),
				},
				ResultMetadata: metadata,
			},
			`{"ExportDescription": {
				"ExportArn": "arn:x", "ExportStatus": "COMPLETED", "FailureMessage": "", "ItemCount": 9007199254740993, "BilledSizeBytes": 0,
				"StartTime": "2026-11-20T09:30:00Z", "EndTime": "2026-11-20T09:31:00.25Z"
			}}`,
		},
		{
			"lists and maps, none, empty and full",
			&dynamodb.ListTablesOutput{TableNames: []string{}, LastEvaluatedTableName: aws.String("")},
			`{"TableNames": [], "LastEvaluatedTableName": ""}`,
		},
		{"no list", &dynamodb.ListTablesOutput{}, `{}`},
		{
			"a list of enums",
			&lambda.GetFunctionConfigurationOutput{Architectures: []lambdatypes.Architecture{"arm64"}, CodeSize: 5},
			`{"Architectures": ["arm64"], "CodeSize": 5}`,
		},
		{
			"a blob and a plain number",
			&lambda.InvokeOutput{StatusCode: 202, Payload: []byte{0xff, 0x00}},
			`{"StatusCode": 202, "Payload": "/wA="}`,
		},
		{"an empty blob", &lambda.InvokeOutput{Payload: []byte{}}, `{"StatusCode": 0, "Payload": ""}`},
		{
			"fractions",
			&types.ConsumedCapacity{CapacityUnits: aws.Float64(0.5), ReadCapacityUnits: aws.Float64(1e21)},
			`{"CapacityUnits": 0.5, "ReadCapacityUnits": 1e+21}`,
		},
		{
			"a map of strings and a boolean",
			&s3.HeadObjectOutput{Metadata: map[string]string{"owner": ""}, DeleteMarker: aws.Bool(false)},
			`{"Metadata": {"owner": ""}, "DeleteMarker": false}`,
		},
		{
			"unions",
			&dynamodb.GetItemOutput{Item: map[string]types.AttributeValue{
				"s":    &types.AttributeValueMemberS{Value: ""},
				"n":    &types.AttributeValueMemberN{Value: "1"},
				"b":    &types.AttributeValueMemberB{Value: []byte("x")},
				"null": &types.AttributeValueMemberNULL{Value: true},
				"bool": &types.AttributeValueMemberBOOL{Value: false},
				"ss":   &types.AttributeValueMemberSS{Value: []string{"a", "b"}},
				"bs":   &types.AttributeValueMemberBS{Value: [][]byte{[]byte("x"), []byte("y")}},
				"l": &types.AttributeValueMemberL{Value: []types.AttributeValue{
					&types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"k": &types.AttributeValueMemberN{Value: "2"}}},
				}},
				"none": nil,
				"new":  &types.UnknownUnionMember{Tag: "V"},
			}},
			`{"Item": {
				"s": {"S": ""}, "n": {"N": "1"}, "b": {"B": "eA=="}, "null": {"Null": true}, "bool": {"Bool": false},
				"ss": {"Ss": ["a", "b"]}, "bs": {"Bs": ["eA==", "eQ=="]}, "l": {"L": [{"M": {"k": {"N": "2"}}}]}
			}}`,
		},
		{
			"a union of structures",
			&s3types.AnalyticsConfiguration{Id: aws.String("a"), Filter: &s3types.AnalyticsFilterMemberTag{Value: s3types.Tag{Key: aws.String("k"), Value: aws.String("v")}}},
			`{"Id": "a", "Filter": {"Tag": {"Key": "k", "Value": "v"}}}`,
		},
		{
			"members that begin with an acronym",
			&gluetypes.JobRun{DPUSeconds: aws.Float64(1.5), MaxCapacity: aws.Float64(2), JobRunState: "RUNNING"},
			`{"DpuSeconds": 1.5, "MaxCapacity": 2, "JobRunState": "RUNNING", "AllocatedCapacity": 0, "Attempt": 0, "ExecutionTime": 0}`,
		},
		{
			"members that end with an acronym, and keys of maps", &transcribe.StartTranscriptionJobInput{
				OutputEncryptionKMSKeyId: aws.String("k"), KMSEncryptionContext: map[string]string{"DBName": "x"},
			},
			`{"OutputEncryptionKMSKeyId": "k", "KmsEncryptionContext": {"DBName": "x"}}`,
		},
		{"an empty structure", &s3types.ServerSideEncryptionRule{BucketKeyEnabled: aws.Bool(true)}, `{"BucketKeyEnabled": true}`},
		{"what is JSON already", map[string]any{"a": []any{"x", nil, 1.5, true}, "b": nil}, `{"a": ["x", 1.5, true]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out, err := jobs.Output(tt.in)
			require.NoError(t, err)
			text, err := json.Marshal(out)
			require.NoError(t, err)
			// As text, so that a number that lost digits shows.
			require.Equal(t, canonical(t, tt.want), canonical(t, string(text)))
		})
	}
}

// canonical is JSON text with the members in order and numbers as they are.
func canonical(t *testing.T, text string) string {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var v any
	require.NoError(t, decoder.Decode(&v))
	out, err := json.Marshal(v)
	require.NoError(t, err)
	return string(out)
}

// stranger is not a member of any union.
type stranger struct{ Value string }

func (stranger) Read([]byte) (int, error) { return 0, io.EOF }
func (stranger) Close() error             { return nil }

func TestOutputWithoutAForm(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		in   any
		want string
	}{
		{"a stream", &s3.GetObjectOutput{Body: io.NopCloser(strings.NewReader("x"))}, "Body: io.ReadCloser is not the type of an AWS SDK output"},
		{"a stream by pointer", &s3.GetObjectOutput{Body: &stranger{}}, "Body: io.ReadCloser is not the type"},
		{"not a number", &types.ConsumedCapacity{CapacityUnits: aws.Float64(math.NaN())}, "CapacityUnits: json: unsupported value: NaN"},
		{"a map by number", map[int]string{1: "x"}, "map[int]string is not the type"},
		{"deep inside", map[string]any{"a": []any{"x", make(chan int)}}, "a: item 1: chan int is not the type"},
		{
			"in a union", &types.AttributeValueMemberL{Value: []types.AttributeValue{&types.AttributeValueMemberM{
				Value: map[string]types.AttributeValue{"k": (*types.AttributeValueMemberS)(nil)},
			}}}, "Value: item 0: M: k: types.AttributeValue is not the type",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := jobs.Output(tt.in)
			require.ErrorContains(t, err, tt.want)
		})
	}
}
