package awsapi_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs/awsapi"
)

const ovens = `{
	"name": "Oven Control", "key": "ovens", "apiVersion": "2026-01-02", "protocols": ["json"], "jsonVersion": "1.1",
	"targetPrefix": "OvenControl_20260102", "iamPrefix": "ovens",
	"endpoint": {"prefix": "ovens", "signingName": "ovens"},
	"operations": {"DescribeBake": {"method": "POST", "path": "/", "input": "DescribeBakeInput", "output": "DescribeBakeOutput"}},
	"shapes": {
		"DescribeBakeInput": {"type": "structure", "members": {"bakeId": {"target": "string", "required": true}}},
		"DescribeBakeOutput": {"type": "structure", "members": {"bake": "Bake"}},
		"Bake": {"type": "structure", "members": {"id": "string", "degrees": "double", "at": "timestamp", "loaves": "long", "parts": "Bakes"}},
		"Bakes": {"type": "list", "element": "Bake"}
	}
}`

func TestCall(t *testing.T) {
	t.Parallel()
	server := newScripted(t, answer{body: `{"bake": {"id": "b-1", "degrees": 220.5, "at": 1795000000.25, "loaves": 9007199254740993, "new": {"x": [1]},
		"parts": [{"id": null, "parts": []}, null]}}`})
	client := awsapi.New(config(server.URL))
	out, err := client.Call(t.Context(), service(t, ovens).Operations["DescribeBake"], map[string]any{"bakeId": "b-1"})
	require.NoError(t, err)
	require.Equal(t, map[string]any{"bake": map[string]any{
		"id": "b-1", "degrees": json.Number("220.5"), "at": "2026-11-18T11:06:40.25Z", "loaves": json.Number("9007199254740993"),
		"parts": []any{map[string]any{"parts": []any{}}},
	}}, out)
	got := server.take()
	require.Len(t, got, 1)
	require.Equal(t, "POST", got[0].Method)
	require.Equal(t, "OvenControl_20260102.DescribeBake", got[0].Header.Get("X-Amz-Target"))
	require.Equal(t, "application/x-amz-json-1.1", got[0].Header.Get("Content-Type"))
	require.JSONEq(t, `{"bakeId": "b-1"}`, got[0].Body)
}
