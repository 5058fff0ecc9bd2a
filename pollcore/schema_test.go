package pollcore_test

import (
	"flag"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/schema"
	"github.com/jobpoller/jobpoller/internal/schema/schematest"
	"github.com/jobpoller/jobpoller/pollcore"
)

var update = flag.Bool("update", false, "write the JSON Schemas")

func TestSchemaOfWaiters(t *testing.T) {
	t.Parallel()
	s, err := schema.Of(reflect.TypeFor[pollcore.Waiter](), schema.Options{Comments: true, Closed: true})
	require.NoError(t, err)
	for name, seconds := range map[string]int{"minDelay": pollcore.DefaultMinDelay, "maxDelay": pollcore.DefaultMaxDelay} {
		delay := s.Properties[name]
		delay.Minimum, delay.Maximum = new(1.0), new(float64(math.MaxInt32))
		delay.Default = strconv.AppendInt(nil, int64(seconds), 10)
	}
	one := func(of any) *any { return &of }
	is := func(name string, values ...string) *jsonschema.Schema {
		m := &jsonschema.Schema{}
		for _, value := range values {
			m.Enum = append(m.Enum, value)
		}
		return &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{name: m}}
	}
	acceptors := s.Properties["acceptors"]
	acceptors.Contains = &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{"state": {Const: one(string(pollcore.Success))}}}
	acceptor := acceptors.Items
	acceptor.If, acceptor.Else = is("state", string(pollcore.Failure)), &jsonschema.Schema{
		Properties: map[string]*jsonschema.Schema{"message": {Const: one("")}},
	}
	matcher := acceptor.Properties["matcher"]
	matcher.MinProperties, matcher.MaxProperties = new(1), new(1)
	for _, name := range []string{"output", "inputOutput"} {
		path := matcher.Properties[name]
		path.Properties["path"].MinLength = new(1)
		path.If, path.Then = is("comparator", string(pollcore.BooleanEquals)), is("expected", "true", "false")
	}
	schema.AllowSchema(s)
	schematest.Require(t, *update, "waiter", s)
}

func TestSchemaOfSchedules(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.FromSlash("../docs/reference/json.md"))
	require.NoError(t, err)
	described := map[string]string{}
	for name, about := range schema.List(string(page)) {
		if member, ok := strings.CutPrefix(name, "schedule."); ok {
			described[member] = about
		}
	}
	s, err := schema.Of(reflect.TypeFor[pollcore.Planned](), schema.Options{Closed: true, Described: described})
	require.NoError(t, err)
	seconds := func(least float64) *jsonschema.Schema {
		return &jsonschema.Schema{Type: "integer", Minimum: &least, Maximum: new(pollcore.MaxPlannedDelay.Seconds())}
	}
	delays := s.Properties["delays"]
	delays.PrefixItems, delays.Items = []*jsonschema.Schema{seconds(0)}, seconds(1)
	delays.MinItems, delays.MaxItems = new(1), new(pollcore.MaxPlannedDelays)
	for name, least := range map[string]float64{"then": 1, "jitter": 0} {
		limit := seconds(least)
		s.Properties[name].Minimum, s.Properties[name].Maximum = limit.Minimum, limit.Maximum
	}
	schema.AllowSchema(s)
	schematest.Require(t, *update, "schedule", s)
}
