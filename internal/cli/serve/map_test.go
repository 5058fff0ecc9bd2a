package serve

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/embeddeds3"
	"github.com/jobpoller/jobpoller/internal/loopback"
)

// mapMachine has a distributed Map over orders, of which those without an amount fail.
func mapMachine(reader, fields string) string {
	return `{"StartAt":"M","States":{"M":{"Type":"Map","End":true,"ItemReader":` + reader + `,` + fields + `"ItemProcessor":{
		"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},"StartAt":"C","States":{
		"C":{"Type":"Choice","Choices":[{"Variable":"$.amount","StringEquals":"","Next":"F"}],"Default":"P"},
		"P":{"Type":"Pass","End":true},"F":{"Type":"Fail","Error":"NoAmount"}}}}}}`
}

const (
	getOrders   = `{"Resource":"arn:aws:states:::s3:getObject","Parameters":{"Bucket":"shop","Key":"orders/`
	readCSV     = getOrders + `1.csv"},"ReaderConfig":{"InputType":"CSV","CSVHeaderLocation":"FIRST_ROW"}}`
	readLines   = getOrders + `2.jsonl"},"ReaderConfig":{"InputType":"JSONL"}}`
	writeOrders = `"ResultWriter":{"Resource":"arn:aws:states:::s3:putObject","Parameters":{"Bucket":"shop","Prefix":"out"}},"ToleratedFailurePercentage":50,`
)

// shop is a server whose Tasks reach a real S3 server with orders.
type shop struct {
	*testing.T

	storage *embeddeds3.Server
	serving *serving
	runs    int
}

func openShop(t *testing.T) *shop {
	t.Helper()
	storage, err := embeddeds3.Start(embeddeds3.Options{Keys: []loopback.Keys{{AccessKeyID: "local", SecretAccessKey: "local"}}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, storage.Close()) })
	require.NoError(t, storage.CreateBucket("shop"))
	for key, text := range map[string]string{
		"orders/1.csv":         "id,amount\na,7\nb,\nc,\"8,5\"\n",
		"orders/2.jsonl":       "{\"id\":\"d\",\"amount\":\"1\"}\n{\"id\":\"e\",\"amount\":\"2\"}\n",
		"orders/über maß.json": `[{"id":"f","amount":"3"}]`,
	} {
		_, err := storage.DirectClient().PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String("shop"), Key: &key, Body: strings.NewReader(text)})
		require.NoError(t, err)
	}
	return &shop{T: t, storage: storage, serving: startServing(t, io.Discard, "--time", "virtual", "--endpoint-url", "s3="+storage.URL())}
}

func (s *shop) call(operation string, in map[string]any) (out map[string]any) {
	s.Helper()
	require.NoError(s, localAPI{server: s.serving.server}.call(s.Context(), operation, in, &out))
	return out
}

// run runs a machine to its end, and returns its description.
func (s *shop) run(definition string) map[string]any {
	s.Helper()
	s.runs++
	machine := s.call("CreateStateMachine", map[string]any{"name": fmt.Sprint("m", s.runs), "definition": definition, "roleArn": watchRole})
	started := s.call("StartExecution", map[string]any{"stateMachineArn": machine["stateMachineArn"]})
	<-s.serving.server.World().Execution(started["executionArn"].(string)).Done()
	return s.call("DescribeExecution", map[string]any{"executionArn": started["executionArn"]})
}

// read reads JSON of an object, and returns its size.
func (s *shop) read(key string, into any) int {
	s.Helper()
	o, err := s.storage.DirectClient().GetObject(s.Context(), &s3.GetObjectInput{Bucket: aws.String("shop"), Key: &key})
	require.NoError(s, err, key)
	text, err := io.ReadAll(o.Body)
	require.NoError(s, err)
	require.NoError(s, json.Unmarshal(text, into))
	return len(text)
}

func TestServedMapReadsS3(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	for reader, want := range map[string]string{
		readLines: `[{"amount":"1","id":"d"},{"amount":"2","id":"e"}]`,
		getOrders + `über maß.json"},"ReaderConfig":{"InputType":"JSON"}}`: `[{"amount":"3","id":"f"}]`,
	} {
		x := s.run(mapMachine(reader, ""))
		require.Equal(t, "SUCCEEDED", x["status"], x)
		require.JSONEq(t, want, x["output"].(string))
	}

	// A list comes in pages, and each object is an item.
	x := s.run(strings.ReplaceAll(mapMachine(
		`{"Resource":"arn:aws:states:::s3:listObjectsV2","Parameters":{"Bucket":"shop","Prefix":"orders/","MaxKeys":2}}`, ""), "$.amount", "$.Key"))
	require.Equal(t, "SUCCEEDED", x["status"], x)
	var listed []map[string]any
	require.NoError(t, json.Unmarshal([]byte(x["output"].(string)), &listed))
	require.Len(t, listed, 3)
	require.Equal(t, []any{25.0, "orders/über maß.json"}, []any{listed[0]["Size"], listed[2]["Key"]})
}

func TestServedMapWritesS3(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	x := s.run(mapMachine(readCSV, writeOrders))
	require.Equal(t, "SUCCEEDED", x["status"], x)
	var output struct {
		MapRunARN string            `json:"MapRunArn"`
		Details   map[string]string `json:"ResultWriterDetails"`
	}
	require.NoError(t, json.Unmarshal([]byte(x["output"].(string)), &output))
	folder := "out/" + output.MapRunARN[strings.LastIndexByte(output.MapRunARN, ':')+1:] + "/"
	require.Equal(t, map[string]string{"Bucket": "shop", "Key": folder + "manifest.json"}, output.Details)

	type file struct {
		Key  string `json:"Key"`
		Size int    `json:"Size"`
	}
	var manifest struct {
		Bucket    string            `json:"DestinationBucket"`
		MapRunARN string            `json:"MapRunArn"`
		Files     map[string][]file `json:"ResultFiles"`
	}
	s.read(folder+"manifest.json", &manifest)
	require.Equal(t, []string{"shop", output.MapRunARN}, []string{manifest.Bucket, manifest.MapRunARN})
	require.Empty(t, manifest.Files["PENDING"])
	for kind, want := range map[string][]any{
		"SUCCEEDED": {`{"amount":"7","id":"a"}`, `{"amount":"8,5","id":"c"}`}, "FAILED": {`{"amount":"","id":"b"}`},
	} {
		var results []map[string]any
		size := s.read(folder+kind+"_0.json", &results)
		require.Equal(t, []file{{folder + kind + "_0.json", size}}, manifest.Files[kind])
		require.Len(t, results, len(want))
		for i, r := range results {
			require.Equal(t, []any{kind, want[i]}, []any{r["Status"], r["Input"]})
		}
	}
	items := s.call("DescribeMapRun", map[string]any{"mapRunArn": output.MapRunARN})["itemCounts"].(map[string]any)
	require.Equal(t, []any{3.0, 2.0, 1.0, 3.0}, []any{items["total"], items["succeeded"], items["failed"], items["resultsWritten"]})
}

// What S3 refuses, and what cannot be read, fails the state.
func TestServedMapWithoutObjects(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	for _, tt := range []struct{ definition, name, cause string }{
		{mapMachine(getOrders+`9.json"},"ReaderConfig":{"InputType":"JSON"}}`, ""), "States.ItemReaderFailed", "NoSuchKey"},
		{mapMachine(getOrders+`1.csv"},"ReaderConfig":{"InputType":"PARQUET"}}`, ""), "States.ItemReaderFailed", "PARQUET cannot be read here"},
		{mapMachine(readLines, strings.Replace(writeOrders, "shop", "elsewhere", 1)), "States.ResultWriterFailed", "The specified bucket does not exist"},
	} {
		x := s.run(tt.definition)
		require.Equal(t, []any{"FAILED", tt.name}, []any{x["status"], x["error"]})
		require.Contains(t, x["cause"], tt.cause)
	}
}
