package awsjob_test

import (
	"encoding/json"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// The functions take the arguments of a catalogue entry in every spelling that wait and
// compile take, and mean the same.
func TestArgumentsAreSpelledAlikeOnAllSurfaces(t *testing.T) {
	t.Parallel()
	driver, err := awsjob.NewDriver(aws.Config{Region: "us-east-1"}, catalog.AWS(), "ecs:ServicesStable")
	require.NoError(t, err)
	entry, err := catalog.AWS().Lookup("ecs", "ServicesStable")
	require.NoError(t, err)
	want := jobs.Ref{"Cluster": "c", "Services": `["s"]`}
	for _, text := range []string{`{"cluster": "c", "services": ["s"]}`, `{"Cluster": "c", "Services": ["s"]}`, `{"Cluster": "c", "services": ["s"]}`} {
		ref, err := driver.Start(t.Context(), jobs.Request{Arguments: json.RawMessage(text)})
		require.NoError(t, err, text)
		require.Equal(t, want, ref)
		compiled, err := typecheck.FitArguments([]byte(text), entry.Operation, "", asl.JSONata)
		require.NoError(t, err, text)
		require.Equal(t, map[string]any{"Cluster": "c", "Services": []any{"s"}}, compiled)
		value, problems, err := typecheck.FitText([]byte(text), entry.Operation.Input, true)
		require.NoError(t, err)
		require.Empty(t, problems)
		require.Equal(t, map[string]any{"cluster": "c", "services": []any{"s"}}, value)
	}
	for _, text := range []string{`{"cluster": "c", "Cluster": "c", "services": ["s"]}`, `{"clustre": "c", "services": ["s"]}`} {
		_, err := driver.Start(t.Context(), jobs.Request{Arguments: json.RawMessage(text)})
		require.ErrorIs(t, err, jobs.ErrArguments)
		_, err = typecheck.FitArguments([]byte(text), entry.Operation, "", asl.JSONata)
		require.Error(t, err)
	}
}
