package kit_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/cli/clitest"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/schema"
	"github.com/jobpoller/jobpoller/internal/settings"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// What a config file may have: the reader reads YAML by the names of members.
type (
	configForm struct {
		blockForm

		Ignore    []scalar       `json:"ignore,omitempty"`
		Overrides []overrideForm `json:"overrides,omitempty"`
	}

	overrideForm struct {
		blockForm

		Files []scalar `json:"files"`
	}

	blockForm struct {
		Rules         levelsForm        `json:"rules,omitempty"`
		Statuses      meaningsForm      `json:"statuses,omitempty"`
		Substitutions map[string]scalar `json:"substitutions,omitempty"`
		Region        scalar            `json:"region,omitempty"`
	}

	scalar       any // a text, or a number or boolean as it is written
	levelsForm   map[string]string
	meaningsForm map[string]string
)

func TestSchemaOfSettings(t *testing.T) {
	t.Parallel()
	words := kit.Vocabulary()
	levels := []any{}
	for severity := range diag.Note + 1 {
		levels = append(levels, strings.ToLower(severity.String()))
	}
	wordsOf := func(keys *jsonschema.Schema, values []any) *jsonschema.Schema {
		return &jsonschema.Schema{Type: "object", PropertyNames: keys, AdditionalProperties: &jsonschema.Schema{Enum: values}}
	}
	named := &jsonschema.Schema{MinLength: new(1)}
	page, err := os.ReadFile(filepath.FromSlash("../../../docs/reference/config.md"))
	require.NoError(t, err)
	table, _, _ := strings.Cut(string(page), "\n## ")
	described := schema.List(table)
	s, err := schema.Of(reflect.TypeFor[configForm](), schema.Options{
		Types: map[reflect.Type]*jsonschema.Schema{
			reflect.TypeFor[scalar]():       {Types: []string{"string", "number", "boolean"}},
			reflect.TypeFor[levelsForm]():   wordsOf(&jsonschema.Schema{Enum: anys(words.Rules)}, append(levels, settings.Off)),
			reflect.TypeFor[meaningsForm](): wordsOf(named, anys(words.Meanings)),
		},
		Described: schema.Join(described, schema.Below("overrides", schema.Without(described, "ignore", "overrides"))),
		Closed:    true,
	})
	require.NoError(t, err)
	override := s.Properties["overrides"].Items
	for _, block := range []*jsonschema.Schema{s, override} {
		block.Properties["substitutions"].PropertyNames = named
		for name, member := range block.Properties {
			if name != "files" { // a member without a value says nothing
				block.Properties[name] = &jsonschema.Schema{Description: member.Description, AnyOf: []*jsonschema.Schema{{Type: "null"}, member}}
				member.Description = ""
			}
		}
	}
	schema.AllowSchema(s)
	s.Properties["$schema"].Types, s.Properties["$schema"].Type = []string{"string", "null"}, ""
	s.Types, s.Type = []string{"object", "null"}, ""
	clitest.CompareSchema(t, "config", s)
}

func anys(words []string) []any {
	var all []any
	for _, word := range words {
		if !slices.Contains(all, any(word)) { // a rule of definitions and of waiters
			all = append(all, word)
		}
	}
	return all
}
