package sim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

func TestWriteResults(t *testing.T) {
	t.Parallel()
	results := []*childResult{
		{Status: "SUCCEEDED", Input: "1", Output: "[1,2]", output: []any{"<1>", "2"}},
		{Status: "TIMED_OUT", Input: "2", Error: "States.Timeout"},
		{Status: "SUCCEEDED", Input: "3", Output: "{}", output: map[string]any{}},
		{Status: "PENDING", Input: "4"},
	}
	const (
		one     = `{"Input":"1","InputDetails":{"Included":false},"Output":"[1,2]","OutputDetails":{"Included":false},"RedriveCount":0,"StateMachineArn":"","Status":"SUCCEEDED"}`
		two     = `{"Error":"States.Timeout","Input":"2","InputDetails":{"Included":false},"OutputDetails":{"Included":false},"RedriveCount":0,"StateMachineArn":"","Status":"TIMED_OUT"}`
		three   = `{"Input":"3","InputDetails":{"Included":false},"Output":"{}","OutputDetails":{"Included":false},"RedriveCount":0,"StateMachineArn":"","Status":"SUCCEEDED"}`
		pending = `{"Input":"4","InputDetails":{"Included":false},"OutputDetails":{"Included":false},"RedriveCount":0,"StateMachineArn":"","Status":"PENDING"}`
	)
	for _, tt := range []struct{ transformation, outputType, prefix, at, succeeded, failed string }{
		{"", "", "p", "p/u/SUCCEEDED_0.json", "[" + one + "," + three + "]", "[" + two + "]"},
		{"NONE", "JSONL", "p/", "p/u/SUCCEEDED_0.jsonl", one + "\n" + three + "\n", two + "\n"},
		{"COMPACT", "JSON", "", "u/SUCCEEDED_0.json", `[["<1>","2"],{}]`, "[" + two + "]"},
		{"FLATTEN", "JSON", "p", "p/u/SUCCEEDED_0.json", `["<1>","2",{}]`, "[" + two + "]"},
	} {
		files, err := writeResults(&asl.ResultWriter{Transformation: tt.transformation, OutputType: tt.outputType}, "b", tt.prefix, "arn:x:u", results, mostResultBytes)
		require.NoError(t, err)
		require.Len(t, files, 4)
		require.Equal(t, tt.at, files[2].Key)
		require.Equal(t, tt.succeeded, string(files[2].body))
		require.Equal(t, tt.failed, string(files[0].body))
		require.Equal(t, len(tt.failed), files[0].Size)
		require.Contains(t, string(files[1].body), pending)
	}
	files, err := writeResults(&asl.ResultWriter{}, "b", "p", "arn:x:u", results[:1], mostResultBytes)
	require.NoError(t, err)
	require.Equal(t, "p/u/manifest.json", files[1].Key)
	require.JSONEq(t, `{"DestinationBucket":"b","MapRunArn":"arn:x:u","ResultFiles":{"FAILED":[],"PENDING":[],"SUCCEEDED":[{"Key":"p/u/SUCCEEDED_0.json","Size":160}]}}`, string(files[1].body))
}

func TestResultFilesAreCut(t *testing.T) {
	t.Parallel()
	items := []any{"aaa", "b", "c", "ddddddddddddddddddd", "e"}
	for _, tt := range []struct {
		lines bool
		most  int
		want  []string
	}{
		{false, 1000, []string{`["aaa","b","c","ddddddddddddddddddd","e"]`}},
		{false, 15, []string{`["aaa","b","c"]`, `["ddddddddddddddddddd"]`, `["e"]`}},
		{false, 14, []string{`["aaa","b"]`, `["c"]`, `["ddddddddddddddddddd"]`, `["e"]`}},
		{true, 15, []string{"\"aaa\"\n\"b\"\n\"c\"\n", "\"ddddddddddddddddddd\"\n", "\"e\"\n"}},
	} {
		bodies, err := writeItems(items, tt.lines, tt.most)
		require.NoError(t, err)
		got := make([]string, len(bodies))
		for i, body := range bodies {
			got[i] = string(body)
		}
		require.Equal(t, tt.want, got)
	}
	results := []*childResult{{Status: "SUCCEEDED", output: 1}, {Status: "SUCCEEDED", output: 2}, {Status: "SUCCEEDED", output: 3}}
	files, err := writeResults(&asl.ResultWriter{Transformation: "COMPACT", OutputType: "JSONL"}, "b", "p", "arn:x:u", results, 4)
	require.NoError(t, err)
	require.JSONEq(t, `{"DestinationBucket":"b","MapRunArn":"arn:x:u","ResultFiles":{"FAILED":[],"PENDING":[],"SUCCEEDED":[
		{"Key":"p/u/SUCCEEDED_0.jsonl","Size":2},{"Key":"p/u/SUCCEEDED_1.jsonl","Size":2},{"Key":"p/u/SUCCEEDED_2.jsonl","Size":2}]}}`, string(files[3].body))
	require.Equal(t, "3\n", string(files[2].body))
}
