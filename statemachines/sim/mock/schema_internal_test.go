package mock

import (
	"flag"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/schema"
	"github.com/jobpoller/jobpoller/internal/schema/schematest"
)

var update = flag.Bool("update", false, "write the JSON Schema of mocks")

func TestSchemaOfMocks(t *testing.T) {
	t.Parallel()
	one := func(of any) *any { return &of }
	time := &jsonschema.Schema{Type: "number", Minimum: new(0.0), Maximum: new(longest.Seconds())}
	text := &jsonschema.Schema{Type: "string"}
	texts := []*jsonschema.Schema{text, {Type: "array", Items: text}}
	answer := &jsonschema.Schema{Type: "object"}
	types := map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[yesForm]():     {Const: one(true)},
		reflect.TypeFor[countForm]():   {Type: "integer", Minimum: new(1.0), Maximum: new(float64(math.MaxInt))},
		reflect.TypeFor[secondsForm](): time,
		reflect.TypeFor[runsForm]():    {AnyOf: []*jsonschema.Schema{time, {Type: "string", MinLength: new(1)}}},
		reflect.TypeFor[shareForm]():   {Type: "string", Pattern: "%$"},
		reflect.TypeFor[textsForm]():   {AnyOf: texts},
		reflect.TypeFor[answerForm]():  answer,
		reflect.TypeFor[echoesForm]():  {Type: "object", AdditionalProperties: text},
	}
	making := func(of reflect.Type) *jsonschema.Schema {
		s, err := schema.Of(of, schema.Options{Types: types, Closed: true})
		require.NoError(t, err)
		return s
	}
	types[reflect.TypeFor[startsForm]()] = &jsonschema.Schema{
		AnyOf: append(texts, &jsonschema.Schema{Type: "object", AdditionalProperties: making(reflect.TypeFor[courseForm]())}),
	}

	step := making(reflect.TypeFor[stepForm]())
	has := func(name string, without ...string) *jsonschema.Schema {
		s := &jsonschema.Schema{Required: []string{name}}
		if len(without) > 0 {
			s.Not = &jsonschema.Schema{}
			for _, other := range without {
				s.Not.AnyOf = append(s.Not.AnyOf, &jsonschema.Schema{Required: []string{other}})
			}
		}
		return s
	}
	step.OneOf = []*jsonschema.Schema{
		has("return"), has("fail"), has("throttle"), has("never", "after"), has("submitted", "return", "fail", "throttle", "never", "after"),
	}
	job := making(reflect.TypeFor[jobEntryForm]())
	job.Properties["job"].AnyOf = []*jsonschema.Schema{has("status"), has("answers")}
	page, err := os.ReadFile(filepath.FromSlash("../../../docs/reference/mocks.md"))
	require.NoError(t, err)
	section := func(heading string) map[string]string {
		_, rest, ok := strings.Cut(string(page), "\n## "+heading+"\n")
		require.True(t, ok, heading)
		rest, _, _ = strings.Cut(rest, "\n## ")
		return schema.Lists(rest, "")
	}
	require.NoError(t, schema.Describe(job.Properties["job"], section("A simulated job")))
	require.NoError(t, schema.Describe(step, section("Steps")))
	own := &jsonschema.Schema{
		Type: "object", Properties: map[string]*jsonschema.Schema{},
		AdditionalProperties: &jsonschema.Schema{OneOf: []*jsonschema.Schema{step, {Type: "array", MinItems: new(1), Items: step}, job}},
	}

	aws := making(reflect.TypeFor[awsForm]())
	aws.Properties["StateMachines"].PropertyNames = &jsonschema.Schema{Pattern: "^[^#]*$"}
	aws.Properties["StateMachines"].MinProperties = new(1)
	responses := aws.Properties["MockedResponses"].AdditionalProperties
	responses.PropertyNames = &jsonschema.Schema{Pattern: `^[0-9]+(-[0-9]+)?$`}
	responses.AdditionalProperties.OneOf = []*jsonschema.Schema{has("Return"), has("Throw")}
	for _, form := range []*jsonschema.Schema{own, aws} {
		schema.AllowSchema(form)
	}
	schematest.Require(t, *update, "mocks", &jsonschema.Schema{
		If:   &jsonschema.Schema{AnyOf: []*jsonschema.Schema{has("StateMachines"), has("MockedResponses")}},
		Then: aws, Else: own,
	})
}
