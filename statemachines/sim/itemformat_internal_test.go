package sim

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

func TestParseItems(t *testing.T) {
	t.Parallel()
	first, given := asl.ReaderConfig{InputType: "CSV", CSVHeaderLocation: "FIRST_ROW"}, asl.ReaderConfig{InputType: "CSV", CSVHeaderLocation: "GIVEN", CSVHeaders: []string{"a", "b"}}
	tabs := first
	tabs.CSVDelimiter = "TAB"
	for name, tt := range map[string]struct {
		config    asl.ReaderConfig
		body      string
		want, err string
	}{
		"JSON":                     {asl.ReaderConfig{InputType: "JSON"}, ` [1, {"a": 1.50}] `, `[1,{"a":1.50}]`, ""},
		"JSON by default":          {asl.ReaderConfig{}, `[]`, `[]`, ""},
		"JSON that is no list":     {asl.ReaderConfig{InputType: "JSON"}, `{"a": []}`, "", "Attempting to map over non-iterable node."},
		"no JSON":                  {asl.ReaderConfig{InputType: "JSON"}, `[1`, "", "the object is not JSON: unexpected EOF"},
		"at a pointer":             {asl.ReaderConfig{InputType: "JSON", ItemsPointer: "/a~1b/1/c"}, `{"a/b": [0, {"c": [7]}]}`, `[7]`, ""},
		"a scalar at a pointer":    {asl.ReaderConfig{InputType: "JSON", ItemsPointer: "/a"}, `{"a": 1}`, "", "Attempting to map over non-iterable node."},
		"nothing at a pointer":     {asl.ReaderConfig{InputType: "JSON", ItemsPointer: "/a/01"}, `{"a": [1, 2]}`, "", `ItemsPointer "/a/01" leads to nothing in the object`},
		"JSONL":                    {asl.ReaderConfig{InputType: "JSONL"}, "{\"a\":1}\r\n\n2\n", `[{"a":1},2]`, ""},
		"JSONL with a bad line":    {asl.ReaderConfig{InputType: "JSONL"}, "1\n{\n", "", "line 2 is not JSON: unexpected EOF"},
		"header in the first row":  {first, "a,b\n1,\"x,\ny\"\n", `[{"a":"1","b":"x,\ny"}]`, ""},
		"short and long rows":      {first, "a,b\n1\n1,2,3\n", `[{"a":"1","b":""},{"a":"1","b":"2"}]`, ""},
		"given header":             {given, "1,2\n", `[{"a":"1","b":"2"}]`, ""},
		"tabs":                     {tabs, "a\tb\n1,2\t3", `[{"a":"1,2","b":"3"}]`, ""},
		"nothing at all":           {first, "", `[]`, ""},
		"two columns of one name":  {first, "a,a\n1,2\n", "", "CSV headers cannot contain duplicates."},
		"a format of columns":      {asl.ReaderConfig{InputType: "PARQUET"}, "", "", "items in the format PARQUET cannot be read here: give them by a mock of the ItemReader"},
		"quotes within a CSV text": {first, "a\nx\"y\n", `[{"a":"x\"y"}]`, ""},
	} {
		items, err := parseItems(&tt.config, []byte(tt.body))
		if tt.err != "" {
			require.EqualError(t, err, tt.err, name)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, tt.want, string(newPayload(items).JSON()), name)
	}
}

func TestParseManifest(t *testing.T) {
	t.Parallel()
	objects, how, err := parseManifest(&asl.ReaderConfig{InputType: "MANIFEST"}, []byte(`{"sourceBucket": "s", "destinationBucket": "arn:aws:s3:::d",
		"fileFormat": "CSV", "fileSchema": "Bucket, Key, Size", "files": [{"key": "data/1.csv.gz", "size": 3}, {"key": "data/2.csv.gz"}]}`))
	require.NoError(t, err)
	require.Equal(t, []object{{"d", "data/1.csv.gz"}, {"d", "data/2.csv.gz"}}, objects)
	items, err := parseItems(how, []byte(`"b","k","5"`))
	require.NoError(t, err)
	require.JSONEq(t, `[{"Bucket":"b","Key":"k","Size":"5"}]`, string(newPayload(items).JSON()))

	athena := &asl.ReaderConfig{InputType: "JSONL", ManifestType: "ATHENA_DATA"}
	objects, how, err = parseManifest(athena, []byte("\"s3://b/u/1\"\ns3://b/u/2\n"))
	require.NoError(t, err)
	require.Equal(t, []object{{"b", "u/1"}, {"b", "u/2"}}, objects)
	require.Same(t, athena, how)

	for body, want := range map[string]string{
		`[]`:                    "the object is not a manifest of an S3 inventory: json: cannot unmarshal array into Go value of type",
		`{"fileFormat": "ORC"}`: `the files of the S3 inventory are "ORC", but Step Functions reads only CSV`,
	} {
		_, _, err := parseManifest(&asl.ReaderConfig{InputType: "MANIFEST"}, []byte(body))
		require.ErrorContains(t, err, want)
	}
	_, _, err = parseManifest(athena, []byte("http://b/u"))
	require.EqualError(t, err, `the manifest has "http://b/u", which is not an S3 URI`)
}

func TestObjectBody(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	packer := gzip.NewWriter(&packed)
	_, err := packer.Write([]byte("a,b"))
	require.NoError(t, err)
	require.NoError(t, packer.Close())
	for name, body := range map[string]string{
		"text": "a,b", "a mark of the byte order": "\uFEFFa,b", "gzip": packed.String(), "gzip in base64": base64.StdEncoding.EncodeToString(packed.Bytes()),
	} {
		text, err := objectBody(map[string]any{"Body": body})
		require.NoError(t, err, name)
		require.Equal(t, "a,b", string(text), name)
	}
	_, err = objectBody(map[string]any{"Body": packed.String()[:12]})
	require.ErrorContains(t, err, "the object is not in the format of gzip")
	_, err = objectBody(map[string]any{})
	require.EqualError(t, err, "the answer of getObject has no Body")
}

func TestNewListItem(t *testing.T) {
	t.Parallel()
	for _, modified := range []any{"2022-11-17T07:04:41.000Z", json.Number("1668668681")} {
		item, err := newListItem(map[string]any{"ETag": `"e"`, "Key": "k", "LastModified": modified, "Size": json.Number("3"), "StorageClass": "STANDARD", "Owner": 1})
		require.NoError(t, err)
		require.JSONEq(t, `{"Etag":"\"e\"","Key":"k","LastModified":1668668681,"Size":3,"StorageClass":"STANDARD"}`, string(newPayload(item).JSON()))
	}
	_, err := newListItem(map[string]any{"LastModified": "soon"})
	require.EqualError(t, err, "LastModified of an object is soon, want a time")
}
