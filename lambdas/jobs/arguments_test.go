package jobs_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/athena"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/glue"
	gluetypes "github.com/aws/aws-sdk-go-v2/service/glue/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/transcribe"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
)

// read reads arguments for the job "test:Job".
func read[T any](text string, rules ...jobs.Rule) (any, error) {
	in, err := jobs.Arguments[T]("test:Job", json.RawMessage(text), rules...)
	if err != nil {
		return nil, err
	}
	return in, nil
}

func TestArguments(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		read func(text string, rules ...jobs.Rule) (any, error)
		text string
		want any
	}{
		{"nothing", read[glue.StartJobRunInput], `{}`, &glue.StartJobRunInput{}},
		{
			"strings, maps, numbers, enums and structures", read[glue.StartJobRunInput],
			`{"JobName": "é", "Arguments": {"--a": "", "": "x"}, "WorkerType": "G.99X", "NumberOfWorkers": 2147483647,
			  "MaxCapacity": 0.0625, "JobRunQueuingEnabled": false, "NotificationProperty": {"NotifyDelayAfter": 5}}`,
			&glue.StartJobRunInput{
				JobName: aws.String("é"), Arguments: map[string]string{"--a": "", "": "x"}, WorkerType: "G.99X",
				NumberOfWorkers: aws.Int32(2147483647), MaxCapacity: aws.Float64(0.0625),
				JobRunQueuingEnabled: aws.Bool(false), NotificationProperty: &gluetypes.NotificationProperty{NotifyDelayAfter: aws.Int32(5)},
			},
		},
		{"members without pointers", read[plain], `{"Count": -1, "Ratio": 0.5, "On": true}`, &plain{-1, 0.5, true}},
		{"an empty list", read[athena.StartQueryExecutionInput], `{"ExecutionParameters": []}`, &athena.StartQueryExecutionInput{ExecutionParameters: []string{}}},
		{"a list", read[athena.StartQueryExecutionInput], `{"ExecutionParameters": ["b", "a"]}`, &athena.StartQueryExecutionInput{ExecutionParameters: []string{"b", "a"}}},
		{
			"a list of structures", read[dynamodb.CreateTableInput], `{"KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}, {}]}`,
			&dynamodb.CreateTableInput{KeySchema: []dynamodbtypes.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: "HASH"}, {}}},
		},
		{"a blob", read[lambda.InvokeInput], `{"Payload": "/wA=", "InvocationType": "Event"}`, &lambda.InvokeInput{Payload: []byte{0xff, 0}, InvocationType: lambdatypes.InvocationTypeEvent}},
		{"an empty blob", read[lambda.InvokeInput], `{"Payload": ""}`, &lambda.InvokeInput{Payload: []byte{}}},
		{"a timestamp", read[dynamodb.ExportTableToPointInTimeInput], `{"ExportTime": "2026-11-20T10:30:00.25+01:00"}`, exportAt(1795167000, 250)},
		{"epoch seconds", read[dynamodb.ExportTableToPointInTimeInput], `{"ExportTime": 1795167000}`, exportAt(1795167000, 0)},
		{"epoch seconds and milliseconds", read[dynamodb.ExportTableToPointInTimeInput], `{"ExportTime": 1795167000.007}`, exportAt(1795167000, 7)},
		{
			"members that begin with an acronym", read[transcribe.StartTranscriptionJobInput], `{"KmsEncryptionContext": {"DBName": "x"}, "OutputEncryptionKMSKeyId": "k"}`,
			&transcribe.StartTranscriptionJobInput{KMSEncryptionContext: map[string]string{"DBName": "x"}, OutputEncryptionKMSKeyId: aws.String("k")},
		},
		{"before the epoch", read[dynamodb.ExportTableToPointInTimeInput], `{"ExportTime": -0.5}`, exportAt(-1, 500)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in, err := tt.read(tt.text)
			require.NoError(t, err)
			require.Equal(t, tt.want, in)
		})
	}
}

type plain struct {
	Count int64
	Ratio float32
	On    bool
}

func exportAt(seconds, milliseconds int64) *dynamodb.ExportTableToPointInTimeInput {
	return &dynamodb.ExportTableToPointInTimeInput{ExportTime: aws.Time(time.Unix(seconds, milliseconds*1e6).UTC())}
}

func TestArgumentsRefuses(t *testing.T) {
	t.Parallel()
	export, run, query := read[dynamodb.ExportTableToPointInTimeInput], read[glue.StartJobRunInput], read[athena.StartQueryExecutionInput]
	tests := []struct {
		name  string
		read  func(text string, rules ...jobs.Rule) (any, error)
		text  string
		rules []jobs.Rule
		want  string
	}{
		{"nothing", export, ``, nil, "1:1: not valid JSON"},
		{"two values", export, `{} {}`, nil, "1:4: not valid JSON"},
		{"an array", export, `[]`, nil, "1:1: expected the object of arguments, found an array"},
		{"null", export, `null`, nil, "1:1: expected the object of arguments, found null"},
		{"an unknown member", export, "{\n  \"S3Bukcet\": \"b\"}", nil, `2:3: /S3Bukcet: the object of arguments has no member "S3Bukcet" (did you mean "S3Bucket"?)`},
		{"two spellings", export, `{"tableArn": "t", "TableArn": "t"}`, nil, `1:2: /tableArn: the member TableArn is there twice`},
		{"a misspelled member", export, `{"TableArm": "t"}`, nil, `1:2: /TableArm: the object of arguments has no member "TableArm" (did you mean "TableArn"?)`},
		{"a required member with an acronym", read[transcribe.StartTranscriptionJobInput], `{}`, []jobs.Rule{jobs.Require("KMSEncryptionContext")}, `needs the member "KmsEncryptionContext"`},
		{"a reserved member with an acronym", read[transcribe.StartTranscriptionJobInput], `{"KmsEncryptionContext": {}}`, []jobs.Rule{jobs.Reserve("KMSEncryptionContext")}, `remove KmsEncryptionContext`},
		{"a member twice", export, `{"TableArn": "t", "TableArn": "t"}`, nil, `stands twice`},
		{"a member of the SDK", export, `{"noSmithyDocumentSerde": {}}`, nil, `has no member "noSmithyDocumentSerde"`},
		{"inside", export, `{"IncrementalExportSpecification": {"ExportFrmTime": 1}}`, nil, `1:37: /IncrementalExportSpecification/ExportFrmTime: the structure IncrementalExportSpecification has no member "ExportFrmTime" (did you mean "ExportFromTime"?)`},
		{"no structure", export, `{"IncrementalExportSpecification": []}`, nil, `expected the structure IncrementalExportSpecification, found an array`},
		{"a required member", export, `{"S3Bucket": "b"}`, []jobs.Rule{jobs.Require("TableArn", "S3Bucket")}, `1:1: the object of arguments needs the member "TableArn"`},
		{"a reserved member", export, `{"ClientToken": "mine"}`, []jobs.Rule{jobs.Reserve("ClientToken")}, `1:17: /ClientToken: remove ClientToken: the functions set it`},
		{"null for a string", export, `{"TableArn": null}`, nil, `/TableArn: expected a string, found null`},
		{"a number for a string", export, `{"TableArn": 7}`, nil, `/TableArn: expected a string, found a number (7)`},
		{"an empty enum", export, `{"ExportFormat": ""}`, nil, `/ExportFormat: expected a value of ExportFormat, found an empty string; remove the member to send none`},
		{"no boolean", run, `{"JobRunQueuingEnabled": "true"}`, nil, `/JobRunQueuingEnabled: expected true or false, found a string`},
		{"no map", run, `{"Arguments": []}`, nil, `/Arguments: expected an object, found an array`},
		{"a wrong value in a map", run, `{"Arguments": {"--n/a": 7}}`, nil, `/Arguments/--n~1a: expected a string, found a number (7)`},
		{"a fraction", run, `{"NumberOfWorkers": 1.5}`, nil, `/NumberOfWorkers: expected a whole number of 32 bits, found a number (1.5)`},
		{"a fraction by its exponent", run, `{"NumberOfWorkers": 1e-1}`, nil, `expected a whole number of 32 bits, found a number (1e-1)`},
		{"a large number", run, `{"NumberOfWorkers": 2147483648}`, nil, `expected a whole number of 32 bits, found a number (2147483648)`},
		{"a number as text", run, `{"NumberOfWorkers": "2"}`, nil, `expected a whole number of 32 bits, found a string`},
		{"a huge number", run, `{"MaxCapacity": 1e999}`, nil, `/MaxCapacity: expected a number of 64 bits, found a number (1e999)`},
		{"a boolean for a number", run, `{"MaxCapacity": true}`, nil, `/MaxCapacity: expected a number of 64 bits, found a boolean (true)`},
		{"no list", query, `{"ExecutionParameters": "x"}`, nil, `/ExecutionParameters: expected an array, found a string`},
		{"a wrong item", query, `{"ExecutionParameters": ["x", null]}`, nil, `/ExecutionParameters/1: expected a string, found null`},
		{"no base64", read[lambda.InvokeInput], `{"Payload": "{}"}`, nil, `/Payload: expected a blob in base64, found a string`},
		{"a number for a blob", read[lambda.InvokeInput], `{"Payload": 7}`, nil, `/Payload: expected a blob in base64, found a number (7)`},
		{"no time", export, `{"ExportTime": "yesterday"}`, nil, `/ExportTime: expected a timestamp (RFC 3339 or epoch seconds), found a string`},
		{"a date", export, `{"ExportTime": "2026-11-20"}`, nil, `expected a timestamp`},
		{"a boolean for a time", export, `{"ExportTime": true}`, nil, `expected a timestamp (RFC 3339 or epoch seconds), found a boolean (true)`},
		{"a time too far", export, `{"ExportTime": 1e18}`, nil, `expected a timestamp`},
		{"the year 10000", export, `{"ExportTime": 253402300800}`, nil, `expected a timestamp`},
		{"the year 0", export, `{"ExportTime": "0001-01-01T00:00:00+01:00"}`, nil, `expected a timestamp`},
		{"microseconds", export, `{"ExportTime": "2026-11-20T10:30:00.000001Z"}`, nil, `expected a timestamp of whole milliseconds`},
		{"a union", read[dynamodb.PutItemInput], `{"Item": {"id": {"S": "1"}}}`, nil, `/Item/id: arguments cannot hold a value of type types.AttributeValue`},
		{"a stream", read[s3.PutObjectInput], `{"Body": "x"}`, nil, `/Body: arguments cannot hold a value of type io.Reader`},
		{"what is not a structure", read[string], `{}`, nil, `cannot be read: string is not a struct`},
		{"a map by number", read[struct{ M map[int]string }], `{"M": {"1": "x"}}`, nil, `/M: arguments cannot hold a value of type map[int]string`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := tt.read(tt.text, tt.rules...)
			require.ErrorIs(t, err, jobs.ErrArguments)
			require.ErrorContains(t, err, "invalid job arguments of test:Job: ")
			require.ErrorContains(t, err, tt.want)
			require.Equal(t, awserror.Refused, goerror.Classify(err))
		})
	}
}

// What a model, the SDK for Go and Step Functions call a member is the same one, with
// a small first letter too.
func TestArgumentsInTheSpellingsOfModelsAndSDKs(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"media": {"MediaFileUri": "s3://b/a"}, "KMSEncryptionContext": {"KMSKeyId": "k", "kmsKeyId": "l"}}`,
		`{"Media": {"mediaFileUri": "s3://b/a"}, "KmsEncryptionContext": {"KMSKeyId": "k", "kmsKeyId": "l"}}`,
	} {
		in, err := jobs.Arguments[transcribe.StartTranscriptionJobInput]("test:Job", json.RawMessage(text), jobs.Require("Media"))
		require.NoError(t, err)
		require.Equal(t, "s3://b/a", *in.Media.MediaFileUri)
		require.Equal(t, map[string]string{"KMSKeyId": "k", "kmsKeyId": "l"}, in.KMSEncryptionContext, "the keys of a map are the caller's")
	}
	_, err := jobs.Arguments[dynamodb.ExportTableToPointInTimeInput]("test:Job", json.RawMessage(`{"clientToken": "mine"}`), jobs.Reserve("ClientToken"))
	require.ErrorContains(t, err, "remove ClientToken")
}

// All problems come at once, and none with the text of a wrong value, which may
// be a secret; the lines they stand in are for who reads the request.
func TestArgumentsTellsAll(t *testing.T) {
	t.Parallel()
	_, err := read[dynamodb.ExportTableToPointInTimeInput](
		`{"tableArm": "t", "ExportTime": "hunter2", "ClientToken": "mine"}`, jobs.Require("TableArn"), jobs.Reserve("ClientToken"))
	problems, ok := errors.AsType[interface {
		error
		Brief() string
	}](err)
	require.True(t, ok)
	require.Contains(t, problems.Error(), "4 problems:")
	require.NotContains(t, problems.Brief(), "hunter2")
}

// The rules are for the outermost object.
func TestArgumentsRulesAreForTheOutside(t *testing.T) {
	t.Parallel()
	type inner struct{ Token, Name *string }
	type outer struct {
		Token *string
		Inner *inner
	}
	in, err := jobs.Arguments[outer]("test:Job", json.RawMessage(`{"Inner": {"Token": "x"}}`), jobs.Reserve("Token"), jobs.Require("Inner"))
	require.NoError(t, err)
	require.Equal(t, &outer{Inner: &inner{Token: aws.String("x")}}, in)
}

// FuzzArguments: what is accepted reads the same from the form that Output
// gives it, and each of its members is one of the type.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"JobName": "x", "Arguments": {"--a": ""}, "WorkerType": "G.1X", "NumberOfWorkers": 2, "MaxCapacity": 0.5}`,
		`{"TableArn": "t", "ExportTime": "2026-11-20T10:30:00.25+01:00", "IncrementalExportSpecification": {"ExportFromTime": 1.5}}`,
		`{"ExportTime": -1e11}`, `{"ExportTime": "9999-12-31T23:59:59.999-23:00"}`, `{"ExportTime": 1e400}`,
		`{"Payload": "/wA=", "FunctionName": "f"}`, `{"Payload": "/wB="}`, `{"ExecutionParameters": ["a", null]}`,
		`{"QueryString": "SELECT 1", "ResultConfiguration": {"EncryptionConfiguration": {"EncryptionOption": "SSE_S3"}}}`,
		`{"Media": {"MediaFileUri": "s3://b/a"}, "KmsEncryptionContext": {"KMSKeyId": "k"}}`,
		`{"tableArn": "t"}`, `{"JobName": "` + "\xff" + `"}`, `[{"JobName": 1}]`, `{"a": {"a": [`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		fuzzArguments[glue.StartJobRunInput](t, text)
		fuzzArguments[transcribe.StartTranscriptionJobInput](t, text)
		fuzzArguments[dynamodb.ExportTableToPointInTimeInput](t, text)
		fuzzArguments[lambda.InvokeInput](t, text)
		fuzzArguments[athena.StartQueryExecutionInput](t, text)
	})
}

func fuzzArguments[T any](t *testing.T, text []byte) {
	t.Helper()
	in, err := jobs.Arguments[T]("test:Job", text)
	if err != nil {
		require.ErrorIs(t, err, jobs.ErrArguments)
		require.Nil(t, in)
		return
	}
	var members map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(text, &members))
	for name := range members {
		_, ok := reflect.TypeFor[T]().FieldByNameFunc(func(field string) bool { return javasdk.MemberName(field) == javasdk.MemberName(name) })
		require.True(t, ok, name)
	}
	output, err := jobs.Output(in)
	require.NoError(t, err)
	again, err := json.Marshal(output)
	require.NoError(t, err)
	reread, err := jobs.Arguments[T]("test:Job", again)
	require.NoError(t, err, "%s", again)
	require.Equal(t, in, reread)
}
