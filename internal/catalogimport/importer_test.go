package catalogimport_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/catalogimport"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

var update = flag.Bool("update", false, "write the golden files")

// folder reads a folder of testdata, to be changed.
func folder(t testing.TB, name string) fstest.MapFS {
	t.Helper()
	root := os.DirFS(filepath.Join("testdata", name))
	files := fstest.MapFS{}
	require.NoError(t, fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(root, name)
		files[name] = &fstest.MapFile{Data: text}
		return err
	}))
	return files
}

// smithyModels reads the Smithy models of testdata.
func smithyModels(t testing.TB) []catalogimport.File {
	t.Helper()
	var models []catalogimport.File
	files := folder(t, "smithy")
	for _, name := range slices.Sorted(maps.Keys(files)) {
		models = append(models, catalogimport.File{Name: name, Text: files[name].Data})
	}
	return models
}

// edit replaces a part of a file, which it must have.
func edit(t testing.TB, files fstest.MapFS, name, old, with string) {
	t.Helper()
	text := string(files[name].Data)
	require.Contains(t, text, old)
	files[name] = &fstest.MapFile{Data: []byte(strings.Replace(text, old, with, 1))}
}

// Each form of the models with the same tables: every protocol, type, location
// and format. An older version and documentation do not count.
func TestImport(t *testing.T) {
	t.Parallel()
	withoutStatuses := folder(t, "tables")
	delete(withoutStatuses, "statuses.json") // a Smithy model has none
	for name, sources := range map[string]catalogimport.Sources{
		"botocore":  {Botocore: folder(t, "botocore"), Tables: folder(t, "tables")},
		"smithy":    {Smithy: smithyModels(t), Tables: withoutStatuses},
		"no-tables": {Smithy: smithyModels(t)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := catalogimport.Import(sources)
			require.NoError(t, err)
			golden := filepath.Join("testdata", "golden", name)
			for name, text := range c.Files() {
				file := filepath.Join(golden, name)
				if *update {
					require.NoError(t, os.WriteFile(file, text, 0o600))
				}
				want, err := os.ReadFile(file)
				require.NoError(t, err)
				require.Equal(t, string(want), string(text))
				require.True(t, json.Valid(text), name)
				require.True(t, bytes.HasSuffix(text, []byte("\n")), name)
				require.NotContains(t, string(text), "Nobody needs", name)
				require.NotContains(t, string(text), "NeverImported", name)
			}
			there, err := os.ReadDir(golden)
			require.NoError(t, err)
			require.Len(t, there, len(c.Files()))
			again, err := catalogimport.Import(sources)
			require.NoError(t, err)
			require.Equal(t, c.Files(), again.Files())
		})
	}
}

// A service is the same in both forms, but for what one of them does not tell:
// how long botocore waits, the rules of endpoints, and errors by their status.
func TestFormsAgree(t *testing.T) {
	t.Parallel()
	data, tables := folder(t, "botocore"), folder(t, "tables")
	for name := range data {
		if strings.HasSuffix(name, "endpoint-rule-set-1.json") {
			delete(data, name)
		}
	}
	edit(t, data, "oven/2021-06-01/waiters-2.json",
		`,
        {"state": "failure", "matcher": "status", "expected": 403},
        {"state": "retry", "matcher": "status", "expected": 404}`, "")
	delete(tables, "statuses.json")
	fromBotocore, err := catalogimport.Import(catalogimport.Sources{Botocore: data, Tables: tables})
	require.NoError(t, err)
	fromSmithy, err := catalogimport.Import(catalogimport.Sources{Smithy: smithyModels(t), Tables: tables})
	require.NoError(t, err)
	for _, s := range fromBotocore.Services {
		for _, w := range s.Waiters {
			require.NotZero(t, w.TotalWait)
			w.TotalWait = 0
		}
	}
	want := fromBotocore.Files()
	require.Len(t, want, 7)
	for name, text := range fromSmithy.Files() {
		require.Equal(t, string(want[name]), string(text), name)
	}
	require.Len(t, fromSmithy.Files(), len(want))
}

// Where both forms have a service its model is botocore's, and a waiter is the
// Smithy model's, with botocore's total wait.
func TestBothForms(t *testing.T) {
	t.Parallel()
	model := catalogimport.File{Name: "more.json", Text: []byte(`{"smithy": "2.0", "shapes": {
		"a#Shop": {"type": "service", "version": "2030-01-01", "traits": {"aws.api#service": {"sdkId": "Shop"}}, "operations": [{"target": "a#DescribeShelf"}]},
		"a#DescribeShelf": {"type": "operation", "traits": {"smithy.waiters#waitable": {
			"ShelfFull": {"minDelay": 10, "maxDelay": 30, "acceptors": [{"state": "success", "matcher": {"success": true}}]},
			"ShelfThere": {"minDelay": 10, "maxDelay": 30, "acceptors": [{"state": "success", "matcher": {"success": true}}]}
		}}}}}`)}
	c, err := catalogimport.Import(catalogimport.Sources{Botocore: folder(t, "botocore"), Smithy: []catalogimport.File{model}, Tables: folder(t, "tables")})
	require.NoError(t, err)
	i := slices.IndexFunc(c.Services, func(s *catalog.Service) bool { return s.Key == "shop" })
	s := c.Services[i]
	require.Equal(t, "2020-02-02", s.APIVersion)
	require.Equal(t, "ShelfRequest", s.Operations["DescribeShelf"].InputShape)
	require.JSONEq(t, `{"minDelay": 10, "maxDelay": 30, "acceptors": [{"state": "success", "matcher": {"success": true}}]}`, string(s.Waiters["ShelfFull"].Waiter))
	require.Equal(t, 60, s.Waiters["ShelfFull"].TotalWait)
	require.Zero(t, s.Waiters["ShelfThere"].TotalWait)
}

// Models may be packed, and those of the tables' folder add waiters; what is
// left out is left out.
func TestFiles(t *testing.T) {
	t.Parallel()
	plain, err := catalogimport.Import(catalogimport.Sources{Botocore: folder(t, "botocore"), Tables: folder(t, "tables")})
	require.NoError(t, err)
	packed := fstest.MapFS{}
	for name, file := range folder(t, "botocore") {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, err := w.Write(file.Data)
		require.NoError(t, err)
		require.NoError(t, w.Close())
		packed[name+".gz"] = &fstest.MapFile{Data: b.Bytes()}
	}
	c, err := catalogimport.Import(catalogimport.Sources{Botocore: packed, Tables: folder(t, "tables")})
	require.NoError(t, err)
	require.Equal(t, plain.Files(), c.Files())

	tables := folder(t, "tables")
	tables["extra.json"] = &fstest.MapFile{Data: []byte(`{"smithy": "2.0", "shapes": {
		"a#Shop": {"type": "service", "version": "1", "traits": {"aws.api#service": {"sdkId": "Shop"}}, "operations": [{"target": "a#DescribeShelf"}]},
		"a#DescribeShelf": {"type": "operation", "traits": {"smithy.waiters#waitable": {
			"DoorOpen": {"acceptors": [{"state": "success", "matcher": {"success": true}}]},
			"ShelfThere": {"acceptors": [{"state": "success", "matcher": {"success": true}}]}}}}}}`)}
	c, err = catalogimport.Import(catalogimport.Sources{Botocore: folder(t, "botocore"), Tables: tables})
	require.NoError(t, err)
	i := slices.IndexFunc(c.Services, func(s *catalog.Service) bool { return s.Key == "shop" })
	require.Equal(t, []string{"ShelfFull", "ShelfThere"}, slices.Sorted(maps.Keys(c.Services[i].Waiters)))
}

func TestFolder(t *testing.T) {
	t.Parallel()
	all, err := catalogimport.Import(catalogimport.Sources{Smithy: smithyModels(t)})
	require.NoError(t, err)
	few, err := catalogimport.Import(catalogimport.Sources{Smithy: smithyModels(t)[:2]})
	require.NoError(t, err)
	out := filepath.Join(t.TempDir(), "new", "catalogue")

	missing, err := few.Compare(out)
	require.NoError(t, err)
	written, err := few.Write(out)
	require.NoError(t, err)
	require.Equal(t, missing, written)
	require.Equal(t, []catalogimport.Difference{
		{File: "baker.json", Kind: catalogimport.Add}, {File: "index.json", Kind: catalogimport.Add}, {File: "mill-v2.json", Kind: catalogimport.Add},
	}, written)

	_, err = all.Write(out)
	require.NoError(t, err)
	found, err := catalog.Open(os.DirFS(out)).Lookup("yeast", "shelf-full")
	require.NoError(t, err)
	require.Equal(t, "DescribeShelf", found.Operation.Name)

	// What is gone is removed, what is right stays, and what an interrupted
	// write left behind does no harm.
	require.NoError(t, os.WriteFile(filepath.Join(out, ".catalogue-12"), []byte("{"), 0o600))
	require.NoError(t, os.Remove(filepath.Join(out, "index.json.gz")))
	require.NoError(t, os.WriteFile(filepath.Join(out, "index.json"), []byte("[]\n"), 0o600))
	before, err := os.Stat(filepath.Join(out, "baker.json.gz"))
	require.NoError(t, err)
	differences, err := few.Write(out)
	require.NoError(t, err)
	require.Equal(t, []catalogimport.Difference{
		{File: ".catalogue-12", Kind: catalogimport.Remove},
		{File: "index.json", Kind: catalogimport.Change, Line: 1},
		{File: "oven.json", Kind: catalogimport.Remove},
		{File: "shop.json", Kind: catalogimport.Remove},
		{File: "till.json", Kind: catalogimport.Remove},
		{File: "yeast.json", Kind: catalogimport.Remove},
	}, differences)
	require.Equal(t, "change index.json (line 1)", differences[1].String())
	require.Equal(t, "remove oven.json", differences[2].String())
	after, err := os.Stat(filepath.Join(out, "baker.json.gz"))
	require.NoError(t, err)
	require.True(t, os.SameFile(before, after))
	differences, err = few.Compare(out)
	require.NoError(t, err)
	require.Empty(t, differences)

	// A folder of something else is not touched.
	for name, text := range map[string]string{"notes.txt": "mine", "other.json": `{"key": "others"}`, "more/file": "x"} {
		other := t.TempDir()
		_, err := few.Write(other)
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(other, name)), 0o750))
		require.NoError(t, os.WriteFile(filepath.Join(other, name), []byte(text), 0o600))
		_, err = all.Write(other)
		require.ErrorIs(t, err, catalogimport.ErrNotCatalogue)
		_, err = os.Stat(filepath.Join(other, "yeast.json.gz"))
		require.ErrorIs(t, err, fs.ErrNotExist)
	}
	noIndex := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(noIndex, "baker.json"), few.Files()["baker.json"], 0o600))
	_, err = few.Write(noIndex)
	require.ErrorIs(t, err, catalogimport.ErrNotCatalogue)
	require.NoError(t, os.WriteFile(filepath.Join(noIndex, "index.json"), []byte("{}"), 0o600))
	_, err = few.Write(noIndex)
	require.ErrorIs(t, err, catalogimport.ErrNotCatalogue)
}

func file(text []byte) *fstest.MapFile { return &fstest.MapFile{Data: text} }

func mapFS(files map[string][]byte) fstest.MapFS {
	m := fstest.MapFS{}
	for name, text := range files {
		m[name] = file(text)
	}
	return m
}

// Where several forms of host names fit as many regions, it is always the same
// one.
func TestEndpointOfSeveralForms(t *testing.T) {
	t.Parallel()
	data := folder(t, "botocore")
	host := func(region, url string) string {
		return `{"conditions": [{"fn": "stringEquals", "argv": [{"ref": "Region"}, "` + region + `"]}], "type": "endpoint", "endpoint": {"url": "` + url + `", "properties": {}, "headers": {}}}`
	}
	data["till/2022-03-03/endpoint-rule-set-1.json"] = &fstest.MapFile{Data: []byte(`{"version": "1.0", "parameters": {"Region": {"type": "string"}}, "rules": [` + strings.Join([]string{
		host("eu-west-1", "https://cash.eu-west-1.amazonaws.com"), host("us-east-1", "https://cash.us-east-1.amazonaws.com"),
		host("cn-north-1", "https://cash.cn-north-1.api.amazonwebservices.com.cn"), host("cn-west-1", "https://cash.cn-west-1.api.amazonwebservices.com.cn"),
	}, ", ") + `]}`)}
	for range 32 {
		c, err := catalogimport.Import(catalogimport.Sources{Botocore: data, Tables: folder(t, "tables")})
		require.NoError(t, err)
		// Rules that know neither FIPS nor dual stack have no endpoint for FIPS, and one for both stacks.
		hosts := `"hosts":{"cn-north-1":"cash.cn-north-1.api.amazonwebservices.com.cn","cn-west-1":"cash.cn-west-1.api.amazonwebservices.com.cn"}`
		require.Contains(t, string(c.Files()["till.json"]), `"endpoint": {"prefix":"cash","signingName":"till",`+hosts+`,"dual":{"prefix":"cash",`+hosts+`}}`)
	}
}
