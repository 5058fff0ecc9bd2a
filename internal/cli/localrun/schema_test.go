package localrun

import (
	"reflect"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/cli/clitest"
	"github.com/jobpoller/jobpoller/internal/schema"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// What run prints depends on what answers the Tasks.
func TestSchemasOfRun(t *testing.T) {
	t.Parallel()
	page := clitest.ReadPage(t)
	run := schema.Lists(page["jobpoller run -o json"], "")
	functions, err := schema.Of(reflect.TypeFor[Report](), schema.Options{Described: run})
	require.NoError(t, err)
	answered, err := schema.Of(reflect.TypeFor[Simulation](), schema.Options{Described: schema.Join(
		schema.Without(run, "executionStatus", "attempts", "startRecords", "data", "s3"), schema.Lists(page["jobpoller run --mocks FILE -o json"], ""),
	)})
	require.NoError(t, err)
	result := &jsonschema.Schema{AnyOf: []*jsonschema.Schema{functions, answered}}
	clitest.CompareSchema(t, "run", result)

	lines, err := schema.OneOf(schema.Options{
		Types:     map[reflect.Type]*jsonschema.Schema{reflect.TypeFor[Text](): result, reflect.TypeFor[sim.Event](): {Type: "object"}},
		Described: map[string]string{"event": "in the shape of GetExecutionHistory"},
	}, reflect.TypeFor[struct {
		S3 s3Access `json:"s3"`
	}](), reflect.TypeFor[struct {
		Event sim.Event `json:"event"`
	}](), reflect.TypeFor[struct {
		Result Text `json:"result"`
	}]())
	require.NoError(t, err)
	clitest.CompareSchema(t, "run-lines", lines)
}
