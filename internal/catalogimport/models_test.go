package catalogimport_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/catalogimport"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// shopModels are the made-up services, with limits in one of them.
func shopModels(t *testing.T) *catalogimport.Models {
	t.Helper()
	files := folder(t, "botocore")
	const till = "till/2022-03-03/service-2.json"
	edit(t, files, till, `"string": {"type": "string"}`, `"string": {"type": "string", "min": 1, "max": 9223372036854775807, "pattern": "[a-z]+"}`)
	edit(t, files, till, `"flattened": true`, `"flattened": true, "max": 5`)
	edit(t, files, till, `"ShelfId": {"shape": "string"}`, `"ShelfId": {"shape": "string"}, "ClientToken": {"shape": "Token"}, "NextToken": {"shape": "PageToken"}`)
	edit(t, files, till, `"boolean": {`, `"Token": {"type": "string", "pattern": "[0-9]+"}, "PageToken": {"type": "string", "pattern": "[0-9]*"}, "boolean": {`)
	m, err := catalogimport.ImportModels(files, folder(t, "tables"))
	require.NoError(t, err)
	return m
}

func TestModelsHaveAllOperationsWithTheirLimits(t *testing.T) {
	t.Parallel()
	m := shopModels(t)
	require.Len(t, m.Services, 6)
	var till catalog.Service
	require.NoError(t, json.Unmarshal(m.Files()["till.json"], &till))
	require.NoError(t, till.Link())
	require.Equal(t, "Till", till.ErrorPrefix)
	id := till.Operations["DescribeShelf"].Input.Member("ShelfId").Shape
	require.Equal(t, []string{"1", "9223372036854775807"}, []string{id.Min.String(), id.Max.String()})
	require.Equal(t, catalog.String, id.Type)
	require.Equal(t, "5", till.Shapes["Items"].Max.String())
	patterns := map[string]string{}
	for _, member := range till.Operations["DescribeShelf"].Input.Members {
		patterns[member.Name] = member.Shape.Pattern
	}
	require.Equal(t, map[string]string{"ShelfId": "", "ClientToken": "[0-9]+", "NextToken": ""}, patterns, "only a token keeps its pattern")
	require.Empty(t, till.Waiters)

	files := folder(t, "botocore")
	for name := range files {
		if filepath.Base(name) == "waiters-2.json" {
			delete(files, name)
		}
	}
	without, err := catalogimport.ImportModels(files, folder(t, "tables"))
	require.NoError(t, err)
	require.Len(t, without.Services, 6, "a service needs no waiter")
}

func TestCatalogueHasNoLimits(t *testing.T) {
	t.Parallel()
	files := folder(t, "botocore")
	before, err := catalogimport.Import(catalogimport.Sources{Botocore: files, Tables: folder(t, "tables")})
	require.NoError(t, err)
	edit(t, files, "till/2022-03-03/service-2.json", `"string": {"type": "string"}`, `"string": {"type": "string", "min": 1}`)
	after, err := catalogimport.Import(catalogimport.Sources{Botocore: files, Tables: folder(t, "tables")})
	require.NoError(t, err)
	require.Equal(t, before.Files(), after.Files())
}

func TestPackedModelsAreComparedUnpacked(t *testing.T) {
	t.Parallel()
	m, out := shopModels(t), t.TempDir()
	changed, err := m.Write(out)
	require.NoError(t, err)
	require.Len(t, changed, 7)
	again, err := m.Write(out)
	require.NoError(t, err)
	require.Empty(t, again)

	name := filepath.Join(out, "till.json.gz")
	packed, err := os.ReadFile(name)
	require.NoError(t, err)
	r, err := gzip.NewReader(bytes.NewReader(packed))
	require.NoError(t, err)
	text, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Equal(t, m.Files()["till.json"], text)

	pack := func(text []byte) {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Name = "packed another way"
		_, err := w.Write(text)
		require.NoError(t, err)
		require.NoError(t, w.Close())
		require.NoError(t, os.WriteFile(name, b.Bytes(), 0o600))
	}
	pack(text)
	differences, err := m.Compare(out)
	require.NoError(t, err)
	require.Empty(t, differences)

	pack(bytes.Replace(text, []byte("DescribeShelf"), []byte("DescribeShelves"), 1))
	differences, err = m.Compare(out)
	require.NoError(t, err)
	require.Len(t, differences, 1)
	require.Equal(t, catalogimport.Change, differences[0].Kind)

	require.NoError(t, os.WriteFile(name, []byte("not packed"), 0o600))
	_, err = m.Write(out)
	require.ErrorIs(t, err, catalogimport.ErrNotCatalogue)
}

func TestModelsRefuseTwoServicesOfOneName(t *testing.T) {
	t.Parallel()
	files := folder(t, "botocore")
	edit(t, files, "till/2022-03-03/service-2.json", `"serviceId": "Till"`, `"serviceId": "SHOP"`)
	tables := folder(t, "tables")
	edit(t, tables, "services.json", `"arnName": "till"`, `"arnName": "shop"`)
	_, err := catalogimport.ImportModels(files, tables)
	require.ErrorIs(t, err, catalogimport.ErrModel)
	require.ErrorContains(t, err, `till: the name "shop" in ARNs of Step Functions is that of shop, too: name one of them in services.json`)
	delete(tables, "services.json")
	_, err = catalogimport.ImportModels(files, tables)
	require.ErrorIs(t, err, catalogimport.ErrTable)
}
