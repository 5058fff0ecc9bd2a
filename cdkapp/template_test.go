//go:build e2e

package cdkapp_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// template is a template of CloudFormation.
type template map[string]any

// resource is one of a template.
type resource struct {
	id         string
	properties map[string]any
	all        map[string]any
}

// only returns the one resource of the type.
func (all template) only(t *testing.T, kind string) resource {
	t.Helper()
	found := all.of(kind)
	require.Len(t, found, 1, kind)
	return found[0]
}

// of returns the resources of a type.
func (all template) of(kind string) []resource {
	var found []resource
	resources, _ := all["Resources"].(map[string]any)
	for id, r := range resources {
		if r := r.(map[string]any); r["Type"] == kind {
			properties, _ := r["Properties"].(map[string]any)
			found = append(found, resource{id, properties, r})
		}
	}
	return found
}

// named returns the resource of the type whose logical ID begins so.
func (all template) named(t *testing.T, kind, prefix string) resource {
	t.Helper()
	var found []resource
	for _, r := range all.of(kind) {
		if len(r.id) >= len(prefix) && r.id[:len(prefix)] == prefix {
			found = append(found, r)
		}
	}
	require.Len(t, found, 1, "%s %s…", kind, prefix)
	return found[0]
}

// assetHash is in the key of an asset: it changes with each line of the functions.
var assetHash = regexp.MustCompile(`[0-9a-f]{64}`)

// requireGolden compares a template, without the hashes of its assets, with
// testdata/<name>.template.json.
func requireGolden(t *testing.T, name string, all template) {
	t.Helper()
	text, err := json.MarshalIndent(all, "", "  ")
	require.NoError(t, err)
	text = append(assetHash.ReplaceAll(text, []byte("HASH")), '\n')
	path := filepath.Join("testdata", name+".template.json")
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o750))
		require.NoError(t, os.WriteFile(path, text, 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "go test -update writes it")
	require.Equal(t, string(want), string(text), "go test ./cdkapp -update, if it is right")
}

// asJSON is a part of a template.
func asJSON(t *testing.T, part any) string {
	t.Helper()
	text, err := json.Marshal(part)
	require.NoError(t, err)
	return string(text)
}

// statements returns those of the policies of a role whose logical ID begins so,
// in their order.
func (all template) statements(t *testing.T, role string) []any {
	t.Helper()
	id := all.named(t, "AWS::IAM::Role", role).id
	var found []any
	for _, policy := range all.of("AWS::IAM::Policy") {
		roles, _ := policy.properties["Roles"].([]any) // nil for a user's
		for _, r := range roles {
			if r.(map[string]any)["Ref"] == id {
				found = append(found, policy.properties["PolicyDocument"].(map[string]any)["Statement"].([]any)...)
			}
		}
	}
	return found
}
