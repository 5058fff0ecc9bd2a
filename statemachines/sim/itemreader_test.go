package sim_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// bucket is a bucket of S3: texts by key. Its lists have pages of two.
type bucket map[string]string

const (
	getObjectARN   = "arn:aws:states:::s3:getObject"
	listObjectsARN = "arn:aws:states:::s3:listObjectsV2"
	putObjectARN   = "arn:aws:states:::s3:putObject"
)

func (b bucket) handle(_ context.Context, call sim.Call) (sim.Reply, error) {
	arguments, _ := call.Arguments.(map[string]any)
	key, _ := arguments["Key"].(string)
	if arguments["Bucket"] != "b" {
		return sim.Reply{}, &sim.TaskError{Name: "S3.NoSuchBucketException", Cause: "The specified bucket does not exist"}
	}
	switch call.Resource[strings.LastIndexByte(call.Resource, ':')+1:] {
	case "getObject":
		text, ok := b[key]
		if !ok {
			return sim.Reply{}, &sim.TaskError{Name: "S3.NoSuchKeyException", Cause: "The specified key does not exist."}
		}
		return sim.Reply{Output: map[string]any{"Body": text, "ContentLength": len(text)}}, nil
	case "putObject":
		b[key], _ = arguments["Body"].(string)
		return sim.Reply{Output: map[string]any{"ETag": `"e"`}}, nil
	}
	prefix, _ := arguments["Prefix"].(string)
	after, _ := arguments["ContinuationToken"].(string)
	page := map[string]any{"KeyCount": 0, "IsTruncated": false}
	var contents []any
	for _, key := range slices.Sorted(maps.Keys(b)) {
		if !strings.HasPrefix(key, prefix) || key <= after {
			continue
		}
		if len(contents) == 2 {
			page["IsTruncated"], page["NextContinuationToken"] = true, contents[1].(map[string]any)["Key"]
			break
		}
		contents = append(contents, map[string]any{"Key": key, "ETag": `"e"`, "Size": len(b[key]), "LastModified": "2026-01-01T00:00:00Z", "StorageClass": "STANDARD"})
	}
	if contents != nil {
		page["Contents"], page["KeyCount"] = contents, len(contents)
	}
	return sim.Reply{Output: page}, nil
}

func (b bucket) options() sim.Options {
	return sim.Options{Handlers: map[string]sim.Handler{
		getObjectARN: b.handle, listObjectsARN: b.handle, putObjectARN: b.handle,
		function: func(_ context.Context, call sim.Call) (sim.Reply, error) {
			if n, ok := call.Arguments.(json.Number); ok && n == "13" {
				return sim.Reply{}, &sim.TaskError{Name: "Odd", Cause: "13"}
			}
			return sim.Reply{Output: call.Arguments}, nil
		},
	}}
}

func TestReadersOfObjects(t *testing.T) {
	t.Parallel()
	b := bucket{
		"items.json": `[1, 2, 3]`, "deep.json": `{"a": {"b": [4, 5]}}`, "rows.csv": "a,b\n1,2\n3,4\n",
		"l/1": "{\"n\": 1}\n{\"n\": 2}\n", "l/2": "{\"n\": 3}\n", "l/3": "{\"n\": 4}\n",
		"manifest.json": `{"destinationBucket": "arn:aws:s3:::b", "fileFormat": "CSV", "fileSchema": "Bucket, Key", "files": [{"key": "i/1"}, {"key": "i/2"}]}`,
		"i/1":           `"x","k1"` + "\n" + `"x","k2"` + "\n", "i/2": `"x","k3"` + "\n",
		"unload": "s3://b/l/2\ns3://b/l/1\n", "nothing.json": `[]`, "none": `{"a": 1}`,
	}
	for name, tt := range map[string]struct {
		resource, config, parameters, want, cause string
	}{
		"JSON":                         {getObjectARN, `"InputType": "JSON"`, `"Key": "items.json"`, `[1,2,3]`, ""},
		"JSON at a pointer":            {getObjectARN, `"InputType": "JSON", "ItemsPointer": "/a/b"`, `"Key": "deep.json"`, `[4,5]`, ""},
		"no items":                     {getObjectARN, `"InputType": "JSON"`, `"Key": "nothing.json"`, `[]`, ""},
		"CSV":                          {getObjectARN, `"InputType": "CSV", "CSVHeaderLocation": "FIRST_ROW", "MaxItems": 1`, `"Key": "rows.csv"`, `[{"a":"1","b":"2"}]`, ""},
		"JSON Lines":                   {getObjectARN, `"InputType": "JSONL"`, `"Key": "l/1"`, `[{"n":1},{"n":2}]`, ""},
		"S3 inventory":                 {getObjectARN, `"InputType": "MANIFEST"`, `"Key": "manifest.json"`, `[{"Bucket":"x","Key":"k1"},{"Bucket":"x","Key":"k2"},{"Bucket":"x","Key":"k3"}]`, ""},
		"enough of an inventory":       {getObjectARN, `"InputType": "MANIFEST", "MaxItems": 2`, `"Key": "manifest.json"`, `[{"Bucket":"x","Key":"k1"},{"Bucket":"x","Key":"k2"}]`, ""},
		"UNLOAD of Athena":             {getObjectARN, `"InputType": "JSONL", "ManifestType": "ATHENA_DATA"`, `"Key": "unload"`, `[{"n":3},{"n":1},{"n":2}]`, ""},
		"list of objects":              {listObjectsARN, ``, `"Prefix": "l/"`, `["l/1","l/2","l/3"]`, ""},
		"list of one":                  {listObjectsARN, `"MaxItems": 1`, `"Prefix": "l/"`, `["l/1"]`, ""},
		"list of none":                 {listObjectsARN, ``, `"Prefix": "m/"`, `[]`, ""},
		"objects of a list":            {listObjectsARN, `"InputType": "JSONL", "Transformation": "LOAD_AND_FLATTEN"`, `"Prefix": "l/"`, `[{"n":1},{"n":2},{"n":3},{"n":4}]`, ""},
		"no list":                      {getObjectARN, `"InputType": "JSON"`, `"Key": "none"`, "", "Attempting to map over non-iterable node."},
		"no object":                    {getObjectARN, `"InputType": "JSON"`, `"Key": "gone"`, "", "S3.NoSuchKeyException: The specified key does not exist."},
		"no object of the inventory's": {getObjectARN, `"InputType": "MANIFEST"`, `"Key": "none"`, "", `the files of the S3 inventory are "", but Step Functions reads only CSV`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			definition := distributed("STANDARD", `, "ItemReader": {"Resource": "`+tt.resource+`", "ReaderConfig": {`+tt.config+`}, "Parameters": {"Bucket": "b", `+tt.parameters+`}}`)
			r, err := sim.Run(t.Context(), parse(t, definition), []byte(`{}`), b.options())
			require.NoError(t, err)
			if tt.cause != "" {
				require.Equal(t, []string{"States.ItemReaderFailed", tt.cause}, []string{r.Error, r.Cause})
				require.Equal(t, []string{"MapStateEntered", "MapStateStarted", "MapRunStarted", "MapRunFailed", "MapStateFailed", "ExecutionFailed"}, types(r)[1:])
				return
			}
			require.Equal(t, sim.StatusSucceeded, r.Status, r.Cause)
			var got []any
			require.NoError(t, json.Unmarshal(r.Output, &got))
			for i, item := range got {
				if listed, ok := item.(map[string]any); ok && listed["Etag"] != nil {
					require.Equal(t, 1.7672256e9, listed["LastModified"])
					got[i] = listed["Key"]
				}
			}
			text, err := json.Marshal(got)
			require.NoError(t, err)
			require.Equal(t, tt.want, string(text))
			require.Equal(t, 0, *r.Events[2].Details().Length) // AWS does not know it yet
			require.Len(t, r.MapRuns[0].Executions, len(got))
		})
	}
}

// A handler for all Tasks gets the call as that of the SDK's integration.
func TestReaderByTheHandlerForAll(t *testing.T) {
	t.Parallel()
	definition := distributed("STANDARD", `, "ItemReader": {"Resource": "`+getObjectARN+`", "ReaderConfig": {"InputType": "JSON"}, "Parameters": {"Bucket": "b", "Key": "k"}}`)
	o := bucket{"k": `[7]`}.options()
	var called []string
	o.Handlers, o.Handler = nil, func(ctx context.Context, call sim.Call) (sim.Reply, error) {
		called = append(called, call.Resource)
		return bucket{"k": `[7]`}.options().Handlers[strings.Replace(call.Resource, "aws-sdk:", "", 1)](ctx, call)
	}
	r, err := sim.Run(t.Context(), parse(t, definition), []byte(`{}`), o)
	require.NoError(t, err)
	require.Equal(t, `[7]`, string(r.Output), r.Cause)
	require.Equal(t, []string{"arn:aws:states:::aws-sdk:s3:getObject", function}, called)
}

func TestResultWriter(t *testing.T) {
	t.Parallel()
	const writer = `, "ToleratedFailureCount": 1, "ResultWriter": {"Resource": "` + putObjectARN + `", "Parameters": {"Bucket.$": "$$.Execution.Input[0].b", "Prefix": "out"}`
	input := func(bucket string) []byte { return []byte(`[{"b": "` + bucket + `"}, 13, 2]`) }

	b := bucket{}
	r, err := sim.Run(t.Context(), parse(t, distributed("STANDARD", writer+`}`)), input("b"), b.options())
	require.NoError(t, err)
	require.Equal(t, sim.StatusSucceeded, r.Status, r.Cause)
	output := map[string]any{}
	require.NoError(t, json.Unmarshal(r.Output, &output))
	require.Equal(t, r.MapRuns[0].ARN, output["MapRunArn"])
	details, _ := output["ResultWriterDetails"].(map[string]any)
	require.Equal(t, "b", details["Bucket"])
	at := strings.TrimSuffix(fmt.Sprint(details["Key"]), "manifest.json")
	require.Regexp(t, `^out/[0-9a-f-]{36}/$`, at)
	require.Equal(t, []string{at + "FAILED_0.json", at + "SUCCEEDED_0.json", at + "manifest.json"}, slices.Sorted(maps.Keys(b)))
	var succeeded, failed []map[string]any
	require.NoError(t, json.Unmarshal([]byte(b[at+"SUCCEEDED_0.json"]), &succeeded))
	require.NoError(t, json.Unmarshal([]byte(b[at+"FAILED_0.json"]), &failed))
	child := r.MapRuns[0].Executions[2]
	require.Equal(t, map[string]any{
		"ExecutionArn": child.ExecutionARN, "Input": "2", "InputDetails": map[string]any{"Included": true}, "Name": child.ExecutionARN[strings.LastIndexByte(child.ExecutionARN, ':')+1:],
		"Output": "2", "OutputDetails": map[string]any{"Included": true}, "RedriveCount": 0.0, "RedriveStatus": "NOT_REDRIVABLE",
		"RedriveStatusReason": "Execution is SUCCEEDED and cannot be redriven", "StartDate": "2026-01-01T00:00:00.000Z", "StopDate": "2026-01-01T00:00:00.000Z",
		"StateMachineArn": "arn:aws:states:us-east-1:123456789012:stateMachine:StateMachine/M", "Status": "SUCCEEDED",
	}, succeeded[1])
	require.Equal(t, []any{"FAILED", "Odd", "13", "13"}, []any{failed[0]["Status"], failed[0]["Error"], failed[0]["Cause"], failed[0]["Input"]})

	// What cannot be written fails the Map.
	r, err = sim.Run(t.Context(), parse(t, distributed("STANDARD", writer+`}`)), input("c"), b.options())
	require.NoError(t, err)
	require.Equal(t, []string{"States.ResultWriterFailed", "S3.NoSuchBucketException: The specified bucket does not exist"}, []string{r.Error, r.Cause})
	require.Equal(t, []string{"MapRunStarted", "MapRunFailed", "MapStateFailed", "ExecutionFailed"}, types(r)[3:])

	// A Map that fails writes, too, and says which children did not start.
	b = bucket{}
	fails := strings.Replace(writer, `"ToleratedFailureCount": 1`, `"MaxConcurrency": 1`, 1)
	r, err = sim.Run(t.Context(), parse(t, distributed("STANDARD", fails+`}`)), input("b"), b.options())
	require.NoError(t, err)
	require.Equal(t, "States.ExceedToleratedFailureThreshold", r.Error)
	require.Len(t, b, 4)

	// Without a handler nothing is written.
	o := b.options()
	delete(o.Handlers, putObjectARN)
	r, err = sim.Run(t.Context(), parse(t, distributed("STANDARD", writer+`}`)), input("b"), o)
	require.NoError(t, err)
	require.Equal(t, sim.StatusSucceeded, r.Status, r.Cause)

	// A writer without a resource only transforms.
	r, err = sim.Run(t.Context(), parse(t, distributed("STANDARD", `, "ResultWriter": {"WriterConfig": {"Transformation": "FLATTEN"}}`)), []byte(`[[1, [2]], 3]`), o)
	require.NoError(t, err)
	require.Equal(t, `[1,[2],3]`, string(r.Output), r.Cause)
}
