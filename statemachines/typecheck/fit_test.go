package typecheck_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// operation is one of the catalogue.
func operation(t *testing.T, service, name string) *catalog.Operation {
	t.Helper()
	found, err := catalog.AWS().Service(service)
	require.NoError(t, err)
	require.Contains(t, found.Operations, name)
	return found.Operations[name]
}

// The spelling is that of SDK integrations, whichever is given.
func TestArgumentsAreSpelt(t *testing.T) {
	t.Parallel()
	start := operation(t, "bedrock", "CreateModelInvocationJob")
	for _, text := range []string{
		`{"jobName": "j", "modelId": "{% $model %}", "roleArn": "r", "inputDataConfig": {"s3InputDataConfig": {"s3Uri": "in"}}, "outputDataConfig": {"s3OutputDataConfig": {"s3Uri": "out"}}}`,
		`{"JobName": "j", "ModelId": "{% $model %}", "RoleArn": "r", "InputDataConfig": {"S3InputDataConfig": {"S3Uri": "in"}}, "OutputDataConfig": {"S3OutputDataConfig": {"S3Uri": "out"}}}`,
	} {
		arguments, err := typecheck.FitArguments([]byte(text), start, "clientRequestToken", asl.JSONata)
		require.NoError(t, err)
		require.Equal(t, map[string]any{
			"JobName": "j", "ModelId": "{% $model %}", "RoleArn": "r",
			"InputDataConfig":  map[string]any{"S3InputDataConfig": map[string]any{"S3Uri": "in"}},
			"OutputDataConfig": map[string]any{"S3OutputDataConfig": map[string]any{"S3Uri": "out"}},
		}, arguments)
	}
}

func TestArgumentsThatDoNotFit(t *testing.T) {
	t.Parallel()
	start := operation(t, "glue", "StartJobRun")
	for text, want := range map[string]string{
		`{"JobNam": "j"}`:             `/JobNam: StartJobRunRequest has no member "JobNam" (did you mean "JobName"?)`,
		`{}`:                          "StartJobRunRequest needs the member JobName",
		`{"JobName": 1}`:              "/JobName: expected a string",
		`{"JobName": "{% $x %}"}`:     "/JobName: this strategy is written in JSONPath",
		`{"JobName": "j", "Timeout":`: "1:",
		`[]`:                          "expected a JSON object, found an array",
		``:                            "expected a JSON object, found nothing",
	} {
		_, err := typecheck.FitArguments([]byte(text), start, "", asl.JSONPath)
		require.ErrorContains(t, err, want, text)
	}
	_, err := typecheck.FitArguments([]byte(`{"JobName.$": "$.job"}`), start, "", asl.JSONPath)
	require.NoError(t, err)
}

func TestArgumentsOfAnOperationWithoutInput(t *testing.T) {
	t.Parallel()
	plain := &catalog.Operation{Name: "GetAccountState"}
	arguments, err := typecheck.FitArguments([]byte(`{}`), plain, "", asl.JSONata)
	require.NoError(t, err)
	require.Empty(t, arguments)
	_, err = typecheck.FitArguments([]byte(`{"Name": "x"}`), plain, "", asl.JSONata)
	require.EqualError(t, err, "GetAccountState takes no arguments")
}
