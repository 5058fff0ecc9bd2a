// Package schematest compares the schemas in docs/reference/schema with the types that they are
// made of, and JSON with the schemas.
package schematest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/schema"
)

// suffix is that of the names of files.
const suffix = ".schema.json"

// Folder is where the schemas are, below the root of the module.
const Folder = "docs/reference/schema"

// Require compares the file of a schema with what its types give, or writes it.
func Require(t testing.TB, update bool, name string, s *jsonschema.Schema) {
	t.Helper()
	root, err := schema.Root()
	require.NoError(t, err)
	rows, err := Rows(root)
	require.NoError(t, err)
	i := slices.IndexFunc(rows, func(r Row) bool { return r.Schema == name })
	require.GreaterOrEqual(t, i, 0, "%s/README.md has no row for %s", Folder, name)
	head, err := json.Marshal(struct { // which stands first in the file
		Schema string `json:"$schema"`
		ID     string `json:"$id"`
		Title  string `json:"title"`
	}{"https://json-schema.org/draft/2020-12/schema", "urn:jobpoller:schema:" + name, rows[i].About})
	require.NoError(t, err)
	body, err := json.Marshal(s)
	require.NoError(t, err)
	text := slices.Concat(head[:len(head)-1], []byte(","), body[1:])
	var file bytes.Buffer
	require.NoError(t, json.Indent(&file, text, "", "  "))
	made := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(file.String()) + "\n"
	path := filepath.Join(root, filepath.FromSlash(Folder), name+suffix)
	if update {
		require.NoError(t, os.WriteFile(path, []byte(made), 0o600))
	}
	now, err := os.ReadFile(path) //nolint:gosec // of the module
	require.NoError(t, err, "make schemas writes it")
	require.Equal(t, string(now), made, "make schemas writes %s", path)
}
