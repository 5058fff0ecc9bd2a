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
		files, err := writeResults(&asl.ResultWriter{Transformation: tt.transformation, OutputType: tt.outputType}, "b", tt.prefix, "arn:x:u", results)
		require.NoError(t, err)
		require.Len(t, files, 4)
		require.Equal(t, tt.at, files[2].Key)
		require.Equal(t, tt.succeeded, string(files[2].body))
		require.Equal(t, tt.failed, string(files[0].body))
		require.Equal(t, len(tt.failed), files[0].Size)
		require.Contains(t, string(files[1].body), pending)
	}
	files, err := writeResults(&asl.ResultWriter{}, "b", "p", "arn:x:u", results[:1])
	require.NoError(t, err)
	require.Equal(t, "p/u/manifest.json", files[1].Key)
	require.JSONEq(t, `{"DestinationBucket":"b","MapRunArn":"arn:x:u","ResultFiles":{"FAILED":[],"PENDING":[],"SUCCEEDED":[{"Key":"p/u/SUCCEEDED_0.json","Size":160}]}}`, string(files[1].body))
}
