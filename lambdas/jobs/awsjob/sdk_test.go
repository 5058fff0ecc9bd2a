package awsjob_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/athena"
	athenatypes "github.com/aws/aws-sdk-go-v2/service/athena/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/glue"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/aws-sdk-go-v2/service/redshiftdata"
	redshiftdatatypes "github.com/aws/aws-sdk-go-v2/service/redshiftdata/types"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/transcribe"
	transcribetypes "github.com/aws/aws-sdk-go-v2/service/transcribe/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// sdkCall is a call that the SDK's client of a service makes, and what is the
// same for the catalogue.
type sdkCall struct {
	service, operation string
	sdk                func(t *testing.T, cfg aws.Config) (any, error)
	input              string // in the model's spelling
	answer             string
}

var due = time.Date(2026, 11, 21, 12, 0, 0, 250e6, time.UTC)

var sdkCalls = []sdkCall{
	{
		"dynamodb", "ExportTableToPointInTime",
		func(t *testing.T, cfg aws.Config) (any, error) {
			t.Helper()
			return dynamodb.NewFromConfig(cfg).ExportTableToPointInTime(t.Context(), &dynamodb.ExportTableToPointInTimeInput{
				TableArn: aws.String("arn:aws:dynamodb:eu-west-1:1:table/Orders"), S3Bucket: aws.String("b<é>"), ClientToken: aws.String("token"),
				ExportFormat: dynamodbtypes.ExportFormatIon, ExportTime: &due,
				IncrementalExportSpecification: &dynamodbtypes.IncrementalExportSpecification{ExportFromTime: &due},
			})
		},
		`{"TableArn": "arn:aws:dynamodb:eu-west-1:1:table/Orders", "S3Bucket": "b<é>", "ClientToken": "token", "ExportFormat": "ION",
			"ExportTime": "2026-11-21T12:00:00.25Z", "IncrementalExportSpecification": {"ExportFromTime": 1795262400.25}}`,
		`{"ExportDescription": {"ExportArn": "arn", "ExportStatus": "IN_PROGRESS", "StartTime": 1795262400.123, "ItemCount": 9007199254740993,
			"BilledSizeBytes": 0, "FailureMessage": null, "Unknown": {"a": [1, {"b": null}]}}}`,
	},
	{
		"dynamodb", "DescribeTable",
		func(t *testing.T, cfg aws.Config) (any, error) {
			t.Helper()
			return dynamodb.NewFromConfig(cfg).DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("Orders")})
		},
		`{"TableName": "Orders"}`,
		`{"Table": {"TableName": "Orders", "TableStatus": "ACTIVE", "CreationDateTime": 1.79526240012E9, "ItemCount": 7,
			"KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}], "GlobalSecondaryIndexes": [],
			"ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}, "DeletionProtectionEnabled": false}}`,
	},
	{
		"athena", "StartQueryExecution",
		func(t *testing.T, cfg aws.Config) (any, error) {
			t.Helper()
			return athena.NewFromConfig(cfg).StartQueryExecution(t.Context(), &athena.StartQueryExecutionInput{
				QueryString: aws.String("SELECT \"x\"\n\u2028"), ClientRequestToken: aws.String("token"), ExecutionParameters: []string{"7", ""},
				ResultConfiguration: &athenatypes.ResultConfiguration{
					EncryptionConfiguration: &athenatypes.EncryptionConfiguration{EncryptionOption: athenatypes.EncryptionOptionSseS3},
				},
			})
		},
		`{"QueryString": "SELECT \"x\"\n\u2028", "ClientRequestToken": "token", "ExecutionParameters": ["7", ""],
			"ResultConfiguration": {"EncryptionConfiguration": {"EncryptionOption": "SSE_S3"}}}`,
		`{"QueryExecutionId": "q-1"}`,
	},
	{
		"athena", "GetQueryExecution",
		func(t *testing.T, cfg aws.Config) (any, error) {
			t.Helper()
			return athena.NewFromConfig(cfg).GetQueryExecution(t.Context(), &athena.GetQueryExecutionInput{QueryExecutionId: aws.String("q-1")})
		},
		`{"QueryExecutionId": "q-1"}`,
		`{"QueryExecution": {"Status": {"State": "FAILED", "SubmissionDateTime": 1795262400, "AthenaError": {"ErrorCategory": 2, "ErrorType": 7, "Retryable": true}},
			"Statistics": {"EngineExecutionTimeInMillis": 1}, "ExecutionParameters": [], "StatementType": ""}}`,
	},
	{
		"glue", "StartJobRun",
		func(t *testing.T, cfg aws.Config) (any, error) {
			t.Helper()
			return glue.NewFromConfig(cfg).StartJobRun(t.Context(), &glue.StartJobRunInput{
				JobName: aws.String("nightly"), Arguments: map[string]string{"--day": "2026-11-21"}, Timeout: aws.Int32(7), MaxCapacity: aws.Float64(0.0625),
			})
		},
		`{"JobName": "nightly", "Arguments": {"--day": "2026-11-21"}, "Timeout": 7, "MaxCapacity": 0.0625}`,
		`{"JobRunId": "jr-1"}`,
	},
	{
		"glue", "GetJobRun",
		func(t *testing.T, cfg aws.Config) (any, error) {
			t.Helper()
			return glue.NewFromConfig(cfg).GetJobRun(t.Context(), &glue.GetJobRunInput{JobName: aws.String("nightly"), RunId: aws.String("jr-1")})
		},
		`{"JobName": "nightly", "RunId": "jr-1"}`,
		`{"JobRun": {"Id": "jr-1", "Attempt": 0, "JobRunState": "RUNNING", "StartedOn": 1795262400.5, "ExecutionTime": 3, "AllocatedCapacity": 2,
			"MaxCapacity": 2.5, "Arguments": {"--day": "x"}, "PredecessorRuns": [{"RunId": "jr-0"}]}}`,
	},
	{
		"redshift-data", "ExecuteStatement",
		func(t *testing.T, cfg aws.Config) (any, error) {
			t.Helper()
			return redshiftdata.NewFromConfig(cfg).ExecuteStatement(t.Context(), &redshiftdata.ExecuteStatementInput{
				Sql: aws.String("CALL nightly()"), ClientToken: aws.String("token"), WithEvent: aws.Bool(true),
				Parameters: []redshiftdatatypes.SqlParameter{{Name: aws.String("a"), Value: aws.String("b")}},
			})
		},
		`{"Sql": "CALL nightly()", "ClientToken": "token", "WithEvent": true, "Parameters": [{"name": "a", "value": "b"}]}`,
		`{"Id": "s-1", "CreatedAt": 1795262400.5, "DbGroups": ["a"]}`,
	},
	{
		"redshift-data", "DescribeStatement",
		func(t *testing.T, cfg aws.Config) (any, error) {
			t.Helper()
			return redshiftdata.NewFromConfig(cfg).DescribeStatement(t.Context(), &redshiftdata.DescribeStatementInput{Id: aws.String("s-1")})
		},
		`{"Id": "s-1"}`,
		`{"Id": "s-1", "Status": "FINISHED", "Duration": 9007199254740993, "HasResultSet": false, "RedshiftPid": 0, "RedshiftQueryId": -1,
			"ResultRows": 0, "ResultSize": 0, "QueryParameters": [{"name": "a", "value": "b"}]}`,
	},
	{
		"stepfunctions", "StartExecution",
		func(t *testing.T, cfg aws.Config) (any, error) {
			t.Helper()
			return sfn.NewFromConfig(cfg).StartExecution(t.Context(), &sfn.StartExecutionInput{
				StateMachineArn: aws.String("arn"), Name: aws.String("n"), Input: aws.String(`{"a": 1}`),
			})
		},
		`{"stateMachineArn": "arn", "name": "n", "input": "{\"a\": 1}"}`,
		`{"executionArn": "arn:e", "startDate": 1795262400.123}`,
	},
	{
		"stepfunctions", "DescribeExecution",
		func(t *testing.T, cfg aws.Config) (any, error) {
			t.Helper()
			return sfn.NewFromConfig(cfg).DescribeExecution(t.Context(), &sfn.DescribeExecutionInput{ExecutionArn: aws.String("arn:e")})
		},
		`{"executionArn": "arn:e"}`,
		`{"executionArn": "arn:e", "status": "SUCCEEDED", "startDate": 1795262400, "output": "{}", "outputDetails": {"included": true}, "redriveCount": 0}`,
	},
	{
		"transcribe", "StartTranscriptionJob",
		func(t *testing.T, cfg aws.Config) (any, error) {
			t.Helper()
			return transcribe.NewFromConfig(cfg).StartTranscriptionJob(t.Context(), &transcribe.StartTranscriptionJobInput{
				TranscriptionJobName: aws.String("t-1"), Media: &transcribetypes.Media{MediaFileUri: aws.String("s3://b/k")}, LanguageCode: "en-US",
			})
		},
		`{"TranscriptionJobName": "t-1", "Media": {"MediaFileUri": "s3://b/k"}, "LanguageCode": "en-US"}`,
		`{"TranscriptionJob": {"TranscriptionJobName": "t-1", "TranscriptionJobStatus": "IN_PROGRESS"}}`,
	},
	{
		"transcribe", "GetTranscriptionJob",
		func(t *testing.T, cfg aws.Config) (any, error) {
			t.Helper()
			return transcribe.NewFromConfig(cfg).GetTranscriptionJob(t.Context(), &transcribe.GetTranscriptionJobInput{TranscriptionJobName: aws.String("t-1")})
		},
		`{"TranscriptionJobName": "t-1"}`,
		`{"TranscriptionJob": {"TranscriptionJobStatus": "COMPLETED", "IdentifiedLanguageScore": 0.1, "CompletionTime": 1795262400.5, "MediaSampleRateHertz": 8000,
			"LanguageCodes": [{"DurationInSeconds": 1e-7, "LanguageCode": "en-US"}], "Settings": {"ChannelIdentification": true}}}`,
	},
	{
		"lambda", "GetFunctionConfiguration",
		func(t *testing.T, cfg aws.Config) (any, error) {
			t.Helper()
			return lambda.NewFromConfig(cfg).GetFunctionConfiguration(t.Context(), &lambda.GetFunctionConfigurationInput{
				FunctionName: aws.String("arn:aws:lambda:eu-west-1:1:function:a b/c"), Qualifier: aws.String("$LATEST&x"),
			})
		},
		`{"FunctionName": "arn:aws:lambda:eu-west-1:1:function:a b/c", "Qualifier": "$LATEST&x"}`,
		`{"State": "Active", "LastUpdateStatus": "Successful", "CodeSize": 9007199254740993, "MemorySize": 128, "Layers": [],
			"Environment": {"Variables": {"a": "b"}}, "VpcConfig": {"SubnetIds": [], "Ipv6AllowedForDualStack": false}}`,
	},
	{
		"lambda", "UpdateFunctionCode",
		func(t *testing.T, cfg aws.Config) (any, error) {
			t.Helper()
			return lambda.NewFromConfig(cfg).UpdateFunctionCode(t.Context(), &lambda.UpdateFunctionCodeInput{
				FunctionName: aws.String("f"), ZipFile: []byte{0, 1, 254, 255}, Publish: true, DryRun: true,
				Architectures: []lambdatypes.Architecture{lambdatypes.ArchitectureArm64},
			})
		},
		`{"FunctionName": "f", "ZipFile": "AAH+/w==", "Publish": true, "DryRun": true, "Architectures": ["arm64"]}`,
		`{"FunctionName": "f", "LastUpdateStatus": "InProgress", "CodeSize": 4}`,
	},
}

// sdkPascal spells an output as Step Functions does. It is right for outputs
// whose maps have no keys in lower case.
func sdkPascal(value any) any {
	switch v := value.(type) {
	case map[string]any:
		object := map[string]any{}
		for name, member := range v {
			if name != "a" { // a variable of a Lambda function
				name = javasdk.MemberName(name)
			}
			object[name] = sdkPascal(member)
		}
		return object
	case []any:
		list := []any{}
		for _, item := range v {
			list = append(list, sdkPascal(item))
		}
		return list
	default:
		return v
	}
}

func operation(t testing.TB, service, name string) *catalog.Operation {
	t.Helper()
	s, err := catalog.AWS().Service(service)
	require.NoError(t, err)
	require.Contains(t, s.Operations, name)
	return s.Operations[name]
}

// The same call as the SDK's client makes gives the same request, and the same
// answer gives the same output.
func TestCallsAreTheSDKs(t *testing.T) {
	t.Parallel()
	for _, tt := range sdkCalls {
		t.Run(tt.service+" "+tt.operation, func(t *testing.T) {
			t.Parallel()
			server := newScripted(t, answer{body: tt.answer})
			cfg := config(server.URL)
			sdkOut, err := tt.sdk(t, cfg)
			require.NoError(t, err)
			want, err := jobs.Output(sdkOut)
			require.NoError(t, err)
			wantSent := server.take()

			got, err := awsjob.New(cfg).Call(t.Context(), operation(t, tt.service, tt.operation), json.RawMessage(tt.input))
			require.NoError(t, err)
			require.Equal(t, want, sdkPascal(got))
			gotSent := server.take()
			require.Len(t, gotSent, 1)
			requireSameRequest(t, wantSent[0], gotSent[0])
		})
	}
}

func requireSameRequest(t *testing.T, want, got sent) {
	t.Helper()
	require.Equal(t, want.Method+" "+want.Path+"?"+want.Query, got.Method+" "+got.Path+"?"+got.Query)
	for name := range want.Header {
		switch name {
		case "User-Agent", "Authorization", "Amz-Sdk-Invocation-Id", "X-Amz-Date":
			require.NotEmpty(t, got.Header.Get(name), name)
		case "Accept-Encoding": // the HTTP client's
		default:
			require.Equal(t, want.Header[name], got.Header[name], name)
		}
	}
	signed := func(s sent) string {
		_, rest, _ := strings.Cut(s.Header.Get("Authorization"), "/eu-west-1/")
		scope, _, _ := strings.Cut(rest, ",")
		return scope
	}
	require.NotEmpty(t, signed(want))
	require.Equal(t, signed(want), signed(got))
	if want.Body == "" {
		require.Empty(t, got.Body)
		return
	}
	require.JSONEq(t, want.Body, got.Body)
}

// What a service refuses is the same error as the SDK's: its code, message,
// status and request ID, and what follows from it.
func TestErrorsAreTheSDKs(t *testing.T) {
	t.Parallel()
	answers := map[string]answer{
		"type":         {status: 400, body: `{"__type": "com.amazonaws.x#ResourceNotFoundException", "message": "no"}`},
		"Message":      {status: 400, body: `{"__type": "ResourceNotFoundException", "Message": "no"}`},
		"header":       {status: 404, body: `{"Message": "no", "Type": "User"}`, header: map[string]string{"X-Amzn-Errortype": "ResourceNotFoundException:http://internal/"}},
		"code":         {status: 400, body: `{"code": "x#FooException:http://y", "message": "no"}`},
		"header first": {status: 400, body: `{"__type": "Other", "code": "Another"}`, header: map[string]string{"X-Amzn-Errortype": "FooException"}},
		"no name":      {status: 403, body: `{"message": "no"}`},
		"no body":      {status: 400},
		"throttled":    {status: 429, body: `{"__type": "TooManyRequestsException"}`},
		"fault":        {status: 500, body: `{"__type": "InternalServerError", "message": "no"}`},
		"request ID":   {status: 400, body: `{"__type": "X"}`, header: map[string]string{"X-Amzn-Requestid": "r-1"}},
		"a number":     {status: 400, body: `{"code": 7, "message": "no"}`},
		"redirect":     {status: 307, body: `{}`},
	}
	for name, a := range answers {
		for _, tt := range sdkCalls {
			if tt.operation != "GetQueryExecution" && tt.operation != "GetFunctionConfiguration" {
				continue
			}
			t.Run(name+" "+tt.service, func(t *testing.T) {
				t.Parallel()
				server := newScripted(t, a)
				cfg := config(server.URL)
				_, want := tt.sdk(t, cfg)
				wantSent := server.take()
				_, got := awsjob.New(cfg).Call(t.Context(), operation(t, tt.service, tt.operation), json.RawMessage(tt.input))
				require.Equal(t, saysAPI(t, want), saysAPI(t, got))
				require.Len(t, server.take(), len(wantSent), "tries")
				require.Equal(t, goerror.Passes(want), goerror.Passes(got))
				require.Equal(t, goerror.Classify(want), goerror.Classify(got))
			})
		}
	}
}

// apiFacts are what the SDK says of an error.
type apiFacts struct {
	code, message, requestID, operation string
	status                              int
}

func saysAPI(t *testing.T, err error) apiFacts {
	t.Helper()
	api, ok := errors.AsType[smithy.APIError](err)
	require.True(t, ok, "%v", err)
	response, ok := errors.AsType[interface {
		error
		HTTPStatusCode() int
		ServiceRequestID() string
	}](err)
	require.True(t, ok, "%v", err)
	of, ok := errors.AsType[*smithy.OperationError](err)
	require.True(t, ok, "%v", err)
	_, ok = errors.AsType[*smithyhttp.ResponseError](err)
	require.True(t, ok, "%v", err)
	message := api.ErrorMessage()
	if message == "UnknownError" || message == http.StatusText(response.HTTPStatusCode()) || message == "" {
		message = "" // the SDK repeats the code, or says nothing
	}
	return apiFacts{api.ErrorCode(), message, response.ServiceRequestID(), of.Service() + " " + of.Operation(), response.HTTPStatusCode()}
}
